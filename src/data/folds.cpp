#include "data/folds.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "base/checked.hpp"
#include "tamis/error.hpp"

namespace tamis {

Strata row_strata(const Dataset& data, bool regression) {
  if (data.labels().kind() == LabelKind::none) throw DataError("the data has no labels to learn");
  const Labels classes = regression ? Labels() : distinct_classes(data.labels());
  const std::vector<std::int32_t> codes = regression
                                              ? std::vector<std::int32_t>(usize(data.rows()), 0)
                                              : encode_labels(data.labels(), classes);
  Strata strata(usize(std::max<Index>(1, classes.size())));
  for (Index i = 0; i < data.rows(); ++i) {
    if (data.weight(i) > 0) strata[usize(codes[usize(i)])].push_back(i);
  }
  std::erase_if(strata, [](const std::vector<Index>& rows) { return rows.empty(); });
  return strata;
}

std::vector<std::vector<Index>> deal_rows(Strata strata, Index parts, Random& random) {
  std::vector<std::vector<Index>> result(usize(parts));
  std::size_t next = 0;
  for (std::vector<Index>& rows : strata) {
    random.shuffle(rows);
    for (const Index row : rows) result[next++ % result.size()].push_back(row);
  }
  for (std::vector<Index>& rows : result) std::sort(rows.begin(), rows.end());
  return result;
}

std::vector<Index> draw_rows(Strata strata, Index count, Random& random) {
  double all = 0;
  for (const std::vector<Index>& rows : strata) all += static_cast<double>(rows.size());
  const double share = std::min(1.0, static_cast<double>(count) / all);
  std::vector<Index> drawn;
  double owed = 0;  // so far, by the exact shares: what rounding took is given to the next stratum
  for (std::vector<Index>& rows : strata) {
    owed += share * static_cast<double>(rows.size());
    const auto missing = static_cast<Index>(std::llround(owed)) - static_cast<Index>(drawn.size());
    const Index take = std::clamp<Index>(missing, 1, static_cast<Index>(rows.size()));
    random.shuffle(rows);
    drawn.insert(drawn.end(), rows.begin(), rows.begin() + take);
  }
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

std::vector<Index> draw_runs(const Strata& strata, Index count, Random& random) {
  constexpr Index kRuns = 20;  // at least
  constexpr Index kLongest = 50;
  double all = 0;
  for (const std::vector<Index>& rows : strata) all += static_cast<double>(rows.size());
  const double share = std::min(1.0, static_cast<double>(count) / all);
  std::vector<Index> drawn;
  for (const std::vector<Index>& rows : strata) {
    const auto size = static_cast<Index>(rows.size());
    const auto wanted =
        std::max<Index>(1, static_cast<Index>(std::llround(share * static_cast<double>(size))));
    const Index length = std::clamp<Index>(wanted / kRuns, 1, kLongest);
    std::vector<Index> begins;
    for (Index begin = 0; begin < size; begin += length) begins.push_back(begin);
    random.shuffle(begins);
    Index left = wanted;
    for (std::size_t r = 0; r < begins.size() && left > 0; ++r) {
      const Index take = std::min({length, size - begins[r], left});
      drawn.insert(drawn.end(), rows.begin() + begins[r], rows.begin() + begins[r] + take);
      left -= take;
    }
  }
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

std::vector<Index> all_but(std::span<const Index> rows, Index count) {
  std::vector<Index> others;
  std::size_t next = 0;
  for (Index i = 0; i < count; ++i) {
    if (next < rows.size() && rows[next] == i)
      ++next;
    else
      others.push_back(i);
  }
  return others;
}

Strata without(const Strata& strata, std::span<const Index> rows) {
  Strata result;
  for (const std::vector<Index>& stratum : strata) {
    std::vector<Index> others;
    std::set_difference(stratum.begin(), stratum.end(), rows.begin(), rows.end(),
                        std::back_inserter(others));
    if (!others.empty()) result.push_back(std::move(others));
  }
  return result;
}

}  // namespace tamis
