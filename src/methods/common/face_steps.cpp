#include "methods/common/face_steps.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/checked.hpp"
#include "base/cholesky.hpp"
#include "base/infinity.hpp"
#include "kernels/kernel_blocks.hpp"

namespace tamis {
namespace {

constexpr std::size_t kMostFree = 512;

// Added to the diagonal, relative to it: as much as the rounding of kernel values to float, with
// which points that depend on each other need not be positive definite. It shortens steps, and
// moves no optimum.
constexpr double kRidge = 1e-7;

// Rounds in which the gap must become smaller. It may grow in some of them.
constexpr int kPatience = 16;

// The inverse of a symmetric positive definite matrix to which rows are added, and from which they
// are taken.
class ChangingInverse {
 public:
  std::size_t size() const { return size_; }
  std::span<const double> row(std::size_t i) const { return {values_.data() + i * stride_, size_}; }

  std::vector<double> times(std::span<const double> x) const {
    std::vector<double> result(size_);
    for (std::size_t i = 0; i < size_; ++i) result[i] = dot(row(i).data(), x.data(), size_);
    return result;
  }

  // `values`: next to the rows before, and on the diagonal. False, and nothing is added, when the
  // matrix would not be positive definite.
  bool add(std::span<const double> values) {
    const std::vector<double> product = times(values);
    const double own = values[size_];
    const double left = own - dot(product.data(), values.data(), size_);
    if (!(left > 0.5 * kRidge * own)) return false;
    make_room();
    for (std::size_t i = 0; i < size_; ++i) {
      double* to = at(i);
      const double factor = product[i] / left;
      for (std::size_t j = 0; j < size_; ++j) to[j] += factor * product[j];
      to[size_] = at(size_)[i] = -factor;
    }
    at(size_)[size_] = 1 / left;
    ++size_;
    return true;
  }

  // The last one gets its place.
  void remove(std::size_t gone) {
    const std::vector<double> own(row(gone).begin(), row(gone).end());
    const std::size_t last = size_ - 1;
    for (std::size_t i = 0; i < size_; ++i) {
      if (i == gone) continue;
      double* to = at(i);
      const double factor = own[i] / own[gone];
      for (std::size_t j = 0; j < size_; ++j) to[j] -= factor * own[j];
      to[gone] = to[last];
    }
    if (gone != last) {
      std::copy_n(at(last), last, at(gone));
      at(gone)[gone] = at(last)[last];
    }
    --size_;
  }

 private:
  double* at(std::size_t i) { return values_.data() + i * stride_; }

  void make_room() {
    if (size_ < stride_) return;
    const std::size_t stride = std::max<std::size_t>(24, 2 * stride_ + 8);
    std::vector<double> values(stride * stride);
    for (std::size_t i = 0; i < size_; ++i) std::copy_n(at(i), size_, values.data() + i * stride);
    values_ = std::move(values);
    stride_ = stride;
  }

  std::vector<double> values_;
  std::size_t stride_ = 0;
  std::size_t size_ = 0;
};

class FaceSteps {
 public:
  FaceSteps(const StoredMatrix& kernel, std::span<const double> cost, const BinaryTask& task,
            double eps, const std::function<bool()>& stopped)
      : kernel_(kernel),
        task_(task),
        eps_(eps),
        stopped_(stopped),
        beta_(task.rows.size(), 0.0),
        is_free_(task.rows.size(), 0) {
    for (std::size_t i = 0; i < beta_.size(); ++i) {
      const double own = cost[usize(task.rows[i])];
      lower_.push_back(task.targets[i] > 0 ? 0 : -own);
      upper_.push_back(task.targets[i] > 0 ? own : 0);
    }
  }

  // False when it is a machine of other rows, or in another order.
  bool begin_at(const TrainedMachine& start, std::span<const double> sums) {
    std::size_t k = 0;
    for (std::size_t i = 0; i < beta_.size() && k < start.rows.size(); ++i) {
      if (task_.rows[i] != start.rows[k]) continue;
      const double beta = start.coefficients[k++];
      const double rounding = 1e-12 * (upper_[i] - lower_[i]);
      beta_[i] = std::clamp(beta, lower_[i], upper_[i]);
      if (upper_[i] - beta <= rounding) beta_[i] = upper_[i];
      if (beta - lower_[i] <= rounding) beta_[i] = lower_[i];
    }
    sums_.assign(sums.begin(), sums.end());
    return k == start.rows.size() && sums_.size() == beta_.size();
  }

  bool run(double most_work) {
    for (std::size_t i = 0; i < beta_.size() && free_.size() < kMostFree; ++i) {
      if (!at_bound(i) && !stopped_()) set_free(i);
    }
    double least_gap = kInfinity;
    int patience = kPatience;
    bool freed_one = false;
    while (work_ < most_work && !stopped_()) {
      const bool moved = go_to_optimum();
      update_sums();
      const double gap = measure();
      if (gap <= eps_) return true;
      if (!moved && freed_one) return false;  // a single one can always move
      if (gap < 0.9 * least_gap) {
        least_gap = gap;
        patience = kPatience;
      } else if (--patience == 0) {
        return false;
      }
      freed_one = !moved;
      set_wanting_free(moved ? std::max<std::size_t>(8, free_.size() / 4) : 1);
    }
    return false;
  }

  BinaryResult result() const {
    BinaryResult result;
    result.machine.offset = middle_;
    for (std::size_t i = 0; i < beta_.size(); ++i) {
      if (beta_[i] == 0) continue;
      result.machine.rows.push_back(task_.rows[i]);
      result.machine.coefficients.push_back(beta_[i]);
      if (at_bound(i)) ++result.stats.bounded_support_vectors;
    }
    result.sums.assign(sums_.begin(), sums_.end());
    return result;
  }
  double work() const { return work_; }

 private:
  bool at_bound(std::size_t i) const { return beta_[i] == lower_[i] || beta_[i] == upper_[i]; }
  double score(std::size_t i) const { return task_.targets[i] - sums_[i]; }
  const float* row(std::size_t i) const { return kernel_.row(task_.rows[i]); }

  // One that depends on the free ones stays where it is, perhaps between its bounds.
  void set_free(std::size_t i) {
    std::vector<double> values;
    values.reserve(free_.size() + 1);
    for (const std::size_t j : free_) values.push_back(static_cast<double>(row(i)[task_.rows[j]]));
    values.push_back((1 + kRidge) * static_cast<double>(row(i)[task_.rows[i]]));
    work_ += 2 * static_cast<double>(free_.size() * free_.size());
    if (!inverse_.add(values)) return;
    is_free_[i] = 1;
    free_.push_back(i);
  }

  // From bound to bound, until all free coefficients have the same score. Their sum stays. False
  // when nothing moved.
  bool go_to_optimum() {
    std::vector<double> scores;
    for (const std::size_t i : free_) scores.push_back(score(i));
    std::vector<double> v = inverse_.times(scores);
    std::vector<double> u = inverse_.times(std::vector<double>(free_.size(), 1.0));
    work_ += 2 * static_cast<double>(free_.size() * free_.size());
    bool moved = false;
    while (free_.size() > 1 && !stopped_()) {
      const double common =
          std::accumulate(v.begin(), v.end(), 0.0) / std::accumulate(u.begin(), u.end(), 0.0);
      const auto direction = [&](std::size_t k) { return v[k] - common * u[k]; };
      double length = 1;
      std::size_t blocking = free_.size();
      for (std::size_t k = 0; k < free_.size(); ++k) {
        const double room = room_of(free_[k], direction(k));
        if (room >= length) continue;
        length = room;
        blocking = k;
      }
      const bool rises = blocking < free_.size() && direction(blocking) > 0;
      for (std::size_t k = 0; k < free_.size() && length > 0; ++k) {
        move_to(free_[k], beta_[free_[k]] + length * direction(k));
        v[k] -= length * direction(k);  // scores have come nearer to the common one
      }
      moved = moved || length > 0;
      if (blocking == free_.size()) break;
      const std::size_t i = free_[blocking];
      move_to(i, rises ? upper_[i] : lower_[i]);
      take_out(blocking, &v, &u);
    }
    return moved;
  }

  // In steps of that direction, up to a bound.
  double room_of(std::size_t i, double direction) const {
    if (direction == 0) return kInfinity;
    return std::max(0.0, ((direction > 0 ? upper_[i] : lower_[i]) - beta_[i]) / direction);
  }

  void move_to(std::size_t i, double beta) {
    beta = std::clamp(beta, lower_[i], upper_[i]);
    if (changes_.empty()) changes_.assign(beta_.size(), 0.0);
    changes_[i] += beta - beta_[i];
    beta_[i] = beta;
  }

  // `v` and `u` are the inverse times two vectors, and stay that.
  void take_out(std::size_t k, std::vector<double>* v, std::vector<double>* u) {
    const std::span<const double> own = inverse_.row(k);
    for (std::vector<double>* x : {v, u}) {
      const double factor = (*x)[k] / own[k];
      for (std::size_t j = 0; j < own.size(); ++j) (*x)[j] -= factor * own[j];
      (*x)[k] = x->back();
      x->pop_back();
    }
    work_ += static_cast<double>(free_.size() * free_.size());
    inverse_.remove(k);
    is_free_[free_[k]] = 0;
    free_[k] = free_.back();
    free_.pop_back();
  }

  void update_sums() {
    std::vector<const float*> rows;
    std::vector<double> changes;
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      if (changes_[i] == 0) continue;
      rows.push_back(row(i));
      changes.push_back(changes_[i]);
    }
    changes_.clear();
    all_sums_.assign(usize(kernel_.rows()), 0.0);
    accumulate_rows(rows, changes, kernel_.rows(), all_sums_.data());
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += all_sums_[usize(task_.rows[i])];
    work_ += static_cast<double>((rows.size() + 8) * sums_.size());
  }

  // The KKT gap.
  double measure() {
    double max_up = -kInfinity;
    double min_down = kInfinity;
    for (std::size_t i = 0; i < beta_.size(); ++i) {
      if (beta_[i] < upper_[i]) max_up = std::max(max_up, score(i));
      if (beta_[i] > lower_[i]) min_down = std::min(min_down, score(i));
    }
    double sum = 0;
    for (const std::size_t i : free_) sum += score(i);
    middle_ = free_.empty() ? (max_up + min_down) / 2 : sum / static_cast<double>(free_.size());
    return max_up - min_down;
  }

  // Of the others, those whose score is farthest on the wrong side.
  void set_wanting_free(std::size_t most) {
    std::vector<std::pair<double, std::size_t>> wanting;
    for (std::size_t i = 0; i < beta_.size(); ++i) {
      if (is_free_[i] != 0) continue;
      const double above = score(i) - middle_;
      const double wish =
          std::max(beta_[i] < upper_[i] ? above : 0.0, beta_[i] > lower_[i] ? -above : 0.0);
      if (wish > eps_ / 4) wanting.emplace_back(-wish, i);
    }
    most = std::min({most, wanting.size(), kMostFree - free_.size()});
    const auto end = wanting.begin() + static_cast<std::ptrdiff_t>(most);
    std::partial_sort(wanting.begin(), end, wanting.end());
    for (auto one = wanting.begin(); one != end; ++one) set_free(one->second);
  }

  const StoredMatrix& kernel_;
  const BinaryTask& task_;
  double eps_;
  const std::function<bool()>& stopped_;
  std::vector<double> lower_;
  std::vector<double> upper_;
  std::vector<double> beta_;
  std::vector<double> sums_;       // F; without `changes_`
  std::vector<double> changes_;    // of beta, since the sums were made; empty: none
  std::vector<std::size_t> free_;  // in the order of the inverse
  std::vector<std::uint8_t> is_free_;
  ChangingInverse inverse_;
  double middle_ = 0;  // score of the free ones
  double work_ = 0;
  std::vector<double> all_sums_;  // work space
};

}  // namespace

double face_work(Index points, Index free) {
  const double count = static_cast<double>(free) + 20;
  return 0.7 * count * count * count + 150 * count * count +
         10 * count * static_cast<double>(points);
}

FaceResult take_face_steps(const StoredMatrix& kernel, std::span<const double> cost,
                           const BinaryTask& task, const TrainedMachine& start,
                           std::span<const double> start_sums, double eps,
                           const std::function<bool()>& stopped) {
  FaceResult result;
  FaceSteps steps(kernel, cost, task, eps, stopped);
  if (!steps.begin_at(start, start_sums)) return result;
  Index free = 0;
  for (std::size_t k = 0; k < start.rows.size(); ++k)
    free += std::abs(start.coefficients[k]) < cost[usize(start.rows[k])] ? 1 : 0;
  result.converged = steps.run(4 * face_work(std::ssize(task.rows), free));
  result.found = steps.result();
  result.work = steps.work();
  return result;
}

}  // namespace tamis
