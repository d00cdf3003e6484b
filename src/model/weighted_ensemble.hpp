// Many kernel machines, each on its own part of the data and with its own kernel width, in one
// weighted sum (K. Nishida, J. Fujiki, T. Kurita, "Ensemble random-subset SVM", 2011, eq. 5):
//
//   f_p(x) = sum over the members m of machine p of weight_m f_m(x) + offset_p
//   f_m(x) = sum over the terms of m of coefficient * K_m(sv, x) + offset_m
//
// A member may instead contribute 2 p_m(x) - 1, where p_m(x) is the probability that a sigmoid
// gives to f_m(x): the paper's step iv.
//
// Without sigmoids, the sum is linear in kernel values. So the coefficients that members with the
// same width have for the same support vector are added up when the model is made, and each kernel
// value is computed once for a distinct pair of width and support vector.
#pragma once

#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/decision.hpp"
#include "model/machine.hpp"
#include "tamis/kernel.hpp"

namespace tamis {

class ProgressMeter;
struct DecisionBlock;
struct DecisionSums;

/// From the decision value f of a member to what it contributes: 2 p - 1 with
/// p = 1 / (1 + exp(slope * f + intercept)).
struct MemberSigmoid {
  double slope = -1;
  double intercept = 0;

  double operator()(double value) const { return -std::tanh((slope * value + intercept) / 2); }
};

/// What a WeightedEnsemble is made of: P machines with M members, which have T terms.
struct EnsembleParts {
  Kernel kernel;  ///< its gamma is not used: members have their own
  Decision decision = Decision::single;
  Matrix support_vectors;  ///< each distinct one once, whichever members use it

  std::vector<Index> member_begin;  ///< P + 1: machine p has members [member_begin[p], ..[p + 1])
  std::vector<double> offsets;      ///< P
  std::vector<double> weights;      ///< M
  std::vector<double> gammas;       ///< M
  std::vector<Index> kernel_types;  ///< M numbers of KernelType, or empty: that of `kernel`
  std::vector<double> sigmoid_slopes;      ///< M, or empty: members contribute decision values
  std::vector<double> sigmoid_intercepts;  ///< as many
  std::vector<double> member_offsets;      ///< M
  std::vector<Index> term_begin;           ///< M + 1: member m has terms [term_begin[m], ..[m + 1])
  std::vector<Index> term_vectors;         ///< T: rows of `support_vectors`
  std::vector<double> coefficients;        ///< T
};

class WeightedEnsemble : public Machine {
 public:
  /// Throws DataError unless the counts and indices fit together and every number is finite.
  explicit WeightedEnsemble(EnsembleParts parts);

  std::string_view kind() const override { return "weighted-ensemble"; }
  Index num_features() const override { return parts_.support_vectors.cols(); }
  Index num_support_vectors() const override { return parts_.support_vectors.rows(); }
  std::string describe() const override;
  Matrix fit_columns(const Matrix& features) const override;
  DecisionShape decision_shape() const override { return {parts_.decision, num_machines()}; }
  void decision_values(const Matrix& features, std::span<double> values,
                       const RunControl& control) const override;
  void classify(const Matrix& features, std::span<std::int32_t> classes,
                const RunControl& control) const override;

  const EnsembleParts& parts() const { return parts_; }
  Index num_machines() const { return static_cast<Index>(parts_.offsets.size()); }
  Index num_members() const { return static_cast<Index>(parts_.weights.size()); }
  /// Kernel values that one row takes: distinct pairs of width and support vector. Members of
  /// weight 0 take none.
  Index evaluations_per_row() const;

 private:
  // What is added to one sum for the vectors of a group; places ascend.
  struct Use {
    Index sum = 0;              // of a machine; with sigmoids, of the group's member of this number
    std::vector<Index> places;  // of Group::vectors
    std::vector<double> coefficients;
  };
  // Support vectors seen through one kernel.
  struct Group {
    Kernel kernel;
    std::vector<Index> members;
    std::vector<Index> vectors;  // rows of the table, ascending
    std::vector<Use> uses;
  };
  void validate() const;
  void add_up();
  bool has_sigmoids() const { return !parts_.sigmoid_slopes.empty(); }
  Kernel kernel_of(Index member) const;
  Group make_group(const Kernel& kernel, std::span<const Index> members,
                   std::vector<Index>& place) const;
  Use add_up_uses(std::span<const Index> members, std::span<const Index> place,
                  std::vector<double>& sums) const;
  void sum_group(const Group& group, const DecisionBlock& block, ProgressMeter& meter) const;
  void sum_probabilities(const Group& group, const DecisionBlock& block,
                         ProgressMeter& meter) const;
  DecisionSums sums(const Matrix& features, const RunControl& control) const;

  EnsembleParts parts_;
  std::vector<Group> groups_;
  std::vector<double> total_offsets_;  // of each machine, its members' included unless sigmoids
  std::vector<Index> machine_of_member_;
};

}  // namespace tamis
