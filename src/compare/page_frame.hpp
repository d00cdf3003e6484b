// What all report pages share: one HTML file with style, scripts, Chart.js and its data inside.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tamis/report.hpp"

namespace tamis {

using Json = nlohmann::ordered_json;

/// Which script draws the data.
enum class PageKind { comparison, model };

/// null for what is not finite, which JSON has no word for.
Json number(double value);

/// Adds what is drawn of a training: phases, convergence, rounds and feature weights. `factor`
/// turns an error into what is shown.
void add_training(const TrainReport& report,
                  const std::vector<std::pair<std::string, double>>& feature_weights, double factor,
                  Json* json);

/// Text from outside is shown as text; the page runs its own scripts only, and fetches nothing.
std::string filled_page(const std::string& title, const Json& data, PageKind kind);

}  // namespace tamis
