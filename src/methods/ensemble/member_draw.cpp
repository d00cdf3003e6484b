#include "methods/ensemble/member_draw.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "base/checked.hpp"

namespace tamis {
namespace {

// Few enough for members to share kernel values, many enough to differ.
constexpr Index kGammaSteps = 16;
constexpr Index kMostScoreRows = 20'000;
constexpr std::size_t kCountedRows = 4096;       // of a block whose classes are counted
constexpr std::uint64_t kKernelStream = 0x4E81;  // apart from further parameters of the same draw
constexpr KernelType kMixed[] = {KernelType::linear, KernelType::polynomial, KernelType::rbf};

double log_between(double low, double high, double share) {
  return low == high ? low : low * std::pow(high / low, share);
}

}  // namespace

ParameterRanges::ParameterRanges(const EnsembleOptions& options)
    : cost_low(options.cost_range[0]),
      cost_high(options.cost_range[1]),
      gamma_low(options.gamma_range[0]),
      gamma_high(options.gamma_range[1]) {}

ParameterRanges ParameterRanges::widened(double factor) const {
  ParameterRanges wide = *this;
  wide.cost_low /= factor;
  wide.cost_high *= factor;
  wide.gamma_low /= factor;
  wide.gamma_high *= factor;
  return wide;
}

ParameterRanges ParameterRanges::moved(double cost_factor, double gamma_factor) const {
  ParameterRanges range = *this;
  range.cost_low *= cost_factor;
  range.cost_high *= cost_factor;
  range.gamma_low *= gamma_factor;
  range.gamma_high *= gamma_factor;
  return range;
}

MemberDrawer::MemberDrawer(std::span<const std::int32_t> class_of_row, Index num_classes,
                           Index size, const Kernel& kernel, const Random& random)
    : class_of_row_(class_of_row),
      num_classes_(num_classes),
      counts_((class_of_row.size() / kCountedRows + 1) * usize(num_classes), 0),
      size_(size),
      kernel_(kernel),
      random_(random) {
  for (std::size_t i = 0; i < class_of_row.size(); ++i)
    ++counts_[i / kCountedRows * usize(num_classes) + usize(class_of_row[i])];
}

Index MemberDrawer::rows_of_class(std::size_t c) const {
  Index sum = 0;
  for (std::size_t k = c; k < counts_.size(); k += usize(num_classes_)) sum += counts_[k];
  return sum;
}

Index MemberDrawer::position_in_class(std::size_t c, Index k) const {
  std::size_t block = 0;
  while (k >= counts_[block * usize(num_classes_) + c])
    k -= counts_[block++ * usize(num_classes_) + c];
  std::size_t position = block * kCountedRows;
  for (;; ++position) {
    if (usize(class_of_row_[position]) == c && k-- == 0) return static_cast<Index>(position);
  }
}

MemberDraw MemberDrawer::draw(Index number, const ParameterRanges& ranges, Index parameters) const {
  Random random = random_.split(static_cast<std::uint64_t>(number));
  MemberDraw result;
  draw_parameters(result, ranges, random);
  if (parameters > 0) {
    Random other = random.split(static_cast<std::uint64_t>(parameters));
    draw_parameters(result, ranges, other);
  }
  result.positions =
      row_weights_.empty()
          ? sample_without_replacement(static_cast<Index>(class_of_row_.size()), size_, random)
          : weighted_sample_without_replacement(row_weights_, size_, random);
  add_missing_classes(result.positions, random);
  return result;
}

void MemberDrawer::draw_parameters(MemberDraw& result, const ParameterRanges& ranges,
                                   Random& random) const {
  result.cost_factor = log_between(ranges.cost_low, ranges.cost_high, random.uniform());
  const double step = static_cast<double>(random.below(kGammaSteps)) / (kGammaSteps - 1);
  result.kernel = kernel_;
  if (mixed_) {
    Random which = random.split(kKernelStream);
    result.kernel.type = kMixed[which.below(std::size(kMixed))];
  }
  const KernelType type = result.kernel.type;
  if (type != KernelType::linear && type != KernelType::precomputed)
    result.kernel.gamma *= log_between(ranges.gamma_low, ranges.gamma_high, step);
}

void MemberDrawer::add_missing_classes(std::vector<Index>& positions, Random& random) const {
  if (positions.size() < usize(num_classes_)) return;
  std::vector<Index> count(usize(num_classes_), 0);
  for (const Index position : positions) ++count[usize(class_of_row_[usize(position)])];
  if (std::find(count.begin(), count.end(), 0) == count.end()) return;
  for (std::size_t c = 0; c < count.size(); ++c) {
    if (count[c] > 0) continue;
    std::size_t place = 0;
    std::size_t given_up = 0;
    do {
      place = usize(random.below(static_cast<Index>(positions.size())));
      given_up = usize(class_of_row_[usize(positions[place])]);
    } while (count[given_up] < 2);
    --count[given_up];
    ++count[c];
    positions[place] = position_in_class(c, random.below(rows_of_class(c)));
  }
  std::sort(positions.begin(), positions.end());
}

Index resolve_subset_rows(std::optional<Index> asked, Index rows) {
  return std::min(asked.value_or(std::clamp<Index>(rows / 50, 100, 2000)), rows);
}

Index resolve_score_rows(std::optional<Index> asked, Index rows) {
  return std::min(asked.value_or(kMostScoreRows), rows);
}

std::vector<Index> draw_score_rows(std::optional<Index> asked, Index rows, Random random) {
  return sample_without_replacement(rows, resolve_score_rows(asked, rows), random);
}

}  // namespace tamis
