#include "eval/score_curves.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tamis {
namespace {

constexpr std::size_t kBins = 10;

// Keeps the points of a curve that are a step away from the last one kept, and where the curve
// jumps, both ends of the jump.
class ThinnedCurve {
 public:
  explicit ThinnedCurve(std::vector<CurvePoint>* kept) : kept_(kept) {}

  void add(CurvePoint point) {
    constexpr double kStep = 0.005;
    if (kept_->empty() || distance(kept_->back(), point) >= kStep) {
      if (has_skipped_ && distance(skipped_, point) >= kStep) kept_->push_back(skipped_);
      kept_->push_back(point);
      has_skipped_ = false;
    } else {
      skipped_ = point;
      has_skipped_ = true;
    }
  }

  void finish() {
    if (has_skipped_) kept_->push_back(skipped_);
  }

 private:
  static double distance(CurvePoint a, CurvePoint b) {
    return std::abs(a.x - b.x) + std::abs(a.y - b.y);
  }

  std::vector<CurvePoint>* kept_;
  CurvePoint skipped_;
  bool has_skipped_ = false;
};

}  // namespace

void fill_score_curves(std::span<ScoredRow> rows, ClassCurves* curves) {
  for (ScoredRow& row : rows) {
    if (std::isnan(row.first)) row.first = -std::numeric_limits<double>::infinity();
    ++(row.second ? curves->rows : curves->others);
  }
  if (curves->rows == 0 || curves->others == 0) return;
  std::sort(rows.begin(), rows.end(),
            [](const ScoredRow& a, const ScoredRow& b) { return a.first > b.first; });
  const auto positives = static_cast<double>(curves->rows);
  const auto negatives = static_cast<double>(curves->others);
  ThinnedCurve roc(&curves->roc);
  ThinnedCurve precision(&curves->precision);
  roc.add({0, 0});
  Index hits = 0;
  Index false_alarms = 0;
  double area = 0;
  double average = 0;
  for (std::size_t begin = 0; begin < rows.size();) {
    // Rows of one score cannot be told apart: they pass a threshold together.
    Index more_hits = 0;
    std::size_t end = begin;
    for (; end < rows.size() && rows[end].first == rows[begin].first; ++end)
      more_hits += rows[end].second ? 1 : 0;
    const Index more_alarms = static_cast<Index>(end - begin) - more_hits;
    area += static_cast<double>(more_alarms) *
            (static_cast<double>(hits) + 0.5 * static_cast<double>(more_hits));
    hits += more_hits;
    false_alarms += more_alarms;
    const double recall = static_cast<double>(hits) / positives;
    const double share = static_cast<double>(hits) / static_cast<double>(hits + false_alarms);
    average += share * static_cast<double>(more_hits);
    roc.add({static_cast<double>(false_alarms) / negatives, recall});
    precision.add({recall, share});
    begin = end;
  }
  roc.finish();
  precision.finish();
  curves->roc_area = area / (positives * negatives);
  curves->average_precision = average / positives;
}

void fill_calibration(std::span<const ScoredRow> rows, ClassCurves* curves) {
  std::array<CalibrationBin, kBins> bins;
  double counted = 0;
  for (const auto& [probability, belongs] : rows) {
    if (std::isnan(probability)) continue;
    ++counted;
    const auto place = static_cast<std::size_t>(probability * static_cast<double>(kBins));
    CalibrationBin& bin = bins[std::min(kBins - 1, place)];
    ++bin.rows;
    bin.mean_probability += probability;
    bin.frequency += belongs ? 1 : 0;
  }
  curves->calibration_error = 0;
  for (std::size_t b = 0; b < kBins; ++b) {
    CalibrationBin bin = bins[b];
    if (bin.rows == 0) continue;
    const auto count = static_cast<double>(bin.rows);
    bin.low = static_cast<double>(b) / static_cast<double>(kBins);
    bin.high = static_cast<double>(b + 1) / static_cast<double>(kBins);
    bin.mean_probability /= count;
    bin.frequency /= count;
    curves->calibration_error += std::abs(bin.frequency - bin.mean_probability) * count / counted;
    curves->calibration.push_back(bin);
  }
}

}  // namespace tamis
