#include "compare/regions.hpp"

#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "base/progress.hpp"
#include "model/model_parts.hpp"
#include "tamis/predict.hpp"

namespace tamis {
namespace {

constexpr Index kCells = 120;         // a side
constexpr Index kMostVectors = 1500;  // more dots would hide the regions
constexpr double kMargin = 0.04;      // of the span

}  // namespace

Frame frame_of(const Matrix& features) {
  Frame frame;
  for (int j = 0; j < 2; ++j) {
    float low = std::numeric_limits<float>::infinity();
    float high = -low;
    for (Index i = 0; i < features.rows(); ++i) {
      low = std::min(low, features.at(i, j));
      high = std::max(high, features.at(i, j));
    }
    const double span = high > low ? static_cast<double>(high) - static_cast<double>(low) : 1;
    frame.low[j] = static_cast<double>(low) - kMargin * span;
    frame.high[j] = static_cast<double>(high) + kMargin * span;
  }
  return frame;
}

std::vector<Index> spread_rows(Index rows, Index most) {
  const Index count = std::min(rows, most);
  std::vector<Index> chosen;
  for (Index k = 0; k < count; ++k) chosen.push_back(k * rows / count);
  return chosen;
}

DecisionRegions decision_regions(const Model& model, const Labels& classes, const Frame& frame,
                                 const RunControl& control) {
  DecisionRegions regions;
  regions.width = regions.height = kCells;
  double step[2];
  for (int j = 0; j < 2; ++j) {
    regions.low[j] = frame.low[j];
    regions.high[j] = frame.high[j];
    step[j] = (frame.high[j] - frame.low[j]) / static_cast<double>(kCells - 1);
  }
  std::vector<float> points;
  for (Index y = 0; y < kCells; ++y) {
    for (Index x = 0; x < kCells; ++x) {
      points.push_back(static_cast<float>(frame.low[0] + static_cast<double>(x) * step[0]));
      points.push_back(static_cast<float>(frame.low[1] + static_cast<double>(y) * step[1]));
    }
  }
  const Labels decided =
      predict(model, Matrix::dense(kCells * kCells, 2, std::move(points)), quiet(control));
  regions.classes = encode_labels(decided, classes);
  // Points that a matrix mixed have no place in the picture.
  if (!model.scaling().matrix.empty()) return regions;
  const Matrix vectors = machine_of(model).support_points();
  for (const Index row : spread_rows(vectors.rows(), kMostVectors)) {
    regions.support_vectors.emplace_back(model.scaling().unscaled(0, vectors.at(row, 0)),
                                         model.scaling().unscaled(1, vectors.at(row, 1)));
  }
  return regions;
}

}  // namespace tamis
