#include "model/weighted_ensemble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
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

Kernel with_gamma(Kernel kernel, double gamma) {
  kernel.gamma = gamma;
  return kernel;
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
          "the number of machines");
  require_ranges(p.member_begin, machines, members, "the members of a machine");
  require(p.gammas.size() == members && p.member_offsets.size() == members,
          "the number of members");
  try {
    with_gamma(p.kernel, 1).validate();
    for (const double gamma : p.gammas) with_gamma(p.kernel, gamma).validate();
  } catch (const InvalidArgument& error) {
    throw DataError(error.what());
  }
  require_finite(p.offsets, "an offset is not finite");
  require_finite(p.weights, "a weight is not finite");
  require_finite(p.member_offsets, "an offset is not finite");
  require_ranges(p.term_begin, members, p.coefficients.size(), "the terms of a member");
  require(p.term_vectors.size() == p.coefficients.size(), "the support vectors of the terms");
  for (const Index vector : p.term_vectors)
    require(vector >= 0 && vector < num_support_vectors(), "the support vector of a term");
  require_finite(p.coefficients, "a coefficient is not finite");
  tamis::require_finite(p.support_vectors);
}

// Groups the members by kernel width. Members keep their order in every sum.
void WeightedEnsemble::add_up() {
  const bool has_gamma = parts_.kernel.type != KernelType::linear;
  std::map<double, std::vector<Index>> by_gamma;
  std::vector<Index> machine_of_member(parts_.weights.size());
  total_offsets_ = parts_.offsets;
  for (Index p = 0; p < num_machines(); ++p) {
    for (Index m = parts_.member_begin[usize(p)]; m < parts_.member_begin[usize(p) + 1]; ++m) {
      const double weight = parts_.weights[usize(m)];
      if (weight == 0) continue;
      machine_of_member[usize(m)] = p;
      total_offsets_[usize(p)] += weight * parts_.member_offsets[usize(m)];
      by_gamma[has_gamma ? parts_.gammas[usize(m)] : 1].push_back(m);
    }
  }
  require_finite(total_offsets_, "the offsets overflow");
  std::vector<Index> place(usize(num_support_vectors()));
  for (const auto& [gamma, members] : by_gamma)
    groups_.push_back(make_group(gamma, members, machine_of_member, place));
}

// `place` is work space, one a support vector.
WeightedEnsemble::Group WeightedEnsemble::make_group(double gamma, std::span<const Index> members,
                                                     std::span<const Index> machine_of_member,
                                                     std::vector<Index>& place) const {
  Group group;
  group.kernel = with_gamma(parts_.kernel, gamma);
  for (const Index m : members) {
    group.vectors.insert(group.vectors.end(),
                         parts_.term_vectors.begin() + parts_.term_begin[usize(m)],
                         parts_.term_vectors.begin() + parts_.term_begin[usize(m) + 1]);
  }
  std::sort(group.vectors.begin(), group.vectors.end());
  group.vectors.erase(std::unique(group.vectors.begin(), group.vectors.end()), group.vectors.end());
  for (std::size_t v = 0; v < group.vectors.size(); ++v)
    place[usize(group.vectors[v])] = static_cast<Index>(v);

  // Between machines all sums are zero; each clears what it used, so that many machines of few
  // terms cost no more than their terms.
  std::vector<double> sums(group.vectors.size());
  std::vector<Index> touched;
  for (std::size_t first = 0; first < members.size();) {
    Use use;
    use.machine = machine_of_member[usize(members[first])];
    touched.clear();
    for (; first < members.size() && machine_of_member[usize(members[first])] == use.machine;
         ++first) {
      const std::size_t m = usize(members[first]);
      for (Index t = parts_.term_begin[m]; t < parts_.term_begin[m + 1]; ++t) {
        const Index v = place[usize(parts_.term_vectors[usize(t)])];
        sums[usize(v)] += parts_.weights[m] * parts_.coefficients[usize(t)];
        touched.push_back(v);
      }
    }
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (const Index v : touched) {
      const double sum = std::exchange(sums[usize(v)], 0.0);
      require(std::isfinite(sum), "the coefficients overflow");
      if (sum == 0) continue;
      use.places.push_back(v);
      use.coefficients.push_back(sum);
    }
    group.uses.push_back(std::move(use));
  }
  return group;
}

Index WeightedEnsemble::evaluations_per_row() const {
  Index count = 0;
  for (const Group& group : groups_) count += static_cast<Index>(group.vectors.size());
  return count;
}

std::string WeightedEnsemble::describe() const {
  std::string text(kernel_name(parts_.kernel.type));
  if (groups_.size() == 1) text = tamis::describe(groups_[0].kernel);
  if (groups_.size() > 1) {
    text += fmt::format(", gamma {:.6g} to {:.6g}", groups_.front().kernel.gamma,
                        groups_.back().kernel.gamma);
  }
  text += fmt::format("; {}, {}, {} a row", counted(num_members(), "member"),
                      counted(num_support_vectors(), "support vector"),
                      counted(evaluations_per_row(), "kernel value"));
  if (parts_.decision != Decision::single)
    text +=
        fmt::format("; {} {}", counted(num_machines(), "machine"), decision_name(parts_.decision));
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
            for (const Group& group : groups_) sum_group(group, block, meter);
          }};
}

void WeightedEnsemble::sum_group(const Group& group, const DecisionBlock& block,
                                 ProgressMeter& meter) const {
  if (group.vectors.empty()) return;
  KernelTiles tiles(group.kernel, parts_.support_vectors, block);
  std::vector<std::size_t> next(group.uses.size(), 0);  // term of each use
  std::array<const float*, KernelTiles::kStrip> values{};
  const auto count = static_cast<Index>(group.vectors.size());
  for (Index s = 0; s < count; s += KernelTiles::kStrip) {
    const Index end = std::min(s + KernelTiles::kStrip, count);
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
                        block.sums + use.machine * block.stride + c);
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
