// Finding parameters by cross-validation.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/export.hpp"
#include "tamis/options.hpp"

namespace tamis {

/// Values of one option to try.
struct TuneAxis {
  std::string option;          ///< of train_option_table(): "cost", "gamma", "k"; it takes a number
  std::vector<double> values;  ///< random search draws between the smallest and the largest,
                               ///< evenly on a logarithmic scale when both are above 0
};

enum class Search {
  grid,     ///< every combination
  random,   ///< TuneOptions::points draws
  halving,  ///< every combination on few rows, the best third on three times as many, and so on
};

/// For TuneOptions::rows.
inline constexpr Index kAllRows = std::numeric_limits<Index>::max();

struct TuneOptions {
  TrainOptions base;           ///< method (default: exact), and everything that is not tried
  std::vector<TuneAxis> axes;  ///< empty: default_axes()
  Search search = Search::grid;
  Index folds = 5;
  Index points = 30;  ///< random search
  /// Largest number of rows to search on, drawn from each class in proportion, or kAllRows;
  /// automatic: 5,000, or all rows with `centres`.
  std::optional<Index> rows;
  /// falk, falk-c and knn-svm over cost, gamma and k: number of random rows on whose
  /// neighborhoods every point is tried, by k'-internal cross-validation (Segata and Blanzieri
  /// 2010). Default (0): no such trials, points are scored by training on all rows of a fold.
  Index centres = 0;
  /// Drop points that have lost on the first folds, by 2.5 standard errors: they are not scored on
  /// the others. For grid and random search without `centres`.
  bool racing = true;
  double max_seconds = 0;  ///< of the search, 0 for no limit; points not tried have no error
};

/// Cost and, for kernels that have one, gamma: C = 2^-5, 2^-3 .. 2^13, and gamma from 4^-5 to 4^4
/// times what the rule `scale` gives; methods with k also try some of these.
TAMIS_EXPORT std::vector<TuneAxis> default_axes(const Dataset& data, const TrainOptions& base,
                                                const RunControl& control = {});

struct TunePoint {
  std::vector<double> values;  ///< by axis
  double error = 0;            ///< mean over the folds (`centres`: over the neighborhoods): share
                               ///< of wrong rows, or mean squared error; NaN: not known
  double deviation = 0;        ///< over the same; NaN with one fold
  Index folds = 0;       ///< averaged in the error (`centres`: neighborhoods): fewer than requested
                         ///< if dropped or out of time
  bool dropped = false;  ///< lost on these folds (TuneOptions::racing)
  Index rows = 0;        ///< searched on, training and held-out together
  double seconds = 0;    ///< of all folds, one thread
  std::string failure;   ///< why there is no error, or only one of some folds though not dropped
};

struct TuneResult {
  std::vector<TuneAxis> axes;
  std::vector<TunePoint> points;  ///< halving: each with the most rows it was tried on
  std::size_t best = 0;           ///< position of the lowest error among those that were not
                                  ///< dropped; ties: the lowest values
  TrainOptions options;           ///< the base with the best values
  Index rows = 0;                 ///< largest number of rows searched on
  Index folds = 0;
  bool shared_kernel = false;  ///< kernel values were shared by all folds and costs
  bool finished = true;        ///< every point was tried, and scored on all folds or dropped
  double seconds = 0;
};

/// The same folds are used for every point. Where kernel values are shared, columns are scaled
/// once, on all rows searched on. Throws InvalidArgument for bad axes, DataError for unusable data,
/// Cancelled when not one point was finished.
TAMIS_EXPORT TuneResult tune(const Dataset& data, const TuneOptions& options,
                             const RunControl& control = {});

}  // namespace tamis
