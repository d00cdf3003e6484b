// Seeded data of any size for trials and benchmarks; the same rows for any thread count and on
// every platform.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/export.hpp"

namespace tamis {

struct GenerateOptions {
  Index rows = 1000;
  std::uint64_t seed = 1;
  /// Share of flipped labels (checkerboard, default 0.03; halfspaces, default 0), standard
  /// deviation of the points (spirals, default 0.035; 0.05 for the 2-spirals of the FaLK-SVM paper)
  /// or of the target (regression, default 0.1); negative: the generator's own default.
  double noise = -1;
  /// Features of ndcc, gaussians, halfspaces and words. Default (0): automatic, chosen by the
  /// generator. The others have two.
  Index features = 0;
  /// gaussians: numeric targets instead of classes.
  bool regression = false;
};

struct Generated {
  Dataset data;
  /// The error no classifier can beat, in 0..1; negative when not known.
  double bayes_error = -1;
};

/// checkerboard, spirals, ten-gaussians, ndcc, gaussians, halfspaces, words. The last one has
/// sparse rows, like those of texts.
TAMIS_EXPORT std::vector<std::string_view> generator_names();
TAMIS_EXPORT Generated generate(std::string_view name, const GenerateOptions& options = {},
                                const RunControl& control = {});

/// Rows [begin, end) of what generate() would make.
TAMIS_EXPORT Dataset generate_rows(std::string_view name, const GenerateOptions& options,
                                   Index begin, Index end, const RunControl& control = {});

/// What is known of the data without making them.
struct GeneratorFacts {
  Index features = 0;
  double bayes_error = -1;  ///< as in Generated
  bool is_sparse = false;   ///< how the rows are stored
};
TAMIS_EXPORT GeneratorFacts describe_generator(std::string_view name,
                                               const GenerateOptions& options = {});

/// Writes what generate() would make as a NumPy array and its labels (X.npy and X.labels.npy), some
/// rows at a time: memory does not grow with the rows. Throws InvalidArgument for sparse rows.
TAMIS_EXPORT void generate_npy(std::string_view name, const GenerateOptions& options,
                               const std::string& path, const RunControl& control = {});

}  // namespace tamis
