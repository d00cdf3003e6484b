// The ordinary kernel machine: f_m(x) = sum over support vectors of coefficient * K(sv, x) +
// offset, for one machine m or many that share their support vectors.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/decision.hpp"
#include "model/machine.hpp"
#include "tamis/expansion.hpp"
#include "tamis/kernel.hpp"

namespace tamis {

class ProgressMeter;
struct DecisionBlock;
struct DecisionSums;

/// The coefficients of support vectors [sv_begin, sv_end) start at coefficients[coefficient_begin].
struct Segment {
  Index sv_begin = 0;
  Index sv_end = 0;
  Index coefficient_begin = 0;
};

class KernelExpansion : public Machine {
 public:
  /// Throws DataError unless the counts fit together and every number is finite.
  explicit KernelExpansion(ExpansionParts parts);

  std::string_view kind() const override { return "kernel-expansion"; }
  Index num_features() const override { return num_features_; }
  Index num_support_vectors() const override { return parts_.support_vectors.rows(); }
  Matrix support_points() const override { return parts_.support_vectors; }
  std::string describe() const override;
  Matrix fit_columns(const Matrix& features) const override;
  DecisionShape decision_shape() const override { return {parts_.decision, num_machines()}; }
  void decision_values(const Matrix& features, std::span<double> values,
                       const RunControl& control) const override;
  void classify(const Matrix& features, std::span<std::int32_t> classes,
                const RunControl& control) const override;

  const ExpansionParts& parts() const { return parts_; }
  const Kernel& kernel() const { return parts_.kernel; }
  const Matrix& support_vectors() const { return parts_.support_vectors; }
  Index num_machines() const { return static_cast<Index>(parts_.offsets.size()); }
  /// Linear, with one weight vector a machine: its decision values are sums in double.
  bool is_collapsed() const { return !weights_.empty(); }
  /// Where machine m has its coefficients: one segment, or two for a pair of classes.
  std::vector<Segment> segments(Index machine) const;

 private:
  // A machine's share of the support vectors of a run.
  struct Term {
    Index machine = 0;
    Index coefficient_begin = 0;
  };
  // Neighbouring support vectors that the same machines use: terms_[first_term .. last_term).
  struct Run {
    Index begin = 0;
    Index end = 0;
    std::size_t first_term = 0;
    std::size_t last_term = 0;
  };
  void validate() const;
  void find_runs();
  void find_serials();
  void collapse_linear();
  Matrix widened_vectors(Index cols) const;
  DecisionSums sums(const Matrix& features, const RunControl& control) const;
  void sum_kernel(const Matrix& vectors, const DecisionBlock& block, ProgressMeter& meter) const;
  void sum_linear(const DecisionBlock& block, ProgressMeter& meter) const;
  void sum_precomputed(const DecisionBlock& block, ProgressMeter& meter) const;

  ExpansionParts parts_;
  Index num_features_ = 0;
  std::vector<Run> runs_;
  std::vector<Term> terms_;
  std::vector<double> weights_;  // linear, when collapsed: weights_[column * machines + machine]
  std::vector<Index> serials_;   // precomputed: the column of each support vector
};

}  // namespace tamis
