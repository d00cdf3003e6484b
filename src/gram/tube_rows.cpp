#include "gram/tube_rows.hpp"

#include "base/checked.hpp"

namespace tamis {

TubeRows::TubeRows(const Kernel& kernel, const Matrix& data, std::vector<Index> rows,
                   std::vector<double> responses, Index cache_bytes,
                   std::function<bool()> interrupted)
    : rows_(kernel, data, std::move(rows), cache_bytes, std::move(interrupted)),
      responses_(std::move(responses)),
      diagonal_(rows_.diagonal().begin(), rows_.diagonal().end()) {
  for (std::size_t p = 0; p < diagonal_.size(); ++p) diagonal_[p] += responses_[p] * responses_[p];
}

void TubeRows::square(std::span<const Index> points, float* block, Index stride) {
  rows_.square(points, block, stride);
  const auto size = static_cast<Index>(points.size());
  for (Index r = 0; r < size; ++r) {
    for (Index c = 0; c < size; ++c) {
      float& value = block[r * stride + c];
      value = static_cast<float>(static_cast<double>(value) +
                                 response(points[usize(r)]) * response(points[usize(c)]));
    }
  }
}

bool TubeRows::precise_square(std::span<const Index> points, float* block, float* rest,
                              Index stride) {
  if (!rows_.precise_square(points, block, rest, stride)) return false;
  const auto size = static_cast<Index>(points.size());
  for (Index r = 0; r < size; ++r) {
    for (Index c = 0; c < size; ++c) {
      const Index at = r * stride + c;
      const double value = static_cast<double>(block[at]) + static_cast<double>(rest[at]) +
                           response(points[usize(r)]) * response(points[usize(c)]);
      block[at] = static_cast<float>(value);
      rest[at] = static_cast<float>(value - static_cast<double>(block[at]));
    }
  }
  return true;
}

bool TubeRows::precise_rows(std::span<const Index> points, double* values) {
  if (!rows_.precise_rows(points, values)) return false;
  for (std::size_t r = 0; r < points.size(); ++r) {
    for (Index c = 0; c < size(); ++c)
      values[r * usize(size()) + usize(c)] += response(points[r]) * response(c);
  }
  return true;
}

void TubeRows::set_active(std::span<const Index> points) {
  active_.assign(points.begin(), points.end());
  rows_.set_active(points);
}

bool TubeRows::accumulate(std::span<const Index> rows, std::span<const double> coefficients,
                          std::span<double> sums) {
  if (!rows_.accumulate(rows, coefficients, sums)) return false;
  add_responses(active_, rows, coefficients, sums);
  return true;
}

bool TubeRows::accumulate_at(std::span<const Index> points, std::span<const Index> rows,
                             std::span<const double> coefficients, std::span<double> sums) {
  if (!rows_.accumulate_at(points, rows, coefficients, sums)) return false;
  add_responses(points, rows, coefficients, sums);
  return true;
}

void TubeRows::add_responses(std::span<const Index> points, std::span<const Index> rows,
                             std::span<const double> coefficients, std::span<double> sums) const {
  double slope = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) slope += coefficients[r] * response(rows[r]);
  for (std::size_t p = 0; p < points.size(); ++p) sums[p] += slope * response(points[p]);
}

}  // namespace tamis
