// The methods that train() knows.
#pragma once

#include <string_view>
#include <vector>

#include "tamis/export.hpp"

namespace tamis {

enum class MethodKind {
  exact,         ///< solves the stated problem on all rows
  part_of_rows,  ///< one model, trained on a part of the rows
  local,         ///< many small SVMs, each for a neighborhood
  ensemble,      ///< many SVMs on random subsets, combined
};

/// "exact", "part of the rows", "local", "ensemble".
TAMIS_EXPORT std::string_view method_kind_name(MethodKind kind);

struct MethodInfo {
  std::string_view name;     ///< "cglq"
  std::string_view summary;  ///< one line: a noun phrase
  MethodKind kind = MethodKind::exact;
  bool does_regression = true;
  bool uses_kernel = true;
  bool needs_features = false;   ///< takes no precomputed kernel
  bool trains_together = false;  ///< runs with the rows spread over several processes (Group)
  /// Options that it uses in addition to those of every method (and of every kernel, if it uses
  /// one).
  std::vector<std::string_view> options = {};
  /// Options of every method (and of every kernel) that it does not use.
  std::vector<std::string_view> unused = {};
  std::vector<std::string_view> unused_in_regression = {};  ///< in addition
};

/// In the order of the documentation. `auto`, which chooses one of them, is not among them.
TAMIS_EXPORT const std::vector<MethodInfo>& methods();
TAMIS_EXPORT std::vector<std::string_view> method_names();

/// Default of TrainOptions::method: exact up to 100,000 rows, auto above.
inline constexpr std::string_view kDefaultMethod = "automatic";
/// The method that chooses a method.
inline constexpr std::string_view kAutoMethod = "auto";
inline constexpr std::string_view kAutoSummary =
    "chooses kernel, scaling, parameters and method by trials within the time limit";

}  // namespace tamis
