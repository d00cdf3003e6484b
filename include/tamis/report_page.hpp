// A comparison, a search or a model as one HTML file that needs nothing else.
#pragma once

#include <string>

#include "tamis/compare.hpp"
#include "tamis/export.hpp"
#include "tamis/model_report.hpp"
#include "tamis/tune.hpp"

namespace tamis {

/// `comparison` and `search` may be null; what is there is shown. Text from outside (names,
/// reasons) is shown as text.
TAMIS_EXPORT std::string report_page(const std::string& title, const Comparison* comparison,
                                     const TuneResult* search);

/// One model: its errors on the rows that it was measured on, and its training.
TAMIS_EXPORT std::string report_page(const std::string& title, const ModelReport& report);

/// Which method to use and why, in plain words, one sentence each.
TAMIS_EXPORT std::vector<std::string> summary(const Comparison& comparison);

}  // namespace tamis
