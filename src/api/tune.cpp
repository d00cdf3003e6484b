#include "tamis/tune.hpp"

#include "selection/search_parameters.hpp"
#include "selection/tune_request.hpp"
#include "selection/usual_axes.hpp"

namespace tamis {

std::string_view search_name(Search search) {
  switch (search) {
    case Search::grid:
      return "grid";
    case Search::random:
      return "random";
    case Search::halving:
      return "halving";
  }
  return "";
}

std::vector<TuneAxis> default_axes(const Dataset& data, const TrainOptions& base,
                                   const RunControl& control) {
  return usual_axes(data, base, control);
}

TuneResult tune(const Dataset& data, const TuneOptions& options, const RunControl& control) {
  require_valid(options);
  return search_parameters(data, options, control);
}

}  // namespace tamis
