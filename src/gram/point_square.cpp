#include "gram/point_square.hpp"

#include <algorithm>
#include <cstring>

#include "base/checked.hpp"
#include "base/parallel.hpp"

namespace tamis {
namespace {

// Fewer columns: a value is computed as fast as fetched from the other side of the diagonal.
constexpr Index kColumnsToMirror = 8;

}  // namespace

PointSquare::PointSquare(const Kernel& kernel, const Matrix& data, std::vector<Index> rows,
                         std::vector<float> norms, DistanceBy distance_by)
    : data_(data),
      rows_(std::move(rows)),
      norms_(std::move(norms)),
      blocks_(kernel, data, rows_, nullptr, distance_by),
      strip_rows_(KernelBlocks::rows_at_once(data)),
      mirrors_(data.cols() >= kColumnsToMirror) {}

std::vector<PointSquare::Strip> PointSquare::strips(Index known) const {
  std::vector<Strip> strips;
  const Index end = mirrors_ ? size() - known : size();  // else not worth telling apart
  for (Index begin = 0; begin < end; begin += strip_rows_)
    strips.push_back({begin, std::min(size(), begin + strip_rows_), mirrors_ ? begin : 0});
  return strips;
}

Index PointSquare::count_values(std::span<const Strip> strips, Index known) const {
  Index count = 0;
  for (const Strip& strip : strips) {
    for (Index r = strip.begin; r < strip.end; ++r)
      count += !mirrors_ ? size() : r < size() - known ? size() - r : 0;
  }
  return count;
}

void PointSquare::compute_strips(std::span<const Strip> strips, float* block, Index stride) const {
  parallel_each(std::ssize(strips), [&](Index s) {
    const auto [begin, end, first] = strips[usize(s)];
    const auto rows = usize(end - begin);
    blocks_.evaluate(
        data_, std::span(rows_).subspan(usize(begin), rows), first, size(),
        block + begin * stride + first, stride,
        norms_.empty() ? std::span<const float>() : std::span(norms_).subspan(usize(begin), rows));
  });
}

// Below the diagonal: all but the values among known points.
void PointSquare::mirror_strips(Index known, float* block, Index stride) const {
  if (!mirrors_) return;
  parallel_each((size() + strip_rows_ - 1) / strip_rows_, [&](Index s) {
    const Index begin = s * strip_rows_;
    mirror(block, stride, begin, std::min(size(), begin + strip_rows_),
           std::min(begin, size() - known));
  });
}

Index PointSquare::compute(Index known, float* block, Index stride) const {
  const std::vector<Strip> all = strips(known);
  compute_strips(all, block, stride);
  mirror_strips(known, block, stride);
  return count_values(all, known);
}

Index PointSquare::compute_together(Group& group, Index known, float* block, Index stride) const {
  std::vector<std::vector<Strip>> by_rank(usize(group.size()));
  const std::vector<Strip> all = strips(known);
  for (std::size_t s = 0; s < all.size(); ++s) by_rank[s % by_rank.size()].push_back(all[s]);
  const std::vector<Strip>& mine = by_rank[usize(group.rank())];
  compute_strips(mine, block, stride);

  // Row after row of the strips, without what is not computed.
  const auto each_row = [&](const std::vector<Strip>& strips, const auto& body) {
    for (const Strip& strip : strips) {
      for (Index r = strip.begin; r < strip.end; ++r)
        body(block + r * stride + strip.first, usize(size() - strip.first) * sizeof(float));
    }
  };
  std::vector<Group::Message> to_each(by_rank.size());
  if (group.rank() != 0) {
    Group::Message& message = to_each[0];
    std::size_t total = 0;
    each_row(mine, [&](const float*, std::size_t bytes) { total += bytes; });
    message.reserve(total);
    each_row(mine, [&](const float* values, std::size_t bytes) {
      const auto* first = reinterpret_cast<const std::byte*>(values);
      message.insert(message.end(), first, first + bytes);
    });
  }
  const std::vector<Group::Message> from_each = group.exchange(std::move(to_each));
  if (group.rank() == 0) {
    for (std::size_t rank = 1; rank < by_rank.size(); ++rank) {
      const std::byte* next = from_each[rank].data();
      each_row(by_rank[rank], [&](float* values, std::size_t bytes) {
        std::memcpy(values, next, bytes);
        next += bytes;
      });
    }
    mirror_strips(known, block, stride);
  }
  return count_values(mine, known);
}

void PointSquare::compute_row(Index r, float* values) const {
  blocks_.evaluate(
      data_, std::span(rows_).subspan(usize(r), 1), 0, size(), values, round_up(size(), kPanel),
      norms_.empty() ? std::span<const float>() : std::span(norms_).subspan(usize(r), 1));
}

}  // namespace tamis
