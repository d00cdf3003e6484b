// Machines that do their work when they are asked: the k nearest training rows of a query vote
// (k-NN), or a machine is trained on them (k-NN SVM; Blanzieri and Melgani 2006, FaLK-SVM eq. 7).
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/shared_array.hpp"
#include "model/local_values.hpp"
#include "model/machine.hpp"

namespace tamis {

class NeighborIndex;

/// The labelled rows, and how many of them answer.
struct LazyParts {
  Kernel kernel;  ///< its distance says what is near
  Index k = 1;
  Index num_classes = 0;  ///< 0: regression
  Matrix rows;
  SharedArray<std::int32_t> codes;  ///< class positions; empty for a regression
  SharedArray<double> targets;      ///< of a regression
  SharedArray<double> cost;         ///< C of each row; k-NN: its weight
};

/// What both have in common.
class LazyMachine : public Machine {
 public:
  ~LazyMachine() override;

  Index num_features() const override { return parts_.rows.cols(); }
  Index num_support_vectors() const override { return parts_.rows.rows(); }
  const LazyParts& parts() const { return parts_; }

  void decision_values(const Matrix& features, std::span<double> values,
                       const RunControl& control) const override;
  void classify(const Matrix& features, std::span<std::int32_t> classes,
                const RunControl& control) const override;

 protected:
  /// Throws DataError unless the counts fit together.
  explicit LazyMachine(LazyParts parts);
  /// The values of one query, given its neighbours from near to far.
  virtual void answer(const Matrix& features, Index query, std::span<const Index> neighbours,
                      std::span<double> values, const RunControl& control) const = 0;
  /// The class that these values stand for.
  virtual std::int32_t class_of(const Matrix& features, Index query,
                                std::span<const Index> neighbours,
                                const RunControl& control) const = 0;

  LazyParts parts_;

 private:
  template <typename Answer>
  void for_each_query(const Matrix& features, const RunControl& control,
                      const Answer& answer) const;
  const NeighborIndex& index(const RunControl& control) const;

  mutable std::mutex index_mutex_;
  mutable std::unique_ptr<NeighborIndex> index_;
};

/// Two classes: the share of the first in the vote minus that of the second. More: the share of
/// each. A regression: the mean.
class KnnMachine : public LazyMachine {
 public:
  explicit KnnMachine(LazyParts parts) : LazyMachine(std::move(parts)) {}

  std::string_view kind() const override { return "knn"; }
  std::string describe() const override;
  DecisionShape decision_shape() const override;

 protected:
  void answer(const Matrix& features, Index query, std::span<const Index> neighbours,
              std::span<double> values, const RunControl& control) const override;
  std::int32_t class_of(const Matrix& features, Index query, std::span<const Index> neighbours,
                        const RunControl& control) const override;
};

class KnnSvmMachine : public LazyMachine {
 public:
  /// `trainer` makes the SVM of a query.
  KnnSvmMachine(LazyParts parts, const LazySettings& settings, LocalTrainer trainer)
      : LazyMachine(std::move(parts)), settings_(settings), trainer_(trainer) {}

  std::string_view kind() const override { return "knn-svm"; }
  std::string describe() const override;
  DecisionShape decision_shape() const override;
  const LazySettings& settings() const { return settings_; }

 protected:
  void answer(const Matrix& features, Index query, std::span<const Index> neighbours,
              std::span<double> values, const RunControl& control) const override;
  std::int32_t class_of(const Matrix& features, Index query, std::span<const Index> neighbours,
                        const RunControl& control) const override;

 private:
  LocalMachine train_on(std::span<const Index> neighbours, const RunControl& control) const;

  LazySettings settings_;
  LocalTrainer trainer_;
};

}  // namespace tamis
