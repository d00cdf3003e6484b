// The machines of many neighborhoods, and what stands in where time ended before all were trained.
#pragma once

#include <atomic>
#include <vector>

#include "methods/common/method.hpp"
#include "methods/local/neighborhoods.hpp"
#include "svm/train_local.hpp"

namespace tamis {

struct LocalSettings {
  Index k = 0;
  Index k_prime = 0;
  double cost_factor = 1;
  double percentile = -1;  ///< -1: all machines have the kernel's own width
  bool tunes = false;      ///< each neighborhood chooses C and gamma
};

struct TrainedLocally {
  std::vector<LocalMachine> machines;
  std::vector<double> gammas;  ///< of each machine; empty: all the kernel's
  /// By center; `stopgap` where it was not trained.
  std::vector<std::int32_t> machine_of_centre;
  /// The machine of rows and centers that have no other; -1: none is needed.
  std::int32_t stopgap = -1;
  std::vector<Index> stopgap_rows;  ///< that it was trained on
};

class LocalTraining {
 public:
  /// Everything must outlive this. Throws ResourceError when there is no room for machines of
  /// settings.k rows.
  LocalTraining(const TrainingSet& data, const LocalSettings& settings,
                const TrainContext& context);

  /// Trains the machines of centers that have none yet, in their order, until it must stop.
  void train(const Neighborhoods& parts);
  /// Where rows or centers are left without a machine, one on a sample of all rows answers for
  /// them; if the caller cancelled before any was trained, a constant.
  TrainedLocally finish(const Neighborhoods& parts, TrainReport* report);

 private:
  LocalResult train_on(std::vector<Index> rows, BinarySettings settings, const RunControl& control,
                       double* gamma) const;
  LocalResult train_tuned(std::vector<Index> rows, const BinarySettings& settings,
                          double* gamma) const;
  void add_stopgap(StopReason stop, TrainedLocally* result, TrainReport* report) const;
  LocalMachine constant() const;
  bool is_trained(std::size_t centre) const;

  const TrainingSet& data_;
  const LocalSettings& settings_;
  const TrainContext& context_;
  RowVector<double> cost_;
  RowVector<std::uint64_t> hashes_;
  LocalRows rows_;
  Index cache_bytes_ = 0;
  Index budget_ = 0;
  std::atomic<Index> bytes_ = 0;      // in use before, but for a little, and by what was trained
  std::vector<LocalResult> results_;  // by center
  std::vector<double> gammas_;
  mutable std::atomic<Index> tuned_ = 0;  // neighborhoods with C or gamma of their own
};

}  // namespace tamis
