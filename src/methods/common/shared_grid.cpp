#include "methods/common/shared_grid.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "gram/stored_rows.hpp"
#include "kernels/kernel_blocks.hpp"
#include "methods/common/binary_settings.hpp"
#include "methods/common/face_steps.hpp"
#include "multiclass/train_machines.hpp"

namespace tamis {
namespace {

// The kernel matrix of one gamma: made by the chain that needs it first, dropped with the last of
// its users, or kept for the next round of folds.
class SharedKernel {
 public:
  explicit SharedKernel(const Kernel& kernel) : kernel_(kernel) {}

  /// Before a round.
  void expect_users(std::size_t users) { users_left_ = users; }

  /// Throws Cancelled when it must stop.
  const StoredMatrix& get(const StoredMatrix& unfinished, const StoredMatrix::MustStop& must_stop) {
    const std::lock_guard<std::mutex> lock(making_);
    if (!matrix_) matrix_ = unfinished.finished(kernel_, must_stop);
    return *matrix_;
  }
  void release(bool keep) {
    if (--users_left_ == 0 && !keep) matrix_.reset();
  }

 private:
  Kernel kernel_;
  std::mutex making_;
  std::optional<StoredMatrix> matrix_;
  std::atomic<std::size_t> users_left_ = 0;
};

struct Range {
  Index begin = 0;
  Index end = 0;
  Index size() const { return end - begin; }
};

// The points of one gamma, cheapest first.
struct Chain {
  double gamma = 1;
  std::vector<std::size_t> points;
  std::unique_ptr<SharedKernel> kernel;
};

// A machine of one point of the grid, from which the next point starts.
struct GridMachine {
  TrainedMachine machine;
  Index bounded = 0;       // coefficients at their bound
  RowVector<double> sums;  // as in BinaryResult
  double work = 0;         // multiplications that it took, about

  Index free() const { return std::ssize(machine.rows) - bounded; }
};

// When C grows by `ratio`, coefficients at their bound usually stay there, and free ones stay where
// they are. Scaling all of them keeps their sum at zero, so the more numerous kind decides.
void move_to_cost(double ratio, std::vector<GridMachine>* machines) {
  for (GridMachine& one : *machines) {
    if (2 * one.bounded < static_cast<Index>(one.machine.rows.size())) continue;
    for (double& coefficient : one.machine.coefficients) coefficient *= ratio;
    for (double& sum : one.sums) sum *= ratio;
  }
}

// Rows of a fold mostly stand side by side: their values are copied, not picked.
class FoldRows : public StoredRows {
 public:
  FoldRows(const StoredMatrix& matrix, std::vector<Index> rows)
      : StoredRows(matrix, rows), matrix_(matrix), rows_(std::move(rows)) {}

  void square(std::span<const Index> points, float* block, Index stride) override {
    constexpr std::size_t kShort = 8;
    std::vector<Range> runs;
    for (const Index point : points) {
      const Index row = rows_[usize(point)];
      if (runs.empty() || runs.back().end != row) runs.push_back({row, row});
      ++runs.back().end;
    }
    if (points.size() < kShort * runs.size()) return StoredRows::square(points, block, stride);
    for (std::size_t r = 0; r < points.size(); ++r) {
      const float* from = matrix_.row(rows_[usize(points[r])]);
      float* to = block + static_cast<Index>(r) * stride;
      float* const end = to + stride;
      for (const Range& run : runs) to = std::copy(from + run.begin, from + run.end, to);
      std::fill(to, end, 0.0F);
    }
  }

 private:
  StoredMatrix matrix_;
  std::vector<Index> rows_;
};

// No coefficient is at its bound, so that a larger C changes nothing.
bool are_unbounded(std::span<const GridMachine> machines) {
  return std::all_of(machines.begin(), machines.end(),
                     [](const GridMachine& one) { return one.bounded == 0; });
}

// Decision values of some rows.
std::vector<double> values_at(const Range& held, const TrainedMachine& machine,
                              const StoredMatrix& kernel) {
  std::vector<const float*> rows;
  rows.reserve(machine.rows.size());
  for (const Index row : machine.rows) rows.push_back(kernel.row(row) + held.begin);
  std::vector<double> values(usize(held.size()), machine.offset);
  accumulate_rows(rows, machine.coefficients, held.size(), values.data());
  return values;
}

// Rows outside of the range, ascending.
std::vector<Index> all_but(const Range& held, Index count) {
  std::vector<Index> rows;
  for (Index i = 0; i < count; ++i) {
    if (i < held.begin || i >= held.end) rows.push_back(i);
  }
  return rows;
}

class Validator {
 public:
  Validator(TrainingSet data, std::span<const CostAndGamma> points, std::span<const Range> folds,
            const TrainContext& context, const std::function<void()>& on_point)
      : data_(std::move(data)),
        points_(points),
        folds_(folds),
        context_(context),
        on_point_(on_point),
        decision_(decision_for(data_, context.options)),
        chains_(make_chains()) {}

  std::vector<FoldScores> run(bool racing) {
    Race race;
    race.points = points_.size();
    race.folds = folds_.size();
    race.racing = racing;
    race.on_skipped = on_point_;
    race.score = [this](std::span<const std::size_t> points, const FoldRange& folds,
                        std::vector<FoldScores>* scores) { run_round(points, folds, scores); };
    return run_race(race);
  }

 private:
  // One chain on one fold.
  struct Task {
    Chain* chain;
    std::size_t fold;
    double expected_seconds;
  };

  std::vector<Chain> make_chains() const {
    std::map<double, Chain> by_gamma;
    for (std::size_t p = 0; p < points_.size(); ++p) {
      by_gamma[points_[p].gamma].gamma = points_[p].gamma;
      by_gamma[points_[p].gamma].points.push_back(p);
    }
    std::vector<Chain> chains;
    for (auto& [gamma, chain] : by_gamma) {
      std::stable_sort(chain.points.begin(), chain.points.end(), [&](std::size_t a, std::size_t b) {
        return points_[a].cost < points_[b].cost;
      });
      Kernel kernel = data_.kernel;
      kernel.gamma = gamma;
      chain.kernel = std::make_unique<SharedKernel>(kernel);
      chains.push_back(std::move(chain));
    }
    return from_the_middle(std::move(chains));
  }

  // What a limit of time leaves out is then at the edges. Large gammas take longest, so the middle
  // is nearer to them.
  static std::vector<Chain> from_the_middle(std::vector<Chain> chains) {
    constexpr double kMiddle = 0.7;
    const double middle = kMiddle * static_cast<double>(chains.size() - 1);
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t k = 0; k < chains.size(); ++k)
      order.emplace_back(std::abs(static_cast<double>(k) - middle), k);
    std::sort(order.begin(), order.end());
    std::vector<Chain> ordered;
    ordered.reserve(order.size());
    for (const auto& [away, k] : order) ordered.push_back(std::move(chains[k]));
    return ordered;
  }

  void run_round(std::span<const std::size_t> points, const FoldRange& folds,
                 std::vector<FoldScores>* scores) {
    keep_points(points);
    try {
      if (!unfinished_)
        unfinished_ = StoredMatrix::unfinished(data_.kernel.type, data_.features, must_stop_);
    } catch (const Cancelled&) {
      return;
    }
    const std::vector<Task> tasks = make_tasks(folds, *scores);
    const bool keep_kernels = folds.end < folds_.size() && are_worth_keeping();
    std::vector<std::vector<double>> seconds(points_.size(), std::vector<double>(folds_.size(), 0));
    std::atomic<std::size_t> next = 0;  // taken in order, whatever the order of the calls
    parallel_each(std::ssize(tasks), [&](Index) {
      const Task& task = tasks[next++];
      isolated([&] {
        try {
          run_chain(*task.chain, task.fold, scores, &seconds);
        } catch (const Cancelled&) {  // what it left out stays NaN
        }
      });
      task.chain->kernel->release(keep_kernels);
    });
    for (std::size_t p = 0; p < points_.size(); ++p) {
      for (const double s : seconds[p]) (*scores)[p].seconds += s;
    }
  }

  // Whether matrices are kept for the next round. Small ones are quickly made again, in memory that
  // the allocator has at hand; for large ones it asks the system, which takes longer than filling
  // them.
  bool are_worth_keeping() const {
    constexpr Index kLarge = Index{32} << 20;
    const Index bytes = StoredMatrix::size_bytes(data_.rows());
    return bytes > kLarge &&
           std::ssize(chains_) * bytes <= memory_left(context_.control.memory_bytes) / 2;
  }

  // Chains without the points that were dropped.
  void keep_points(std::span<const std::size_t> points) {
    std::vector<std::uint8_t> is_left(points_.size(), 0);
    for (const std::size_t p : points) is_left[p] = 1;
    for (Chain& chain : chains_)
      std::erase_if(chain.points, [&](std::size_t p) { return is_left[p] == 0; });
    std::erase_if(chains_, [](const Chain& chain) { return chain.points.empty(); });
  }

  // Those that took longest on the folds before come first.
  std::vector<Task> make_tasks(const FoldRange& folds, std::span<const FoldScores> scores) {
    std::vector<Task> tasks;
    for (Chain& chain : chains_) {
      chain.kernel->expect_users(folds.end - folds.begin);
      double seconds = 0;
      for (const std::size_t p : chain.points) seconds += scores[p].seconds;
      for (std::size_t fold = folds.begin; fold < folds.end; ++fold)
        tasks.push_back({&chain, fold, seconds});
    }
    std::stable_sort(tasks.begin(), tasks.end(), [](const Task& a, const Task& b) {
      return a.expected_seconds > b.expected_seconds;
    });
    return tasks;
  }

  void run_chain(const Chain& chain, std::size_t fold, std::vector<FoldScores>* scores,
                 std::vector<std::vector<double>>* seconds) const {
    const Range held = folds_[fold];
    const std::vector<Index> rows = all_but(held, data_.rows());
    std::vector<GridMachine> machines;
    std::vector<double> lost;
    double cost = 0;
    for (const std::size_t p : chain.points) {
      if (must_stop_()) break;
      const Stopwatch watch;
      // Squared slacks have no bounds: there C is on the diagonal.
      if (cost == 0 || context_.options.loss == SlackLoss::l2 || !are_unbounded(machines)) {
        const StoredMatrix& kernel = chain.kernel->get(*unfinished_, must_stop_);
        if (cost > 0) move_to_cost(points_[p].cost / cost, &machines);
        if (!train(kernel, chain.gamma, points_[p].cost, rows, &machines)) break;
        lost = losses(kernel, machines, held);
      }
      cost = points_[p].cost;
      set_losses(lost, fold, &(*scores)[p]);
      (*seconds)[p][fold] = watch.seconds();
      on_point_();
    }
  }

  // Replaces the machines by those of the given cost, starting from them. False when stopped.
  bool train(const StoredMatrix& kernel, double gamma, double cost, std::span<const Index> rows,
             std::vector<GridMachine>* machines) const {
    RowVector<double> costs = data_.cost;
    for (double& c : costs) c *= cost / context_.options.cost_or_default();
    std::vector<double> work(usize(num_machines(decision_, data_.num_classes)), 0);
    const BinaryTrainer trainer = [&](const BinaryTask& task) {
      GridMachine* start = machines->empty() ? nullptr : &(*machines)[usize(task.index)];
      return train_one(kernel, gamma, costs, task, start, &work[usize(task.index)]);
    };
    std::vector<BinaryResult> results = train_machines(data_, rows, decision_, trainer);
    machines->clear();
    for (std::size_t m = 0; m < results.size(); ++m) {
      BinaryResult& result = results[m];
      if (result.stats.stop_reason >= StopReason::time_limit) return false;
      machines->push_back({std::move(result.machine), result.stats.bounded_support_vectors,
                           std::move(result.sums), work[m]});
    }
    return true;
  }

  BinaryResult train_one(const StoredMatrix& kernel, double gamma, std::span<const double> costs,
                         const BinaryTask& task, GridMachine* start, double* work) const {
    BinarySettings own = binary_settings(data_, context_, 0);
    own.kernel.gamma = gamma;
    const Index points = std::ssize(task.rows);
    // The next cost takes pairs at least twice as long as this one did.
    const bool by_faces = start != nullptr && start->free() > 0 && !data_.is_regression() &&
                          own.loss == SlackLoss::l1 &&
                          2 * start->work > face_work(points, start->free());
    if (by_faces) {
      FaceResult faces = take_face_steps(kernel, costs, task, start->machine, start->sums,
                                         own.limits.eps, must_stop_);
      *work = faces.work;
      if (faces.converged) return std::move(faces.found);
      if (faces.work > 0) {
        start->machine = std::move(faces.found.machine);
        start->sums = std::move(faces.found.sums);
      }
    }
    FoldRows source(kernel, on_heap(task.rows));
    BinaryResult result = train_binary(
        source, costs, task, start == nullptr ? nullptr : &start->machine,
        start == nullptr ? std::span<const double>() : start->sums, own, context_.control);
    *work += 2 * static_cast<double>(result.stats.iterations * points);
    return result;
  }

  // By held-out row: 1 where the class is wrong, or the squared error.
  std::vector<double> losses(const StoredMatrix& kernel, const std::vector<GridMachine>& machines,
                             const Range& held) const {
    const std::size_t columns = machines.size();
    const std::size_t count = usize(held.size());
    std::vector<double> values(count * columns);
    for (std::size_t m = 0; m < columns; ++m) {
      const std::vector<double> own = values_at(held, machines[m].machine, kernel);
      for (std::size_t h = 0; h < count; ++h) values[h * columns + m] = own[h];
    }
    std::vector<double> result(count);
    std::vector<std::int32_t> votes(usize(data_.num_classes));
    for (std::size_t h = 0; h < count; ++h) {
      const std::span<const double> own(values.data() + h * columns, columns);
      const std::size_t row = usize(held.begin) + h;
      if (data_.is_regression()) {
        const double miss = own[0] - data_.targets[row];
        result[h] = miss * miss;
      } else {
        result[h] = winning_class(decision_, own, votes) == data_.codes[row] ? 0 : 1;
      }
    }
    return result;
  }

  TrainingSet data_;
  std::span<const CostAndGamma> points_;
  std::span<const Range> folds_;
  const TrainContext& context_;
  const std::function<void()>& on_point_;
  StoredMatrix::MustStop must_stop_ = [this] {
    return context_.must_stop() != StopReason::converged;
  };
  Decision decision_;
  std::optional<StoredMatrix> unfinished_;  // made in the first round
  std::vector<Chain> chains_;               // in the order in which they are run at first
};

}  // namespace

bool fits_shared_grid(Index rows, Index gammas, const RunControl& control) {
  if (rows > 100'000) return false;
  // Work is handed out in order, so that about two matrices a thread are in use at once.
  const Index at_once = 1 + std::min<Index>(gammas, 2 * Index{resolve_threads(control.threads)});
  return at_once * StoredMatrix::size_bytes(rows) <= memory_left(control.memory_bytes) / 2;
}

std::vector<FoldScores> cross_validate_exact(const TrainingSet& data,
                                             std::span<const CostAndGamma> points,
                                             std::span<const std::vector<Index>> folds, bool racing,
                                             const TrainContext& context,
                                             const std::function<void()>& on_point) {
  // Rows of a fold side by side: their kernel values are then too.
  std::vector<Index> order;
  std::vector<Range> ranges;
  std::vector<std::uint8_t> is_held(usize(data.rows()), 0);
  for (const std::vector<Index>& fold : folds) {
    const auto begin = static_cast<Index>(order.size());
    order.insert(order.end(), fold.begin(), fold.end());
    ranges.push_back({begin, static_cast<Index>(order.size())});
    for (const Index row : fold) is_held[usize(row)] = 1;
  }
  for (Index row = 0; row < data.rows(); ++row) {
    if (is_held[usize(row)] == 0) order.push_back(row);
  }
  return Validator(data.select(order), points, ranges, context, on_point).run(racing);
}

}  // namespace tamis
