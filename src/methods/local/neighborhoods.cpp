#include "methods/local/neighborhoods.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "neighbors/separated_rows.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

// The next rows of the order, enough to keep a batch of queries busy; none: there are no more.
std::vector<Index> some_rows(CoarseToFine& order) {
  constexpr std::size_t kEnough = 64;
  std::vector<Index> rows;
  while (rows.size() < kEnough) {
    const std::vector<Index> next = order.next();
    if (next.empty()) break;
    rows.insert(rows.end(), next.begin(), next.end());
  }
  return rows;
}

// About twice as many rows as there will be centres are worth spreading out; for the few that are
// left uncovered then, the order hardly matters.
Index rows_to_spread(Index rows, Index k_prime) {
  return std::min(rows, std::max<Index>(64, 4 * rows / k_prime));
}

}  // namespace

class CoverSearch::Cover {
 public:
  Cover(const NeighborIndex& index, const Matrix& features, Index own, Index k, Index k_prime,
        const RunControl& control)
      : index_(index),
        features_(features),
        own_(own),
        k_prime_(k_prime),
        control_(quiet(control)),
        rank_(usize(own), std::numeric_limits<std::int32_t>::max()) {
    result_.k = k;
    result_.centre_of_row.assign(usize(own), -1);
  }

  /// Takes the centres among these rows, in order. Neighbours are asked for in batches; a row that
  /// an earlier one of its batch covers is dropped again, so the batch does not show in the result.
  void take(std::span<const Index> rows) {
    std::vector<Index> batch;
    for (std::size_t next = 0; next < rows.size();) {
      batch.clear();
      for (; next < rows.size() && static_cast<Index>(batch.size()) < batch_size_; ++next) {
        if (!is_covered(rows[next])) batch.push_back(rows[next]);
      }
      if (batch.empty()) return;
      const Neighbors neighbors = index_.nearest(features_, batch, result_.k, control_);
      Index wasted = 0;
      for (std::size_t b = 0; b < batch.size(); ++b) {
        if (is_covered(batch[b]))
          ++wasted;
        else
          add_centre(batch[b], neighbors.rows_of(static_cast<Index>(b)),
                     neighbors.distances_of(static_cast<Index>(b)));
      }
      const Index asked = static_cast<Index>(batch.size());
      if (4 * wasted > asked)
        batch_size_ = std::max(kSmallestBatch, batch_size_ / 2);
      else if (asked == batch_size_)
        batch_size_ = std::min(kLargestBatch, batch_size_ * 2);
    }
  }

  // The order does not depend on what is covered, so its next rows are found meanwhile.
  void advance(const std::function<bool()>& pause) {
    try {
      if (!order_) {
        order_.emplace(index_, rows_to_spread(own_, k_prime_), control_, own_);
        rows_ = some_rows(*order_);
      }
      while (!rows_.empty() && !all_covered() && !pause()) {
        std::vector<Index> following;
        parallel_each(2, [&](Index part) {
          if (part == 0)
            take(rows_);
          else
            following = some_rows(*order_);
        });
        rows_ = std::move(following);
      }
    } catch (const Cancelled&) {
      // Centres are added one by one, each whole.
    }
  }

  bool all_covered() const { return covered_ == own_; }
  const Neighborhoods& found() const { return result_; }

 private:
  static constexpr Index kSmallestBatch = 32;
  static constexpr Index kLargestBatch = 4096;

  bool is_covered(Index row) const { return rank_[usize(row)] < k_prime_; }

  void add_centre(Index row, std::span<const Index> rows, std::span<const float> distances) {
    result_.centres.push_back(row);
    result_.rows.insert(result_.rows.end(), rows.begin(), rows.end());
    for (std::size_t r = 0; r < rows.size(); ++r) rank(rows[r], static_cast<Index>(r));
    if (distances[usize(k_prime_ - 1)] > 0) return;
    // More copies of the row than it covers: each would become a centre with the same neighbours.
    const Balls copies = index_.within(features_, std::vector<Index>{row}, 0.0, control_);
    for (const Index copy : copies.rows) rank(copy, k_prime_ - 1);
  }

  void rank(Index row, Index rank) {
    if (row >= own_ || rank >= rank_[usize(row)]) return;
    if (!is_covered(row) && rank < k_prime_) ++covered_;
    rank_[usize(row)] = static_cast<std::int32_t>(rank);
    result_.centre_of_row[usize(row)] = static_cast<std::int32_t>(result_.centres.size() - 1);
  }

  const NeighborIndex& index_;
  const Matrix& features_;
  Index own_;
  Index k_prime_;
  RunControl control_;
  std::vector<std::int32_t> rank_;  // the lowest so far
  Index covered_ = 0;
  Index batch_size_ = kSmallestBatch;
  Neighborhoods result_;
  std::optional<CoarseToFine> order_;
  std::vector<Index> rows_;  // the next of the order
};

CoverSearch::CoverSearch(const NeighborIndex& index, const Matrix& features, Index k, Index k_prime,
                         const RunControl& control, Index own)
    : cover_(std::make_unique<Cover>(index, features, own > 0 ? own : features.rows(), k, k_prime,
                                     control)) {}

CoverSearch::~CoverSearch() = default;

void CoverSearch::advance(const std::function<bool()>& pause) { cover_->advance(pause); }
bool CoverSearch::is_complete() const { return cover_->all_covered(); }
const Neighborhoods& CoverSearch::found() const { return cover_->found(); }

Neighborhoods cover_rows(const NeighborIndex& index, const Matrix& features, Index k, Index k_prime,
                         const RunControl& control) {
  CoverSearch search(index, features, k, k_prime, control);
  search.advance();
  return search.found();
}

}  // namespace tamis
