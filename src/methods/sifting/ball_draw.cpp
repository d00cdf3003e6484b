#include "methods/sifting/ball_draw.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checked.hpp"
#include "methods/sifting/sifting.hpp"

namespace tamis {
namespace {

constexpr Index kHeldRows = Index{1} << 22;  // of all balls found at once, about
constexpr Index kFirstBalls = 64;
constexpr Index kMostBalls = 4096;
constexpr std::uint64_t kDrawStep = 3;  // of the method's random numbers

// rho of every point: its distance to the k-th nearest other one.
std::vector<double> distances_to_kth(const Matrix& points, const Metric& metric, Index k,
                                     const RunControl& control) {
  const auto index = make_neighbor_index(points, metric, Structure::automatic, control, k + 1);
  const Neighbors near = index->nearest(points, k + 1, control);  // the first is the point itself
  std::vector<double> distances;
  for (Index i = 0; i < points.rows(); ++i)
    distances.push_back(std::sqrt(static_cast<double>(near.distances_of(i).back())));
  return distances;
}

}  // namespace

BallDraw::BallDraw(const TrainingSet& data, const TrainContext& context, std::vector<Index> centres,
                   std::span<const Index> may_be_drawn)
    : data_(data),
      context_(context),
      centres_(std::move(centres)),
      may_be_drawn_(usize(data.rows()), 0),
      num_drawable_(static_cast<Index>(may_be_drawn.size())) {
  for (const Index row : may_be_drawn) may_be_drawn_[usize(row)] = 1;
  find_shares();
  index_ =
      make_neighbor_index(data.features, row_metric(data), Structure::automatic, context.control);
}

// eta_j = (1 / rho_j) / sum (1 / rho_i), or from 1 / rho^d, as a density of d dimensions is. Copies
// have rho = 0: they count as near as the nearest that are not.
void BallDraw::find_shares() {
  const auto k =
      std::max<Index>(1, static_cast<Index>(std::log(static_cast<double>(centres_.size()))));
  std::vector<double> rho =
      distances_to_kth(data_.features.select(centres_), row_metric(data_), k, context_.control);
  double smallest = 0;
  for (const double r : rho) {
    if (r > 0 && (smallest == 0 || r < smallest)) smallest = r;
  }
  const bool density = context_.options.local_sampling.intensity == Intensity::density;
  double sum = 0;
  for (double& r : rho) {
    r = std::max(r, smallest);
    const double d = static_cast<double>(data_.features.cols());
    // rho^-d itself would overflow. 0: all centres are copies of one row.
    share_.push_back(r == 0 ? 1.0 : density ? std::pow(smallest / r, d) : 1 / r);
    sum += share_.back();
  }
  for (double& share : share_) share /= sum;
  const auto middle = rho.begin() + static_cast<Index>(rho.size()) / 2;
  std::nth_element(rho.begin(), middle, rho.end());
  median_distance_ = *middle;
}

// How many rows are drawn from a ball that has `in_ball`.
Index BallDraw::num_from(std::size_t ball, Index in_ball) const {
  const LocalSamplingOptions& options = context_.options.local_sampling;
  if (options.intensity == Intensity::all) return in_ball;
  const double all = options.intensity == Intensity::literal
                         ? static_cast<double>(in_ball)
                         : options.budget * static_cast<double>(num_drawable_);
  return std::min<Index>(in_ball, std::llround(share_[ball] * all));
}

BallDraw::Drawn BallDraw::draw(double beta) const {
  const double radius = beta * median_distance_;
  std::vector<double> missed(usize(data_.rows()), 1.0);  // probability that no ball draws the row
  std::vector<std::uint8_t> drawn(usize(data_.rows()), 0);
  const std::span<const Index> centres(centres_);
  Index at_once = kFirstBalls;
  for (std::size_t begin = 0; begin < centres.size();) {
    if (context_.must_stop() != StopReason::converged) return {};
    const auto count = std::min(centres.size() - begin, usize(at_once));
    const Balls balls = index_->within(data_.features, centres.subspan(begin, count),
                                       radius * radius, context_.control);
    for (std::size_t j = 0; j < count; ++j) {
      std::vector<Index> rows;
      for (const Index row : balls.rows_of(static_cast<Index>(j))) {
        if (may_be_drawn_[usize(row)] != 0) rows.push_back(row);
      }
      const auto in_ball = static_cast<Index>(rows.size());
      const Index wanted = num_from(begin + j, in_ball);
      Random random = sift_random(context_, kDrawStep).split(begin + j);
      for (const Index at : sample_without_replacement(in_ball, wanted, random))
        drawn[usize(rows[usize(at)])] = 1;
      for (const Index row : rows)
        missed[usize(row)] *= 1 - static_cast<double>(wanted) / static_cast<double>(in_ball);
    }
    begin += count;
    const Index ball_size = static_cast<Index>(balls.rows.size() / count);
    at_once = std::clamp<Index>(kHeldRows / std::max<Index>(1, ball_size), 1, kMostBalls);
  }
  Drawn result;
  for (Index row = 0; row < data_.rows(); ++row) {
    if (drawn[usize(row)] == 0) continue;
    result.rows.push_back(row);
    result.probability.push_back(1 - missed[usize(row)]);
  }
  return result;
}

}  // namespace tamis
