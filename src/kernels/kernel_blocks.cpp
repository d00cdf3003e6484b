#include "kernels/kernel_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "data/copy_rows.hpp"
#include "kernels/aligned_floats.hpp"
#include "kernels/simd/tiles.hpp"

namespace tamis {
namespace {

static_assert(kPanel == simd::kLanes);

constexpr Index kRowsAhead = 8;  // of the one being packed are asked for

simd::Formula formula_of(const Kernel& kernel) {
  simd::Formula formula;
  formula.gamma = static_cast<float>(kernel.gamma);
  formula.coef0 = static_cast<float>(kernel.coef0);
  formula.degree = kernel.degree;
  switch (kernel.type) {
    case KernelType::polynomial:
      formula.form = simd::Form::polynomial;
      break;
    case KernelType::rbf:
      formula.form = simd::Form::rbf;
      break;
    case KernelType::laplacian:
      formula.form = simd::Form::laplacian;
      break;
    case KernelType::sigmoid:
      formula.form = simd::Form::sigmoid;
      break;
    default:
      formula.form = simd::Form::dot;
  }
  return formula;
}

bool is_l1(simd::Form form) {
  return form == simd::Form::laplacian || form == simd::Form::l1_distance;
}

// What a value adds to the norm of its row that the form needs.
double norm_part(simd::Form form, float value) {
  const auto v = static_cast<double>(value);
  return is_l1(form) ? std::abs(v) : v * v;
}

float norm_of(simd::Form form, const SparseRow& row) {
  double sum = 0;
  for (const float v : row.values) sum += norm_part(form, v);
  return static_cast<float>(sum);
}

// Room for rows packed side by side. Invariant between uses: every float is zero, so that packing a
// sparse row touches only its non-zeros. One for each thread, kept from call to call until the
// thread ends: to clear a new one for every call makes rows of 40 values in 20,000 columns three
// times as slow.
class PackingBuffer {
 public:
  static PackingBuffer& of_this_thread() {
    static thread_local PackingBuffer buffer;
    return buffer;
  }

  float* reserve(Index count) {
    if (count > capacity_) {
      values_ = allocate_floats(count);
      std::fill_n(values_.get(), count, 0.0F);
      capacity_ = count;
    }
    return values_.get();
  }

 private:
  AlignedFloats values_;
  Index capacity_ = 0;
};

// Sparse points are laid out like dense ones as long as 64 of them stay near the processor.
constexpr Index kMostPanelBytes = Index{64} << 10;

// Those that hold only ones, and have few columns, as bytes.
bool packs_bytes(const Matrix& points) {
  return points.has_only_ones() && points.cols() * simd::kByteLanes <= kMostPanelBytes;
}

bool packs_panels(const Matrix& points) {
  const Index column_bytes = 4 * kPanel * static_cast<Index>(sizeof(float));
  return !points.is_sparse() || points.cols() * column_bytes <= kMostPanelBytes;
}

// Sparse rows, 64 at a time: body(number of the first, rows, how many).
template <typename Body>
void for_sparse_queries(simd::Form form, const Matrix& queries, std::span<const Index> rows,
                        std::span<const float> row_norms, const Body& body) {
  constexpr Index kRows = 64;
  simd::SparseQuery some[kRows];
  for (Index first = 0; first < static_cast<Index>(rows.size()); first += kRows) {
    const Index count = std::min(kRows, static_cast<Index>(rows.size()) - first);
    for (Index r = 0; r < count; ++r) {
      const SparseRow row = queries.sparse_row(rows[usize(first + r)]);
      some[r] = {row.columns.data(), row.values.data(), static_cast<Index>(row.columns.size()),
                 row_norms.empty() ? norm_of(form, row) : row_norms[usize(first + r)]};
    }
    body(first, some, count);
  }
}

}  // namespace

struct KernelBlocks::Impl {
  simd::Formula formula;
  bool precomputed = false;
  bool by_products = false;  // dense points
  Index num_points = 0;
  Index cols = 0;

  std::shared_ptr<float[]> panels;        // dense points, and sparse ones of few columns, by panels
  std::shared_ptr<std::uint8_t[]> bytes;  // sparse ones that hold only ones, by panels
  Matrix sparse;                          // other sparse points
  AlignedFloats norms;         // of points that were sparse, or of dense ones: by products
  std::vector<Index> serials;  // precomputed points: the column that holds their values

  void pack_panels(const Matrix& points, std::span<const Index> rows, const RunControl* control);
  void pack_bytes(const Matrix& points, std::span<const Index> rows, const RunControl* control);
  void evaluate_panels(const Matrix& queries, std::span<const Index> rows,
                       const simd::DensePanels& points, float* out, Index stride,
                       std::span<const float> row_norms) const;
  void evaluate_dense(const Matrix& queries, std::span<const Index> rows,
                      const simd::DensePanels& points, float* out, Index stride,
                      std::span<const float> row_norms) const;
  void evaluate_mixed(const Matrix& queries, std::span<const Index> rows,
                      const simd::DensePanels& points, float* out, Index stride,
                      std::span<const float> row_norms) const;
  void evaluate_bytes(const Matrix& queries, std::span<const Index> rows, Index begin, Index end,
                      float* out, Index stride, std::span<const float> row_norms) const;
  void evaluate_sparse(const Matrix& queries, std::span<const Index> rows, Index begin, Index end,
                       float* out, Index stride, std::span<const float> row_norms) const;
};

// Small ones are not worth a look at the memory left.
std::shared_ptr<float[]> allocate_panels(Index count, const RunControl* control) {
  constexpr Index kSmall = Index{4} << 20;
  constexpr double kShare = 0.9;  // whoever asks has set the rest aside
  if (control != nullptr && count > kSmall)
    return scratch_array<float>("packing the rows", count, *control, kShare).values;
  return allocate_floats(count);
}

// Rows picked from all over a matrix are waited for one by one unless they are asked for early.
void prefetch_row(const Matrix& points, Index row) {
  if (points.is_sparse()) {
    const SparseRow values = points.sparse_row(row);
    __builtin_prefetch(values.columns.data());
    __builtin_prefetch(values.values.data());
    if (values.columns.size() > 8) {
      __builtin_prefetch(values.columns.data() + values.columns.size() - 1);
      __builtin_prefetch(values.values.data() + values.columns.size() - 1);
    }
  } else {
    __builtin_prefetch(points.dense_row(row).data());
  }
}

// Panel p holds points 16 p .. 16 p + 15, feature-major; places past the last point are zero.
void KernelBlocks::Impl::pack_panels(const Matrix& points, std::span<const Index> rows,
                                     const RunControl* control) {
  const Index num_panels = round_up(num_points, kPanel) / kPanel;
  panels = allocate_panels(checked_product(num_panels * kPanel, cols), control);
  if (points.is_sparse() || by_products) norms = allocate_floats(num_panels * kPanel);
  parallel_ranges(num_panels, 16, [&](Index panel_begin, Index panel_end) {
    for (Index p = panel_begin; p < panel_end; ++p) {
      float* panel = panels.get() + p * kPanel * cols;
      if (points.is_sparse() || (p + 1) * kPanel > num_points)
        std::fill_n(panel, kPanel * cols, 0.0F);
      if (points.is_sparse()) std::fill_n(norms.get() + p * kPanel, kPanel, 0.0F);
      for (Index l = 0; l < kPanel && p * kPanel + l < num_points; ++l) {
        const Index point = p * kPanel + l;
        const Index row = rows.empty() ? point : rows[usize(point)];
        if (!rows.empty() && point + kRowsAhead < num_points)
          prefetch_row(points, rows[usize(point + kRowsAhead)]);
        if (points.is_sparse()) {
          const SparseRow values = points.sparse_row(row);
          norms[usize(point)] = norm_of(formula.form, values);
          for (std::size_t k = 0; k < values.columns.size(); ++k)
            panel[values.columns[k] * kPanel + l] = values.values[k];
        } else {
          const auto values = points.dense_row(row);
          for (Index j = 0; j < cols; ++j) panel[j * kPanel + l] = values[usize(j)];
        }
      }
      if (by_products) simd::panel_norms(cols, panel, norms.get() + p * kPanel);
    }
  });
}

// Panel p holds points 64 p .. 64 p + 63.
void KernelBlocks::Impl::pack_bytes(const Matrix& points, std::span<const Index> rows,
                                    const RunControl* control) {
  const Index padded = round_up(num_points, simd::kByteLanes);
  const Index panel_bytes = simd::kByteLanes * cols;
  auto memory =
      allocate_panels(checked_product(padded, cols) / static_cast<Index>(sizeof(float)), control);
  bytes = {memory, reinterpret_cast<std::uint8_t*>(memory.get())};
  norms = allocate_floats(padded);
  parallel_ranges(padded / simd::kByteLanes, 4, [&](Index panel_begin, Index panel_end) {
    std::uint8_t* const first = bytes.get() + panel_begin * panel_bytes;
    std::fill_n(first, (panel_end - panel_begin) * panel_bytes, std::uint8_t{0});
    for (Index point = panel_begin * simd::kByteLanes; point < panel_end * simd::kByteLanes;
         ++point) {
      norms[usize(point)] = 0;
      if (point >= num_points) continue;
      const Index ahead = std::min(point + kRowsAhead, num_points - 1);
      if (!rows.empty()) prefetch_row(points, rows[usize(ahead)]);
      const SparseRow values = points.sparse_row(rows.empty() ? point : rows[usize(point)]);
      norms[usize(point)] = norm_of(formula.form, values);
      std::uint8_t* const panel = bytes.get() + point / simd::kByteLanes * panel_bytes;
      for (const std::int32_t column : values.columns)
        panel[column * simd::kByteLanes + point % simd::kByteLanes] = 1;
    }
  });
}

void KernelBlocks::Impl::evaluate_panels(const Matrix& queries, std::span<const Index> rows,
                                         const simd::DensePanels& points, float* out, Index stride,
                                         std::span<const float> row_norms) const {
  if (points.norms != nullptr && !by_products && queries.is_sparse())
    evaluate_mixed(queries, rows, points, out, stride, row_norms);
  else
    evaluate_dense(queries, rows, points, out, stride, row_norms);
}

void KernelBlocks::Impl::evaluate_dense(const Matrix& queries, std::span<const Index> rows,
                                        const simd::DensePanels& points, float* out, Index stride,
                                        std::span<const float> row_norms) const {
  constexpr Index kRows =
      64;  // rows handed down at once; bounds the unpacked copies of sparse queries
  const float* pointers[kRows];
  float norms_of_rows[kRows];
  AlignedFloats unpacked;
  if (queries.is_sparse()) unpacked = allocate_floats(kRows * cols);
  for (Index first = 0; first < static_cast<Index>(rows.size()); first += kRows) {
    const Index count = std::min(kRows, static_cast<Index>(rows.size()) - first);
    for (Index r = 0; r < count; ++r) {
      const Index row = rows[usize(first + r)];
      if (queries.is_sparse()) {
        float* copy = unpacked.get() + r * cols;
        queries.copy_row(row, {copy, usize(cols)});
        pointers[r] = copy;
      } else {
        pointers[r] = queries.dense_row(row).data();
      }
      if (by_products) {
        norms_of_rows[r] =
            row_norms.empty() ? simd::row_norm(cols, pointers[r]) : row_norms[usize(first + r)];
      }
    }
    simd::dense_tiles(formula, cols, {pointers, norms_of_rows, count},
                      {points.values, by_products ? points.norms : nullptr, points.count},
                      out + first * stride, stride);
  }
}

void KernelBlocks::Impl::evaluate_mixed(const Matrix& queries, std::span<const Index> rows,
                                        const simd::DensePanels& points, float* out, Index stride,
                                        std::span<const float> row_norms) const {
  for_sparse_queries(formula.form, queries, rows, row_norms,
                     [&](Index first, const simd::SparseQuery* some, Index count) {
                       simd::mixed_tiles(formula, cols, some, count, points.values, points.norms,
                                         points.count, out + first * stride, stride);
                     });
}

// Rows of other values meet the points as floats, unpacked anew for each call.
void KernelBlocks::Impl::evaluate_bytes(const Matrix& queries, std::span<const Index> rows,
                                        Index begin, Index end, float* out, Index stride,
                                        std::span<const float> row_norms) const {
  end = begin + round_up(end - begin, kPanel);
  if (queries.has_only_ones()) {
    return for_sparse_queries(formula.form, queries, rows, row_norms,
                              [&](Index first, const simd::SparseQuery* some, Index count) {
                                simd::count_tiles(formula, cols, some, count,
                                                  {bytes.get(), norms.get()}, begin, end,
                                                  out + first * stride, stride);
                              });
  }
  std::vector<float> own_norms;
  for (std::size_t r = 0; r < rows.size() && queries.is_sparse() && row_norms.empty(); ++r)
    own_norms.push_back(norm_of(formula.form, queries.sparse_row(rows[r])));
  const std::span<const float> all_norms = own_norms.empty() ? row_norms : own_norms;
  constexpr Index kUnpacked = 4 * kPanel;
  const AlignedFloats unpacked = allocate_floats(kUnpacked * cols);
  for (Index first = begin; first < end; first += kUnpacked) {
    const Index last = std::min(end, first + kUnpacked);
    for (Index point = first; point < last; point += kPanel) {
      const Index place = point % simd::kByteLanes;
      const std::uint8_t* const from = bytes.get() + (point - place) * cols + place;
      float* const to = unpacked.get() + (point - first) * cols;
      for (Index j = 0; j < cols; ++j)
        std::copy_n(from + j * simd::kByteLanes, kPanel, to + j * kPanel);
    }
    evaluate_panels(queries, rows, {unpacked.get(), norms.get() + first, (last - first) / kPanel},
                    out + first - begin, stride, all_norms);
  }
}

void KernelBlocks::Impl::evaluate_sparse(const Matrix& queries, std::span<const Index> rows,
                                         Index begin, Index end, float* out, Index stride,
                                         std::span<const float> row_norms) const {
  const simd::SparsePoints points{sparse.row_offsets().data(), sparse.sparse_columns().data(),
                                  sparse.sparse_values().data(), norms.get()};
  for (Index first = 0; first < static_cast<Index>(rows.size());) {
    const Index left = static_cast<Index>(rows.size()) - first;
    const Index width = left > kPanel ? kMostRowsAtOnce : kPanel;
    const Index count = std::min(width, left);
    float* packed = PackingBuffer::of_this_thread().reserve(cols * width);
    float norms_of_rows[kMostRowsAtOnce] = {};
    const auto for_each_value = [&](auto&& action) {
      for (Index r = 0; r < count; ++r) {
        const Index row = rows[usize(first + r)];
        if (queries.is_sparse()) {
          const SparseRow values = queries.sparse_row(row);
          for (std::size_t k = 0; k < values.columns.size(); ++k)
            action(r, values.columns[k], values.values[k]);
        } else {
          const auto values = queries.dense_row(row);
          for (Index j = 0; j < cols; ++j) action(r, j, values[usize(j)]);
        }
      }
    };
    for_each_value([&](Index r, Index j, float value) { packed[j * width + r] = value; });
    if (row_norms.empty()) {
      double sums[kMostRowsAtOnce] = {};
      for_each_value(
          [&](Index r, Index, float value) { sums[r] += norm_part(formula.form, value); });
      std::transform(sums, sums + count, norms_of_rows,
                     [](double sum) { return static_cast<float>(sum); });
    } else {
      std::copy_n(row_norms.begin() + first, count, norms_of_rows);
    }
    simd::sparse_tiles(formula, {packed, norms_of_rows, width}, count, points, begin, end,
                       out + first * stride, stride);
    for_each_value([&](Index r, Index j, float) { packed[j * width + r] = 0.0F; });
    first += count;
  }
}

KernelBlocks::KernelBlocks(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
KernelBlocks::KernelBlocks(const Kernel& kernel, const Matrix& points)
    : KernelBlocks(kernel, points, {}) {}

KernelBlocks::KernelBlocks(const Kernel& kernel, const Matrix& points, std::span<const Index> rows,
                           const RunControl* control, DistanceBy distance_by)
    : impl_(std::make_unique<Impl>()) {
  impl_->formula = formula_of(kernel);
  impl_->by_products = !points.is_sparse() && needs_norms(kernel, points, distance_by);
  impl_->num_points = rows.empty() ? points.rows() : static_cast<Index>(rows.size());
  impl_->cols = points.cols();
  if (kernel.type == KernelType::precomputed) {
    impl_->precomputed = true;
    for (Index i = 0; i < impl_->num_points; ++i) {
      impl_->serials.push_back(static_cast<Index>(points.at(rows.empty() ? i : rows[usize(i)], 0)));
    }
  } else if (packs_bytes(points)) {
    impl_->pack_bytes(points, rows, control);
  } else if (!packs_panels(points)) {
    impl_->sparse = rows.empty()         ? points
                    : control == nullptr ? points.select(rows)
                                         : copy_rows(points, rows, "packing the rows", *control);
    impl_->norms = allocate_floats(impl_->num_points);
    for (Index i = 0; i < impl_->num_points; ++i)
      impl_->norms[usize(i)] = norm_of(impl_->formula.form, impl_->sparse.sparse_row(i));
  } else {
    impl_->pack_panels(points, rows, control);
  }
}

KernelBlocks KernelBlocks::squared_distances(const Matrix& points, std::span<const Index> rows) {
  KernelBlocks blocks({.type = KernelType::rbf}, points, rows);
  blocks.impl_->formula.form = simd::Form::squared_distance;
  return blocks;
}

KernelBlocks KernelBlocks::unfinished(KernelType type, const Matrix& points) {
  if (type == KernelType::rbf) return squared_distances(points);
  if (type == KernelType::laplacian) {
    KernelBlocks blocks({.type = type}, points);
    blocks.impl_->formula.form = simd::Form::l1_distance;
    return blocks;
  }
  return {{.type = type == KernelType::precomputed ? type : KernelType::linear}, points};
}

void KernelBlocks::set_least_value(float least) {
  impl_->formula.least_exponent = std::max(-126.0F, std::log2(least));
}

KernelBlocks::~KernelBlocks() = default;
KernelBlocks::KernelBlocks(KernelBlocks&&) noexcept = default;
KernelBlocks& KernelBlocks::operator=(KernelBlocks&&) noexcept = default;

Index KernelBlocks::packed_bytes(const Matrix& points, Index rows) {
  if (packs_bytes(points)) {
    return checked_product(round_up(rows, simd::kByteLanes),
                           points.cols() + static_cast<Index>(sizeof(float)));
  }
  if (!packs_panels(points)) return points.size_bytes() + rows * static_cast<Index>(sizeof(float));
  return checked_product(round_up(rows, kPanel), (points.cols() + 1) * sizeof(float));
}

Index KernelBlocks::num_points() const { return impl_->num_points; }

bool KernelBlocks::is_quick_with_single_rows(const Matrix& points) {
  return packs_bytes(points) || packs_panels(points);
}

Index KernelBlocks::rows_at_once(const Matrix& points) {
  return is_quick_with_single_rows(points) ? kMostRowsAtOnce / 2 : kMostRowsAtOnce;
}

Index KernelBlocks::size_bytes() const {
  const Index points = round_up(impl_->num_points, impl_->bytes ? simd::kByteLanes : kPanel);
  const Index floats = (impl_->panels ? points * impl_->cols : 0) + (impl_->norms ? points : 0);
  return floats * static_cast<Index>(sizeof(float)) + (impl_->bytes ? points * impl_->cols : 0) +
         static_cast<Index>(impl_->serials.size() * sizeof(Index));
}

void KernelBlocks::evaluate(const Matrix& queries, std::span<const Index> rows, Index begin,
                            Index end, float* out, Index stride,
                            std::span<const float> row_norms) const {
  TAMIS_CHECK(begin % kPanel == 0 && end <= num_points() &&
              stride >= round_up(end - begin, kPanel));
  TAMIS_CHECK(queries.cols() == impl_->cols);
  if (begin >= end) return;
  if (impl_->precomputed) {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (Index c = begin; c < end; ++c) {
        out[static_cast<Index>(r) * stride + c - begin] =
            queries.at(rows[r], impl_->serials[usize(c)]);
      }
    }
  } else if (impl_->bytes) {
    impl_->evaluate_bytes(queries, rows, begin, end, out, stride, row_norms);
  } else if (impl_->panels) {
    const simd::DensePanels panels{impl_->panels.get() + begin * impl_->cols,
                                   impl_->norms ? impl_->norms.get() + begin : nullptr,
                                   round_up(end - begin, kPanel) / kPanel};
    impl_->evaluate_panels(queries, rows, panels, out, stride, row_norms);
  } else {
    impl_->evaluate_sparse(queries, rows, begin, end, out, stride, row_norms);
  }
}

bool needs_norms(const Kernel& kernel, const Matrix& data, DistanceBy distance_by) {
  return data.is_sparse() ||
         (distance_by == DistanceBy::products && kernel.type == KernelType::rbf);
}

std::vector<float> row_norms(const Kernel& kernel, const Matrix& data, std::span<const Index> rows,
                             DistanceBy distance_by) {
  std::vector<float> result(needs_norms(kernel, data, distance_by) ? rows.size() : 0);
  row_norms(kernel, data, rows, result);
  return result;
}

void row_norms(const Kernel& kernel, const Matrix& data, std::span<const Index> rows,
               std::span<float> norms) {
  if (norms.empty()) return;
  const simd::Form form = formula_of(kernel).form;
  parallel_ranges(std::ssize(rows), 1024, [&](Index begin, Index end) {
    for (Index k = begin; k < end; ++k) {
      const Index row = rows[usize(k)];
      norms[usize(k)] = data.is_sparse() ? norm_of(form, data.sparse_row(row))
                                         : simd::row_norm(data.cols(), data.dense_row(row).data());
    }
  });
}

void finish_kernel(const Kernel& kernel, float* values, Index count) {
  TAMIS_CHECK(count % kPanel == 0);
  simd::finish_sums(formula_of(kernel), values, count);
}

const char* simd_target_name() { return simd::target_name(); }

std::int64_t simd_targets() { return simd::targets(); }

}  // namespace tamis
