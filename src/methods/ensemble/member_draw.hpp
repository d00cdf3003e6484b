// Random parts of the rows with random parameters: what random-subset and ransac train on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/row_vector.hpp"
#include "tamis/dataset.hpp"
#include "tamis/kernel.hpp"
#include "tamis/options.hpp"

namespace tamis {

/// What one machine is trained on.
struct MemberDraw {
  std::vector<Index> positions;  ///< ascending, each once
  double cost_factor = 1;        ///< on the C of every row
  Kernel kernel;
};

/// Factors on C and gamma, from lowest to highest.
struct ParameterRanges {
  double cost_low = 1;
  double cost_high = 1;
  double gamma_low = 1;
  double gamma_high = 1;

  explicit ParameterRanges(const EnsembleOptions& options);
  /// As many times as wide to either side.
  ParameterRanges widened(double factor) const;
  /// Around another centre.
  ParameterRanges moved(double cost_factor, double gamma_factor) const;
};

/// Draws positions of rows whose classes are given. Draw number i depends on the seed and on i
/// alone, so draws may be made in any order.
class MemberDrawer {
 public:
  /// `class_of_row` must outlive it; its classes are 0 .. num_classes - 1, and each has a row.
  MemberDrawer(std::span<const std::int32_t> class_of_row, Index num_classes, Index size,
               const Kernel& kernel, const Random& random);

  /// Kernels are drawn among linear, polynomial and RBF.
  void mix_kernels() { mixed_ = true; }
  /// Rows are drawn in proportion to these weights, one per row.
  void weigh_rows(RowVector<double> weights) { row_weights_ = std::move(weights); }

  Index size() const { return size_; }
  /// Every set of rows is equally likely, except that a class which was left out gets the place of
  /// a row of a class that has several, as long as there are as many places as classes. Draws that
  /// differ in `parameters` have the same rows and other C, gamma and kernel.
  MemberDraw draw(Index number, const ParameterRanges& ranges, Index parameters = 0) const;

 private:
  void draw_parameters(MemberDraw& result, const ParameterRanges& ranges, Random& random) const;
  void add_missing_classes(std::vector<Index>& positions, Random& random) const;
  Index rows_of_class(std::size_t c) const;
  /// The position of row number k of class c.
  Index position_in_class(std::size_t c, Index k) const;

  std::span<const std::int32_t> class_of_row_;
  Index num_classes_;
  std::vector<Index> counts_;  // rows of each class in each block of rows
  Index size_;
  Kernel kernel_;
  Random random_;
  bool mixed_ = false;
  RowVector<double> row_weights_;  // empty: all the same
};

/// Rows of a member's subset when none are asked for, and never more than there are.
Index resolve_subset_rows(std::optional<Index> asked, Index rows);

/// Rows that members are scored on: `asked` of them, or all up to 20,000.
Index resolve_score_rows(std::optional<Index> asked, Index rows);
/// So many positions, ascending.
std::vector<Index> draw_score_rows(std::optional<Index> asked, Index rows, Random random);

}  // namespace tamis
