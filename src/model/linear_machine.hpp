// A linear machine: f_m(x) = weights of m times x + offset of m, for one machine or many.
#pragma once

#include <vector>

#include "model/decision.hpp"
#include "model/machine.hpp"
#include "tamis/expansion.hpp"

namespace tamis {

/// What a LinearMachine is made of; m machines, d columns.

class LinearMachine : public Machine {
 public:
  /// Throws DataError unless the counts fit together and every number is finite.
  explicit LinearMachine(LinearParts parts);

  std::string_view kind() const override { return "linear"; }
  Index num_features() const override { return parts_.num_features; }
  /// None: the rows it was made of are not kept.
  Index num_support_vectors() const override { return 0; }
  bool is_constant() const override;
  std::string describe() const override;
  Matrix fit_columns(const Matrix& features) const override;
  DecisionShape decision_shape() const override { return {parts_.decision, num_machines()}; }
  void decision_values(const Matrix& features, std::span<double> values,
                       const RunControl& control) const override;
  void classify(const Matrix& features, std::span<std::int32_t> classes,
                const RunControl& control) const override;

  const LinearParts& parts() const { return parts_; }
  Index num_machines() const { return static_cast<Index>(parts_.offsets.size()); }

 private:
  void values_of_row(const Matrix& features, Index row, std::span<double> values) const;
  template <typename Finish>
  void for_each_row(const Matrix& features, const RunControl& control, const Finish& finish) const;

  LinearParts parts_;
  std::vector<double> by_column_;  // weights of all machines for a column, column after column
};

}  // namespace tamis
