// The options that belong to one family of methods each, in the order in which help and documents
// show them.
#pragma once

#include <vector>

#include "tamis/options.hpp"

namespace tamis {

void add_opt_margin_options(std::vector<OptionDescription>& table);
void add_sift_options(std::vector<OptionDescription>& table);
void add_local_sampling_options(std::vector<OptionDescription>& table);
void add_leader_options(std::vector<OptionDescription>& table);
void add_local_options(std::vector<OptionDescription>& table);
void add_ensemble_options(std::vector<OptionDescription>& table);

}  // namespace tamis
