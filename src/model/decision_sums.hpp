// Decision values that are sums over support vectors, made for a block of rows at a time: what
// kernel expansions and weighted ensembles share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/progress.hpp"
#include "kernels/kernel_blocks.hpp"
#include "model/decision.hpp"
#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/kernel.hpp"

namespace tamis {

/// Multiplications between two looks at the cancel flag: a few milliseconds.
inline constexpr Index kPollWork = Index{16} << 20;

/// Rows [begin, begin + count) of features; machine m adds to sums[m * stride + row - begin].
struct DecisionBlock {
  const Matrix& features;
  Index begin;
  Index count;
  Index stride;
  double* sums;
};

/// Values f_m(x) = what `add` sums up for machine m and row x + offsets[m].
struct DecisionSums {
  Decision decision = Decision::single;
  KernelType kernel = KernelType::rbf;  ///< named when a sum overflows
  std::span<const double> offsets;      ///< one a machine
  Index work_of_row = 1;                ///< of the progress that `add` reports
  bool sparse = false;                  ///< support vectors and blocks stay sparse
  std::function<void(const DecisionBlock&, ProgressMeter&)> add;  ///< called by many threads

  /// values[i * machines + m]. Throws DataError when a sum is not finite.
  void decision_values(const Matrix& features, std::span<double> values,
                       const RunControl& control) const;
  /// The class that the values of each row stand for.
  void classify(const Matrix& features, std::span<std::int32_t> classes,
                const RunControl& control) const;

 private:
  Index block_rows(const Matrix& features) const;
  void require_sums_memory(Index rows, const RunControl& control) const;
  template <typename Finish>
  void for_each_block(const Matrix& features, const RunControl& control,
                      const Finish& finish) const;
};

/// Rows with the columns of support vectors. They are not blown up to the many columns that sparse
/// support vectors may have.
Matrix fit_columns_of(const Matrix& vectors, const Matrix& features);

/// Throws unless `features` and `vectors` can be multiplied in a quarter of the memory.
void require_packing_memory(const Matrix& vectors, const Matrix& features,
                            const RunControl& control);

/// Kernel values of the rows of a block with support vectors. The rows are the packed points and
/// the support vectors run over them: that way the sums of a machine over its support vectors go
/// down the columns of a tile, without any reduction.
class KernelTiles {
 public:
  /// Tiles of 32 support vectors x kChunk rows, 32 KiB of float, stay in the first-level cache
  /// until they are summed up; sparse rows of many columns go against 64 support vectors at once.
  static constexpr Index kMostStrip = KernelBlocks::kMostRowsAtOnce;
  static constexpr Index kChunk = 256;

  KernelTiles(const Kernel& kernel, const Matrix& vectors, const DecisionBlock& block);

  /// How many support vectors to visit at once.
  Index strip() const { return strip_; }
  /// Floats from a support vector to the next in a tile.
  Index stride() const { return chunk_; }

  /// add(tile, c, width): tile[s * stride() + j] is the value of the support vector strip[s] with
  /// the row c + j of the block.
  template <typename Add>
  void visit(std::span<const Index> strip, ProgressMeter& meter, const Add& add) {
    for (Index c = 0; c < rows_; c += chunk_) {
      const Index width = std::min(chunk_, rows_ - c);
      points_.evaluate(vectors_, strip, c, c + width, tile_.data(), chunk_);
      add(static_cast<const float*>(tile_.data()), c, width);
      meter.add(static_cast<Index>(strip.size()) * width);
    }
  }

 private:
  const Matrix& vectors_;
  Index rows_;
  KernelBlocks points_;
  Index strip_;
  Index chunk_;
  std::vector<float> tile_;
};

}  // namespace tamis
