// Many small machines, each for its part of the space (N. Segata, E. Blanzieri, "Fast and scalable
// local kernel machines", 2010). A row is decided by the machine of the nearest anchor: a training
// row (FaLK-SVM) or a centre (FaLK-SVMc).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/shared_array.hpp"
#include "model/local_values.hpp"
#include "model/machine.hpp"
#include "tamis/kernel.hpp"

namespace tamis {

class AnchorSearch;

/// What LocalModels is made of: M machines with P pairs of classes in all.
struct LocalParts {
  Kernel kernel;
  Index num_classes = 0;  ///< 0: regression
  Matrix rows;            ///< each stored row once
  /// Row number of each anchor; empty: every row is one.
  SharedArray<Index> anchors;
  /// Machine of each anchor; empty: anchor m has machine m.
  SharedArray<std::int32_t> machine_of_anchor;

  SharedArray<std::int32_t> only_class;  ///< M; -1: has pairs
  SharedArray<double> gammas;            ///< M, where machines have their own; else empty
  SharedArray<Index> pair_begin;         ///< M + 1: machine m has pairs [pair_begin[m], ..[m + 1])
  SharedArray<std::int32_t> pair_classes;  ///< 2 P: first and second class of each pair
  SharedArray<double> offsets;             ///< P
  SharedArray<Index> term_begin;           ///< P + 1: pair p has terms [term_begin[p], ..[p + 1])
  SharedArray<Index> term_rows;            ///< of `rows`
  SharedArray<double> coefficients;        ///< one a term
};

class LocalModels : public Machine {
 public:
  /// Throws DataError unless the counts and indices fit together. Values of the rows are looked at
  /// when they are first used, so that a mapped file opens at once.
  explicit LocalModels(LocalParts parts);
  ~LocalModels() override;

  std::string_view kind() const override { return "local-models"; }
  Index num_features() const override { return parts_.rows.cols(); }
  Index num_support_vectors() const override { return num_support_vectors_; }
  Matrix support_points() const override;
  bool is_constant() const override;
  std::string describe() const override;
  DecisionShape decision_shape() const override;
  /// See local_values().
  void decision_values(const Matrix& features, std::span<double> values,
                       const RunControl& control) const override;
  void classify(const Matrix& features, std::span<std::int32_t> classes,
                const RunControl& control) const override;

  const LocalParts& parts() const { return parts_; }
  Index num_machines() const { return parts_.only_class.size(); }

 private:
  void validate() const;
  Index num_anchors() const;
  std::vector<std::int32_t> machines_of(const Matrix& features, const RunControl& control) const;
  template <typename Answer>
  void for_each_machine(const Matrix& features, const RunControl& control,
                        const Answer& answer) const;
  LocalView view(Index machine) const;
  Kernel kernel_of(Index machine) const;

  LocalParts parts_;
  Index num_support_vectors_ = 0;
  std::unique_ptr<AnchorSearch> search_;
};

/// Puts trained machines together.
class LocalModelsBuilder {
 public:
  void add(const LocalMachine& machine);
  /// Moves what was added into `parts`.
  void finish(LocalParts* parts);

 private:
  std::vector<std::int32_t> only_class_;
  std::vector<Index> pair_begin_{0};
  std::vector<std::int32_t> pair_classes_;
  std::vector<double> offsets_;
  std::vector<Index> term_begin_{0};
  std::vector<Index> term_rows_;
  std::vector<double> coefficients_;
};

}  // namespace tamis
