#include "tamis/tune.hpp"

#include "selection/mapped_training.hpp"
#include "selection/search_parameters.hpp"
#include "selection/tune_request.hpp"
#include "selection/usual_axes.hpp"
#include "training/registry.hpp"

namespace tamis {

std::vector<TuneAxis> default_axes(const Dataset& data, const TrainOptions& base,
                                   const RunControl& control) {
  return usual_axes(mapped(learn_columns(data, base, control), data, control), base, control);
}

TuneResult tune(const Dataset& data, const TuneOptions& options, const RunControl& control) {
  require_valid(options);
  TuneOptions named = options;
  named.base.method = find_method(options.base.method).info.name;
  const ColumnMap columns = learn_columns(data, named.base, control);
  return search_parameters(mapped(columns, data, control), named, control);
}

}  // namespace tamis
