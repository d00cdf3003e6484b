// A comparison as tables for people and files for programs.
#pragma once

#include <string>

#include "json_report.hpp"
#include "tamis/compare.hpp"

namespace tamis::cli {

/// Columns under their titles, for a terminal, at most 80 characters wide; with several runs and
/// long numbers, without the ratios to the exact SVM. Rows without a result say why; remarks follow
/// below.
std::string comparison_table(const Comparison& comparison);
std::string comparison_markdown(const Comparison& comparison);
/// One line per method, numbers unrounded; empty where there is none.
std::string comparison_csv(const Comparison& comparison);
Json comparison_json(const Comparison& comparison);

}  // namespace tamis::cli
