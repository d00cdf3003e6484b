#include "model/decision_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "model/machine.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

// Rows of one task. Their packed copy and their sums are the memory a task takes.
constexpr Index kMaxBlockRows = 1024;
constexpr Index kMinBlockRows = 64;
constexpr Index kMaxBlockValues = Index{8} << 20;  // features of a block, 32 MiB of float
constexpr Index kMaxBlockSums = Index{1} << 20;    // sums of a block, 8 MiB of double

Index floor_to_panel(Index rows) { return std::max(kPanel, rows / kPanel * kPanel); }

KernelBlocks pack(const Kernel& kernel, const Matrix& vectors, const DecisionBlock& block) {
  std::vector<Index> rows(usize(block.count));
  std::iota(rows.begin(), rows.end(), block.begin);
  const bool make_dense = block.features.is_sparse() && !vectors.is_sparse();
  return make_dense ? KernelBlocks(kernel, block.features.select(rows).to_dense())
                    : KernelBlocks(kernel, block.features, rows);
}

}  // namespace

// A function of the model and of the rows only, so that the threads do not matter.
Index DecisionSums::block_rows(const Matrix& features) const {
  const Index machines = std::max<Index>(1, static_cast<Index>(offsets.size()));
  Index block = std::clamp(features.rows() / 16, kMinBlockRows, kMaxBlockRows);
  block = std::min(block, kMaxBlockSums / machines);
  if (!features.is_sparse() || !sparse)
    block = std::min(block, kMaxBlockValues / std::max<Index>(1, features.cols()));
  return floor_to_panel(block);
}

// A panel of rows has a sum for each binary SVM, of which a thousand classes have half a million.
void DecisionSums::require_sums_memory(Index rows, const RunControl& control) const {
  constexpr Index kAlways = 2 * kMaxBlockSums * Index{sizeof(double)};  // not worth asking for
  const Index bytes = checked_product(checked_product(rows, static_cast<Index>(offsets.size())),
                                      Index{sizeof(double)});
  if (bytes > kAlways)
    require_memory(fmt::format("predicting with {}", counted(offsets.size(), "binary SVM")), bytes,
                   memory_left(control.memory_bytes));
}

template <typename Finish>
void DecisionSums::for_each_block(const Matrix& features, const RunControl& control,
                                  const Finish& finish) const {
  const Index rows = features.rows();
  const Index step = block_rows(features);
  const Index blocks = (rows + step - 1) / step;
  require_sums_memory(std::min<Index>(blocks, loop_threads()) * step, control);
  ProgressMeter meter(control, "predict", rows * std::max<Index>(1, work_of_row));
  parallel_each(blocks, [&](Index b) {
    const Index begin = b * step;
    const Index count = std::min(step, rows - begin);
    std::vector<double> sums(usize(step) * offsets.size(), 0.0);
    const DecisionBlock block{features, begin, count, step, sums.data()};
    add(block, meter);
    for (std::size_t m = 0; m < offsets.size(); ++m) {
      for (double& sum : std::span(sums).subspan(m * usize(step), usize(count))) {
        sum += offsets[m];
        if (!std::isfinite(sum)) {
          throw DataError(fmt::format("the {} kernel overflows on these rows: scale the features",
                                      kernel_name(kernel)));
        }
      }
    }
    finish(block);
  });
}

void DecisionSums::decision_values(const Matrix& features, std::span<double> values,
                                   const RunControl& control) const {
  const Index machines = static_cast<Index>(offsets.size());
  TAMIS_CHECK(static_cast<Index>(values.size()) == features.rows() * machines);
  for_each_block(features, control, [&](const DecisionBlock& block) {
    for (Index c = 0; c < block.count; ++c) {
      for (Index m = 0; m < machines; ++m)
        values[usize((block.begin + c) * machines + m)] = block.sums[m * block.stride + c];
    }
  });
}

void DecisionSums::classify(const Matrix& features, std::span<std::int32_t> classes,
                            const RunControl& control) const {
  const Index machines = static_cast<Index>(offsets.size());
  TAMIS_CHECK(static_cast<Index>(classes.size()) == features.rows());
  for_each_block(features, control, [&](const DecisionBlock& block) {
    std::vector<double> values(offsets.size());
    std::vector<std::int32_t> votes(usize(num_voters(decision, machines)));
    for (Index c = 0; c < block.count; ++c) {
      for (Index m = 0; m < machines; ++m) values[usize(m)] = block.sums[m * block.stride + c];
      classes[usize(block.begin + c)] = winning_class(decision, values, votes);
    }
  });
}

Matrix fit_columns_of(const Matrix& vectors, const Matrix& features) {
  const bool make_sparse = vectors.is_sparse() && vectors.cols() / 4 > features.cols();
  return (make_sparse ? features.to_sparse() : features).with_cols(vectors.cols());
}

void require_packing_memory(const Matrix& vectors, const Matrix& features,
                            const RunControl& control) {
  if (!features.is_sparse() && !vectors.is_sparse()) return;
  require_column_memory("predicting", features.cols(), kPackedColumnBytes,
                        resolve_memory_budget(control.memory_bytes) / 4);
}

KernelTiles::KernelTiles(const Kernel& kernel, const Matrix& vectors, const DecisionBlock& block)
    : vectors_(vectors),
      rows_(block.count),
      points_(pack(kernel, vectors, block)),
      strip_(KernelBlocks::rows_at_once(block.features)),
      chunk_(std::min(kChunk,
                      floor_to_panel(kPollWork / (strip_ * std::max<Index>(1, vectors.cols()))))),
      tile_(usize(strip_ * chunk_)) {}

}  // namespace tamis
