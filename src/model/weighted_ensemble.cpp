#include "model/weighted_ensemble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "model/decision_sums.hpp"
#include "tamis/error.hpp"
#include "tamis/text.hpp"

namespace tamis {
namespace {

// Members with sigmoids whose values are held at once, one sum for each and each row of a block.
constexpr std::size_t kMembersAtOnce = 64;

void require(bool ok, std::string_view what) {
  if (!ok) throw DataError(fmt::format("the ensemble does not fit together: {}", what));
}

void require_finite(std::span<const double> values, std::string_view what) {
  require(std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }),
          what);
}

// begin[0] = 0, ascending, begin.back() = count.
void require_ranges(std::span<const Index> begin, std::size_t ranges, std::size_t count,
                    std::string_view what) {
  require(begin.size() == ranges + 1 && begin.front() == 0 &&
              begin.back() == static_cast<Index>(count) &&
              std::is_sorted(begin.begin(), begin.end()),
          what);
}

}  // namespace

WeightedEnsemble::WeightedEnsemble(EnsembleParts parts) : parts_(std::move(parts)) {
  validate();
  add_up();
}

void WeightedEnsemble::validate() const {
  const EnsembleParts& p = parts_;
  const std::size_t machines = p.offsets.size();
  const std::size_t members = p.weights.size();
  require(p.kernel.type != KernelType::precomputed, "a precomputed kernel has no features");
  require(machines > 0 && (p.decision != Decision::single || machines == 1),
          "the number of binary SVMs");
  require_ranges(p.member_begin, machines, members, "the members of a binary SVM");
  require(p.gammas.size() == members && p.member_offsets.size() == members &&
              (p.kernel_types.empty() || p.kernel_types.size() == members) &&
              (p.sigmoid_slopes.empty() || p.sigmoid_slopes.size() == members) &&
              p.sigmoid_intercepts.size() == p.sigmoid_slopes.size(),
          "the number of members");
  for (const Index type : p.kernel_types)
    require(type >= 0 && type < static_cast<Index>(KernelType::precomputed),
            "the kernel of a member");
  require_finite(p.sigmoid_slopes, "a sigmoid is not finite");
  require_finite(p.sigmoid_intercepts, "a sigmoid is not finite");
  try {
    Kernel{.type = p.kernel.type, .coef0 = p.kernel.coef0, .degree = p.kernel.degree}.validate();
    for (Index m = 0; m < num_members(); ++m) kernel_of(m).validate();
  } catch (const InvalidArgument& error) {
    throw DataError(error.what());
  }
  require_finite(p.offsets, "an intercept is not finite");
  require_finite(p.weights, "a weight is not finite");
  require_finite(p.member_offsets, "an intercept is not finite");
  require_ranges(p.term_begin, members, p.coefficients.size(), "the terms of a member");
  require(p.term_vectors.size() == p.coefficients.size(), "the support vectors of the terms");
  for (const Index vector : p.term_vectors)
    require(vector >= 0 && vector < num_support_vectors(), "the support vector of a term");
  require_finite(p.coefficients, "a coefficient is not finite");
  tamis::require_finite(p.support_vectors);
}

// The kernel of a member. A linear one has no width.
Kernel WeightedEnsemble::kernel_of(Index member) const {
  Kernel kernel = parts_.kernel;
  if (!parts_.kernel_types.empty())
    kernel.type = static_cast<KernelType>(parts_.kernel_types[usize(member)]);
  kernel.gamma = kernel.type == KernelType::linear ? 1 : parts_.gammas[usize(member)];
  return kernel;
}

// Groups the members by kernel. Members keep their order in every sum.
void WeightedEnsemble::add_up() {
  std::map<std::pair<KernelType, double>, std::vector<Index>> by_kernel;
  machine_of_member_.resize(parts_.weights.size());
  total_offsets_ = parts_.offsets;
  for (Index p = 0; p < num_machines(); ++p) {
    for (Index m = parts_.member_begin[usize(p)]; m < parts_.member_begin[usize(p) + 1]; ++m) {
      const double weight = parts_.weights[usize(m)];
      if (weight == 0) continue;
      machine_of_member_[usize(m)] = p;
      if (!has_sigmoids()) total_offsets_[usize(p)] += weight * parts_.member_offsets[usize(m)];
      const Kernel kernel = kernel_of(m);
      by_kernel[{kernel.type, kernel.gamma}].push_back(m);
    }
  }
  require_finite(total_offsets_, "the intercepts overflow");
  std::vector<Index> place(usize(num_support_vectors()));
  const std::size_t at_once =
      has_sigmoids() ? kMembersAtOnce : std::numeric_limits<std::size_t>::max();
  for (const auto& [kernel, members] : by_kernel) {
    for (std::span<const Index> left = members; !left.empty();) {
      const auto some = left.first(std::min(at_once, left.size()));
      groups_.push_back(make_group(kernel_of(some.front()), some, place));
      left = left.subspan(some.size());
    }
  }
}

// `place` is work space, one a support vector.
WeightedEnsemble::Group WeightedEnsemble::make_group(const Kernel& kernel,
                                                     std::span<const Index> members,
                                                     std::vector<Index>& place) const {
  Group group;
  group.kernel = kernel;
  group.members.assign(members.begin(), members.end());
  for (const Index m : members) {
    group.vectors.insert(group.vectors.end(),
                         parts_.term_vectors.begin() + parts_.term_begin[usize(m)],
                         parts_.term_vectors.begin() + parts_.term_begin[usize(m) + 1]);
  }
  std::sort(group.vectors.begin(), group.vectors.end());
  group.vectors.erase(std::unique(group.vectors.begin(), group.vectors.end()), group.vectors.end());
  for (std::size_t v = 0; v < group.vectors.size(); ++v)
    place[usize(group.vectors[v])] = static_cast<Index>(v);

  std::vector<double> sums(group.vectors.size());
  for (std::size_t first = 0; first < members.size();) {
    // Members of one machine add to one sum, unless each has a sigmoid.
    std::size_t end = first + 1;
    if (!has_sigmoids()) {
      const Index machine = machine_of_member_[usize(members[first])];
      while (end < members.size() && machine_of_member_[usize(members[end])] == machine) ++end;
    }
    Use use = add_up_uses(members.subspan(first, end - first), place, sums);
    use.sum =
        has_sigmoids() ? static_cast<Index>(first) : machine_of_member_[usize(members[first])];
    group.uses.push_back(std::move(use));
    first = end;
  }
  return group;
}

// The coefficients of some members by place, times their weights unless these have sigmoids.
// Between calls all sums are zero; each call clears what it used, so that many members of few terms
// cost no more than their terms.
WeightedEnsemble::Use WeightedEnsemble::add_up_uses(std::span<const Index> members,
                                                    std::span<const Index> place,
                                                    std::vector<double>& sums) const {
  Use use;
  for (const Index member : members) {
    const std::size_t m = usize(member);
    const double factor = has_sigmoids() ? 1 : parts_.weights[m];
    for (Index t = parts_.term_begin[m]; t < parts_.term_begin[m + 1]; ++t) {
      const Index v = place[usize(parts_.term_vectors[usize(t)])];
      sums[usize(v)] += factor * parts_.coefficients[usize(t)];
      use.places.push_back(v);
    }
  }
  std::sort(use.places.begin(), use.places.end());
  use.places.erase(std::unique(use.places.begin(), use.places.end()), use.places.end());
  std::size_t kept = 0;
  for (const Index v : use.places) {
    const double sum = std::exchange(sums[usize(v)], 0.0);
    require(std::isfinite(sum), "the coefficients overflow");
    if (sum == 0) continue;
    use.places[kept++] = v;
    use.coefficients.push_back(sum);
  }
  use.places.resize(kept);
  return use;
}

Index WeightedEnsemble::evaluations_per_row() const {
  Index count = 0;
  for (const Group& group : groups_) count += static_cast<Index>(group.vectors.size());
  return count;
}

std::string WeightedEnsemble::describe() const {
  std::string text = parts_.kernel_types.empty() ? std::string(kernel_name(parts_.kernel.type))
                                                 : "kernels of several types";
  if (groups_.size() == 1) text = tamis::describe(groups_[0].kernel);
  if (groups_.size() > 1 && parts_.kernel_types.empty()) {
    text += fmt::format(", gamma {:.6g} to {:.6g}", groups_.front().kernel.gamma,
                        groups_.back().kernel.gamma);
  }
  if (has_sigmoids()) text += ", probabilities as member values";
  text += fmt::format("; {}, {}, {} per row", counted(num_members(), "member"),
                      counted(num_support_vectors(), "support vector"),
                      counted(evaluations_per_row(), "kernel value"));
  if (parts_.decision != Decision::single)
    text += fmt::format("; {} {}", counted(num_machines(), "binary SVM"),
                        decision_name(parts_.decision));
  return text;
}

Matrix WeightedEnsemble::fit_columns(const Matrix& features) const {
  return fit_columns_of(parts_.support_vectors, features);
}

DecisionSums WeightedEnsemble::sums(const Matrix& features, const RunControl& control) const {
  TAMIS_CHECK(features.cols() == num_features());
  require_packing_memory(parts_.support_vectors, features, control);
  return {parts_.decision,
          parts_.kernel.type,
          total_offsets_,
          evaluations_per_row(),
          parts_.support_vectors.is_sparse(),
          [this](const DecisionBlock& block, ProgressMeter& meter) {
            for (const Group& group : groups_) {
              if (!has_sigmoids())
                sum_group(group, block, meter);
              else
                sum_probabilities(group, block, meter);
            }
          }};
}

void WeightedEnsemble::sum_probabilities(const Group& group, const DecisionBlock& block,
                                         ProgressMeter& meter) const {
  std::vector<double> values(group.members.size() * usize(block.stride), 0.0);
  sum_group(group, {block.features, block.begin, block.count, block.stride, values.data()}, meter);
  for (std::size_t k = 0; k < group.members.size(); ++k) {
    const std::size_t m = usize(group.members[k]);
    const MemberSigmoid sigmoid{parts_.sigmoid_slopes[m], parts_.sigmoid_intercepts[m]};
    double* sums = block.sums + machine_of_member_[m] * block.stride;
    for (Index c = 0; c < block.count; ++c) {
      const double value = values[k * usize(block.stride) + usize(c)] + parts_.member_offsets[m];
      sums[c] += parts_.weights[m] * sigmoid(value);
    }
  }
}

void WeightedEnsemble::sum_group(const Group& group, const DecisionBlock& block,
                                 ProgressMeter& meter) const {
  if (group.vectors.empty()) return;
  KernelTiles tiles(group.kernel, parts_.support_vectors, block);
  std::vector<std::size_t> next(group.uses.size(), 0);  // term of each use
  std::array<const float*, KernelTiles::kMostStrip> values{};
  const auto count = static_cast<Index>(group.vectors.size());
  for (Index s = 0; s < count; s += tiles.strip()) {
    const Index end = std::min(s + tiles.strip(), count);
    std::vector<std::size_t> after = next;
    for (std::size_t u = 0; u < group.uses.size(); ++u) {
      const std::vector<Index>& places = group.uses[u].places;
      while (after[u] < places.size() && places[after[u]] < end) ++after[u];
    }
    const auto add = [&](const float* tile, Index c, Index width) {
      for (std::size_t u = 0; u < group.uses.size(); ++u) {
        const Use& use = group.uses[u];
        const std::size_t terms = after[u] - next[u];
        if (terms == 0) continue;
        for (std::size_t t = 0; t < terms; ++t)
          values[t] = tile + (use.places[next[u] + t] - s) * tiles.stride();
        accumulate_rows(std::span<const float* const>(values.data(), terms),
                        std::span(use.coefficients).subspan(next[u], terms), width,
                        block.sums + use.sum * block.stride + c);
      }
    };
    tiles.visit(std::span(group.vectors).subspan(usize(s), usize(end - s)), meter, add);
    next = std::move(after);
  }
}

void WeightedEnsemble::decision_values(const Matrix& features, std::span<double> values,
                                       const RunControl& control) const {
  sums(features, control).decision_values(features, values, control);
}

void WeightedEnsemble::classify(const Matrix& features, std::span<std::int32_t> classes,
                                const RunControl& control) const {
  sums(features, control).classify(features, classes, control);
}

}  // namespace tamis
