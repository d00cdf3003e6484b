#include "gram/near_points.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "kernels/kernel_value.hpp"

namespace tamis {
namespace {

// e^-21 = 8e-10: a hundred such values together are below the rounding error of one that
// is near 1.
constexpr double kFarExponent = 21;
// A box is left out only beyond this, so that the rounding of a distance cannot leave out a value
// that counts.
constexpr double kBoxExponent = 21.05;

// Boxes of sparse rows with many columns would be empty space.
constexpr Index kMostSparseColumns = 256;
bool may_have_boxes(const Matrix& data) {
  return !data.is_sparse() || data.cols() <= kMostSparseColumns;
}

}  // namespace

bool has_many_far_pairs(const Kernel& kernel, const Matrix& data, std::span<const Index> sample,
                        Index count) {
  constexpr Index kFewest = 4096;  // below, all kernel values are soon computed
  if (kernel.type != KernelType::rbf || count < kFewest || !may_have_boxes(data)) return false;
  Index far = 0;
  for (std::size_t a = 0; a < sample.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (kernel_value(kernel, data, sample[a], data, sample[b]) < std::exp(-kFarExponent)) ++far;
    }
  }
  return far > kFarSample * (kFarSample - 1) / 2 * 2 / 5;
}

bool has_many_far_pairs(const Kernel& kernel, const Matrix& data, std::span<const Index> rows) {
  std::vector<Index> sample;
  const auto count = static_cast<Index>(rows.size());
  for (Index k = 0; k < std::min(kFarSample, count); ++k)
    sample.push_back(rows[usize(k * count / kFarSample)]);
  return has_many_far_pairs(kernel, data, sample, count);
}

float least_near_value() { return static_cast<float>(std::exp(-kFarExponent)); }

NearPoints::NearPoints(const Kernel& kernel, const Matrix& data, std::span<const Index> points)
    : reach_(static_cast<float>(kBoxExponent / kernel.gamma)),
      strips_(data, points, kStrip),
      groups_(data, points, kGroup) {}

Index NearPoints::bytes(const Matrix& data, Index points) {
  if (!may_have_boxes(data)) return 0;
  const Index boxes = points / kGroup + points / kStrip + 2 * kBoxPanel;
  return checked_product(boxes, data.cols() * 2 * static_cast<Index>(sizeof(float)));
}

// Bit b: the box is within reach.
unsigned NearPoints::near_boxes(const PointBoxes& boxes, const Matrix& data, Index row,
                                Index panel) const {
  float distances[kBoxPanel];
  boxes.squared_distances(data, row, panel, distances);
  unsigned near = 0;
  for (unsigned b = 0; b < kBoxPanel; ++b) near |= (distances[b] > reach_ ? 0U : 1U) << b;
  return near;
}

std::vector<std::uint16_t> NearPoints::near_strips(const Matrix& data,
                                                   std::span<const Index> rows) const {
  static_assert(kBoxPanel == 16);
  const auto count = static_cast<Index>(rows.size());
  std::vector<std::uint16_t> near(usize(strips_.num_panels() * count));
  parallel_ranges(count, 64, [&](Index begin, Index end) {
    for (Index panel = 0; panel < strips_.num_panels(); ++panel) {
      for (Index r = begin; r < end; ++r)
        near[usize(panel * count + r)] =
            static_cast<std::uint16_t>(near_boxes(strips_, data, rows[usize(r)], panel));
    }
  });
  return near;
}

unsigned NearPoints::near_groups(const Matrix& data, Index row, Index strip) const {
  return near_boxes(groups_, data, row, strip);
}

}  // namespace tamis
