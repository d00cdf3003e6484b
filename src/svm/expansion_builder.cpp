#include "svm/expansion_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/checked.hpp"
#include "data/copy_rows.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

// Where each of some rows stands among them. The rows of the data may be far more.
class Positions {
 public:
  explicit Positions(std::span<const Index> rows) {
    for (const Index row : rows) by_row_.emplace_back(row, std::ssize(by_row_));
    std::sort(by_row_.begin(), by_row_.end());
  }
  Index of(Index row) const {
    return std::lower_bound(by_row_.begin(), by_row_.end(), std::pair(row, Index{0}))->second;
  }

 private:
  std::vector<std::pair<Index, Index>> by_row_;
};

void check_machines(Index num_rows, std::span<const TrainedMachine> machines) {
  for (const TrainedMachine& machine : machines) {
    if (machine.rows.size() != machine.coefficients.size()) {
      throw InvalidArgument(fmt::format("a binary SVM has {} but {}",
                                        counted(machine.rows.size(), "row"),
                                        counted(machine.coefficients.size(), "coefficient")));
    }
    for (const Index row : machine.rows) {
      if (row >= 0 && row < num_rows) continue;
      throw InvalidArgument(fmt::format("a binary SVM uses row {} of {}", row, num_rows));
    }
  }
}

void add_coefficient(double& place, double coefficient, Index row) {
  if (place != 0) throw InvalidArgument(fmt::format("a binary SVM uses row {} twice", row));
  place = coefficient;
}

void fill_rows_of_machines(ExpansionParts& parts, std::span<const TrainedMachine> machines,
                           const Positions& positions, Index l) {
  parts.coefficients.assign(usize(checked_product(static_cast<Index>(machines.size()), l)), 0.0);
  for (std::size_t m = 0; m < machines.size(); ++m) {
    for (std::size_t k = 0; k < machines[m].rows.size(); ++k) {
      const Index row = machines[m].rows[k];
      if (machines[m].coefficients[k] == 0) continue;
      add_coefficient(parts.coefficients[m * usize(l) + usize(positions.of(row))],
                      machines[m].coefficients[k], row);
    }
  }
}

void fill_pairs(ExpansionParts& parts, std::span<const TrainedMachine> machines,
                const Positions& positions, Index l, std::span<const std::int32_t> class_of_row) {
  const auto classes = static_cast<Index>(parts.class_counts.size());
  parts.coefficients.assign(usize(checked_product(classes - 1, l)), 0.0);
  std::size_t m = 0;
  for (Index i = 0; i < classes; ++i) {
    for (Index j = i + 1; j < classes; ++j, ++m) {
      for (std::size_t k = 0; k < machines[m].rows.size(); ++k) {
        const Index row = machines[m].rows[k];
        const Index own = class_of_row[usize(row)];
        if (machines[m].coefficients[k] == 0) continue;
        if (own != i && own != j) {
          throw InvalidArgument(
              fmt::format("the SVM of classes {} and {} uses row {} of class {}", i, j, row, own));
        }
        const Index coefficient_row = own == i ? j - 1 : i;
        add_coefficient(parts.coefficients[usize(coefficient_row * l + positions.of(row))],
                        machines[m].coefficients[k], row);
      }
    }
  }
}

}  // namespace

std::vector<Index> expansion_rows(Index num_rows, std::span<const TrainedMachine> machines,
                                  Decision decision, std::span<const std::int32_t> class_of_row) {
  std::vector<bool> is_used(usize(num_rows));
  for (const TrainedMachine& machine : machines) {
    for (std::size_t k = 0; k < machine.rows.size(); ++k) {
      if (machine.coefficients[k] != 0) is_used[usize(machine.rows[k])] = true;
    }
  }
  std::vector<Index> rows;
  for (Index i = 0; i < num_rows; ++i) {
    if (is_used[usize(i)]) rows.push_back(i);
  }
  if (decision == Decision::one_vs_one) {  // grouped by class
    std::stable_sort(rows.begin(), rows.end(), [&](Index a, Index b) {
      return class_of_row[usize(a)] < class_of_row[usize(b)];
    });
  }
  return rows;
}

std::shared_ptr<const KernelExpansion> make_expansion(const Kernel& kernel, const Matrix& features,
                                                      std::span<const TrainedMachine> machines,
                                                      Decision decision,
                                                      std::span<const std::int32_t> class_of_row,
                                                      Index num_classes,
                                                      const RunControl* control) {
  check_machines(features.rows(), machines);
  const bool in_pairs = decision == Decision::one_vs_one;
  if (in_pairs && (static_cast<Index>(class_of_row.size()) != features.rows() || num_classes < 1 ||
                   num_machines(decision, num_classes) != static_cast<Index>(machines.size()))) {
    throw InvalidArgument("one-vs-one needs the class of each row and one SVM per pair");
  }
  const std::vector<Index> rows = expansion_rows(features.rows(), machines, decision, class_of_row);
  const auto l = static_cast<Index>(rows.size());
  const Positions positions(rows);

  ExpansionParts parts;
  parts.kernel = kernel;
  parts.decision = decision;
  for (const TrainedMachine& machine : machines) parts.offsets.push_back(machine.offset);
  if (in_pairs) {
    parts.class_counts.assign(usize(num_classes), 0);
    for (const Index row : rows) {
      const Index own = class_of_row[usize(row)];
      if (own < 0 || own >= num_classes)
        throw InvalidArgument(fmt::format("row {} has class {} of {}", row, own, num_classes));
      ++parts.class_counts[usize(own)];
    }
    fill_pairs(parts, machines, positions, l, class_of_row);
  } else {
    fill_rows_of_machines(parts, machines, positions, l);
  }
  if (kernel.type == KernelType::precomputed) {
    std::vector<float> numbers;  // all that a precomputed kernel needs of its support vectors
    numbers.reserve(rows.size());
    for (const Index row : rows) numbers.push_back(features.at(row, 0));
    parts.support_vectors = Matrix::dense(l, 1, std::move(numbers));
  } else {
    parts.support_vectors =
        control == nullptr ? features.select(rows)
                           : copy_rows(features, rows, "storing the support vectors", *control);
  }
  return std::make_shared<const KernelExpansion>(std::move(parts));
}

}  // namespace tamis
