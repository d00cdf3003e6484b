#include "training/cell_shuffle.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "base/mix.hpp"
#include "base/parallel.hpp"
#include "base/progress.hpp"
#include "data/row_messages.hpp"
#include "data/stack_rows.hpp"
#include "svm/row_order.hpp"
#include "tamis/error.hpp"
#include "training/learn_rows.hpp"

namespace tamis {
namespace {

// A file is chunks one after the other: this, positions of the halo rows, labels, costs (if rows
// have weights), own rows, rows of the halo. Labels and costs are of own rows first.
struct ChunkHeader {
  Index first_position = 0;  // of the own rows, which follow each other
  Index own = 0;
  Index halo = 0;
  Index own_bytes = 0;
  Index halo_bytes = 0;
};

template <typename T>
void append(std::span<const T> values, std::vector<std::byte>* to) {
  const auto bytes = std::as_bytes(values);
  to->insert(to->end(), bytes.begin(), bytes.end());
}

// As pack_rows() has them.
Index packed_bytes(const Matrix& rows, std::span<const Index> which) {
  if (!rows.is_sparse()) return std::ssize(which) * rows.cols() * static_cast<Index>(sizeof(float));
  Index stored = 0;
  for (const Index row : which) stored += static_cast<Index>(rows.sparse_row(row).values.size());
  return (std::ssize(which) + 2) * static_cast<Index>(sizeof(Index)) +
         stored * static_cast<Index>(sizeof(std::int32_t) + sizeof(float));
}

}  // namespace

TrainingSet LearnedRows::empty_set() const {
  TrainingSet set;
  set.classes = classes;
  set.num_classes = classes.size();
  set.kernel = kernel;
  return set;
}

TrainingSet training_rows(const Dataset& data, const LearnedRows& learned,
                          const TrainOptions& options, const RunControl& control) {
  TrainingSet set = learned.empty_set();
  set.features = learned.scaling.apply(data.features(), quiet(control));
  if (learned.makes_dense) set.features = set.features.to_dense();
  if (!set.is_regression() && data.rows() > 0)
    for (const std::int32_t code : codes_of_classes(data.labels(), learned.classes))
      set.codes.push_back(code);
  for (Index i = 0; i < data.rows(); ++i) {
    if (set.is_regression()) set.targets.push_back(data.labels().number(i));
    const std::size_t of_class = set.is_regression() ? 0 : usize(set.codes[usize(i)]);
    set.cost.push_back(cost_of_row(options, data.weight(i), learned.class_factor[of_class]));
  }
  return set;
}

// Some rows, and where they go.
struct CellShuffle::Routed {
  TrainingSet set;
  std::vector<std::int32_t> cell;        // of each row
  std::vector<std::vector<Index>> own;   // rows by cell
  std::vector<std::vector<Index>> halo;  // the same
  std::vector<Index> position;           // of each row, once it is known
};

std::uint64_t fingerprint(const CellCounts& counts, const Labels& classes,
                          const TrainOptions& options) {
  const auto with_text = [](std::uint64_t hash, std::string_view text) {
    for (const char c : text) hash = mix(hash + static_cast<unsigned char>(c) + 1);
    return mix(hash + text.size());
  };
  std::uint64_t hash = mix(counts.content);
  hash = mix(hash + static_cast<std::uint64_t>(counts.begin.back()));
  for (const Index begin : counts.begin) hash = mix(hash + static_cast<std::uint64_t>(begin));
  for (const Index halo : counts.halo) hash = mix(hash + static_cast<std::uint64_t>(halo));
  for (Index c = 0; c < classes.size(); ++c) hash = with_text(hash, classes.name(c));
  for (const OptionDescription& option : train_option_table()) {
    if (option.name == "max-seconds" || option.name == "cache" || option.name == "index") continue;
    hash = with_text(with_text(hash, option.name), option.text(options));
  }
  return hash;
}

CellShuffle::CellShuffle(const Dataset& data, const LearnedRows& learned,
                         const TrainOptions& options, const CellPlan& plan,
                         const RunControl& control)
    : data_(data),
      learned_(learned),
      options_(options),
      plan_(plan),
      control_(control),
      group_(group_of(control)) {}

Index CellShuffle::num_blocks() const {
  const Index step = rows_of_block(data_.features());
  return (data_.rows() + step - 1) / step;
}

Index CellShuffle::block_begin(Index block) const {
  return std::min(data_.rows(), block * rows_of_block(data_.features()));
}

CellShuffle::Routed CellShuffle::route(Index block) const {
  std::vector<Index> which(usize(block_begin(block + 1) - block_begin(block)));
  std::iota(which.begin(), which.end(), block_begin(block));
  std::vector<double> weights;
  for (const Index row : which) {
    if (data_.weights().empty()) break;
    weights.push_back(data_.weight(row));
  }
  const Dataset some(rows_between(data_.features(), block_begin(block), block_begin(block + 1)),
                     data_.labels().select(which), std::move(weights));
  Routed routed;
  routed.set = training_rows(some, learned_, options_, unstopped(control_));
  routed.cell.resize(which.size());
  constexpr Index kStep = 4096;
  struct HaloRow {
    Index row;
    Index cell;
  };
  std::vector<std::vector<HaloRow>> halos(which.size() / usize(kStep) + 1);
  parallel_ranges(std::ssize(which), kStep, [&](Index begin, Index end) {
    std::vector<Index> cells;
    for (Index i = begin; i < end; ++i) {
      const Index own = plan_.cell_of(routed.set.features, i);
      routed.cell[usize(i)] = static_cast<std::int32_t>(own);
      cells.clear();
      plan_.append_halos(routed.set.features, i, own, &cells);
      for (const Index cell : cells) halos[usize(i / kStep)].push_back({i, cell});
    }
  });
  routed.own.resize(usize(plan_.size()));
  routed.halo.resize(usize(plan_.size()));
  for (std::size_t i = 0; i < which.size(); ++i)
    routed.own[usize(routed.cell[i])].push_back(static_cast<Index>(i));
  for (const auto& some_halos : halos) {
    for (const HaloRow& one : some_halos) routed.halo[usize(one.cell)].push_back(one.row);
  }
  return routed;
}

const CellCounts& CellShuffle::count() {
  const auto cells = usize(plan_.size());
  std::vector<Index> own(cells, 0);
  counts_.halo.assign(cells, 0);
  counts_.bytes.assign(cells, 0);
  const Index label_bytes = learned_.classes.empty() ? sizeof(double) : sizeof(std::int32_t);
  const Index row_bytes =
      label_bytes + (learned_.has_weights ? static_cast<Index>(sizeof(double)) : 0);
  const Index first_row = sum_of_earlier(group_, data_.rows());
  // Ranks stop together, or not at all.
  bool is_stopped = false;
  ProgressMeter meter(unstopped(control_), "count", data_.rows());
  for (Index block = 0; block < num_blocks() && !is_stopped; ++block) {
    is_stopped = control_.cancelled();
    const Routed routed = route(block);
    const Matrix& rows = routed.set.features;
    for (std::size_t c = 0; c < cells; ++c) {
      const Index in_own = std::ssize(routed.own[c]);
      const Index in_halo = std::ssize(routed.halo[c]);
      if (in_own + in_halo == 0) continue;
      own[c] += in_own;
      counts_.halo[c] += in_halo;
      counts_.bytes[c] += static_cast<Index>(sizeof(ChunkHeader)) +
                          in_halo * static_cast<Index>(sizeof(Index)) +
                          (in_own + in_halo) * row_bytes + packed_bytes(rows, routed.own[c]) +
                          packed_bytes(rows, routed.halo[c]);
    }
    if (control_.checkpoint != nullptr) {
      const RowVector<std::uint64_t> hashes = hash_rows(rows);
      for (std::size_t i = 0; i < hashes.size(); ++i) {
        const double label = routed.set.is_regression() ? routed.set.targets[i]
                                                        : static_cast<double>(routed.set.codes[i]);
        std::uint64_t bits = 0;
        std::memcpy(&bits, &label, sizeof bits);
        std::uint64_t cost = 0;
        std::memcpy(&cost, &routed.set.cost[i], sizeof cost);
        const Index row = first_row + block_begin(block) + static_cast<Index>(i);
        counts_.content += mix(mix(mix(hashes[i] + bits) + cost) + static_cast<std::uint64_t>(row));
      }
    }
    meter.add(rows.rows());
  }
  if (any_of_all(group_, is_stopped)) throw Cancelled();
  counts_.content = sum_of_all(group_, counts_.content);
  const auto own_of_ranks = gather_lists(group_, own);
  const auto add_ranks = [&](std::vector<Index>* values) {
    const auto of_ranks = gather_lists(group_, *values);
    for (std::size_t c = 0; c < cells; ++c) {
      (*values)[c] = 0;
      for (const std::vector<Index>& of_rank : of_ranks) (*values)[c] += of_rank[c];
    }
  };
  add_ranks(&counts_.halo);
  add_ranks(&counts_.bytes);
  counts_.begin.assign(1, 0);
  next_.assign(cells, 0);
  for (std::size_t c = 0; c < cells; ++c) {
    Index end = counts_.begin.back();
    for (int rank = 0; rank < group_.size(); ++rank) {
      if (rank == group_.rank()) next_[c] = end;
      end += own_of_ranks[usize(rank)][c];
    }
    counts_.begin.push_back(end);
  }
  return counts_;
}

std::vector<std::byte> CellShuffle::pack(const Routed& routed, Index cell,
                                         Index first_position) const {
  const std::vector<Index>& own = routed.own[usize(cell)];
  const std::vector<Index>& halo = routed.halo[usize(cell)];
  std::vector<std::byte> bytes;
  if (own.empty() && halo.empty()) return bytes;
  const TrainingSet& set = routed.set;
  const Group::Message own_rows = pack_rows(set.features, own);
  const Group::Message halo_rows = pack_rows(set.features, halo);
  const ChunkHeader header{first_position, std::ssize(own), std::ssize(halo), std::ssize(own_rows),
                           std::ssize(halo_rows)};
  append(std::span<const ChunkHeader>(&header, 1), &bytes);
  for (const Index row : halo) append(std::span(&routed.position[usize(row)], 1), &bytes);
  for (const auto* rows : {&own, &halo}) {
    for (const Index row : *rows) {
      if (set.is_regression())
        append(std::span(&set.targets[usize(row)], 1), &bytes);
      else
        append(std::span(&set.codes[usize(row)], 1), &bytes);
    }
  }
  for (const auto* rows : {&own, &halo}) {
    for (const Index row : *rows) {
      if (learned_.has_weights) append(std::span(&set.cost[usize(row)], 1), &bytes);
    }
  }
  append(std::span<const std::byte>(own_rows), &bytes);
  append(std::span<const std::byte>(halo_rows), &bytes);
  return bytes;
}

void CellShuffle::make_files(CellFiles* files) const {
  const std::int64_t all =
      std::accumulate(counts_.bytes.begin(), counts_.bytes.end(), std::int64_t{0});
  for (Index c = group_.rank(); c < plan_.size(); c += group_.size())
    files->make_rows(c, counts_.bytes[usize(c)], all);
}

void CellShuffle::write_blocks(CellFiles* files) {
  const auto ranks = static_cast<Index>(group_.size());
  const Index rounds = largest_of_all(group_, num_blocks());
  ProgressMeter meter(unstopped(control_), "shuffle", data_.rows());
  for (Index block = 0; block < rounds; ++block) {
    if (any_of_all(group_, control_.cancelled())) throw Cancelled();
    Routed routed = route(std::min(block, num_blocks()));
    const std::vector<Index> first = next_;
    for (const std::int32_t cell : routed.cell) routed.position.push_back(next_[usize(cell)]++);
    std::vector<std::vector<std::byte>> packed(usize(plan_.size()));
    parallel_each(plan_.size(), [&](Index c) {
      packed[usize(c)] = pack(routed, c, first[usize(c)]);
      if (ranks == 1 && !packed[usize(c)].empty()) files->append_rows(c, packed[usize(c)]);
    });
    if (ranks > 1) {
      // To each rank its cells, ascending: the length, then the bytes.
      std::vector<Group::Message> to_each(usize(ranks));
      for (Index c = 0; c < plan_.size(); ++c) {
        Group::Message& message = to_each[usize(c % ranks)];
        const Index length = std::ssize(packed[usize(c)]);
        append(std::span(&length, 1), &message);
        append(std::span<const std::byte>(packed[usize(c)]), &message);
        packed[usize(c)] = {};
      }
      for (const Group::Message& message : group_.exchange(std::move(to_each))) {
        std::span<const std::byte> left(message);
        for (Index c = group_.rank(); c < plan_.size(); c += ranks) {
          Index length = 0;
          std::memcpy(&length, left.data(), sizeof length);
          if (length > 0) files->append_rows(c, left.subspan(sizeof length, usize(length)));
          left = left.subspan(sizeof length + usize(length));
        }
      }
    }
    meter.add(routed.set.rows());
  }
}

void CellShuffle::write(CellFiles* files) {
  try {
    make_files(files);
    write_blocks(files);
  } catch (...) {
    for (Index c = group_.rank(); c < plan_.size(); c += group_.size()) files->drop_rows(c);
    throw;
  }
}

namespace {

// Where a chunk is in the file of its cell.
struct Chunk {
  ChunkHeader header;
  std::int64_t offset = 0;  // behind the header
};

template <typename T>
std::vector<T> read_values(const CellFiles& files, Index cell, std::int64_t* offset, Index count) {
  std::vector<T> values(usize(count));
  files.read_rows(cell, *offset, std::as_writable_bytes(std::span<T>(values)));
  *offset += count * static_cast<Index>(sizeof(T));
  return values;
}

std::vector<Chunk> chunks_of(const CellFiles& files, Index cell, Index facts_bytes) {
  std::vector<Chunk> chunks;
  const std::int64_t end = files.rows_bytes(cell);
  for (std::int64_t at = 0; at < end;) {
    Chunk chunk;
    chunk.header = read_values<ChunkHeader>(files, cell, &at, 1)[0];
    chunk.offset = at;
    const ChunkHeader& header = chunk.header;
    at += header.halo * static_cast<Index>(sizeof(Index)) +
          (header.own + header.halo) * facts_bytes + header.own_bytes + header.halo_bytes;
    if (header.own < 0 || header.halo < 0 || header.own_bytes < 0 || header.halo_bytes < 0 ||
        at > end)
      throw DataError(files.folder() + ": the rows of a cell are damaged; remove the folder");
    chunks.push_back(chunk);
  }
  std::sort(chunks.begin(), chunks.end(), [](const Chunk& a, const Chunk& b) {
    return a.header.first_position < b.header.first_position;
  });
  return chunks;
}

// Rows of one kind, own or halo, as they are put together.
struct Gathered {
  std::vector<Matrix> features;
  RowVector<std::int32_t> codes;
  RowVector<double> targets;
  RowVector<double> cost;

  template <typename T>
  static void add(const std::vector<T>& from, Index begin, Index end, RowVector<T>* to) {
    to->insert(to->end(), from.begin() + begin, from.begin() + end);
  }
};

template <typename List>
void append_in_order(const List& from, std::span<const Index> order, List* to) {
  if (from.empty()) return;
  for (const Index i : order) to->push_back(from[usize(i)]);
}

}  // namespace

ReadCell read_cell(const CellFiles& files, Index cell, const LearnedRows& learned,
                   const TrainOptions& options, const Matrix& like) {
  const bool is_regression = learned.classes.empty();
  const Index facts_bytes = (is_regression ? sizeof(double) : sizeof(std::int32_t)) +
                            (learned.has_weights ? sizeof(double) : 0);
  Gathered own;
  Gathered halo;
  std::vector<Index> positions;
  for (const Chunk& chunk : chunks_of(files, cell, facts_bytes)) {
    const ChunkHeader& header = chunk.header;
    const Index all = header.own + header.halo;
    std::int64_t at = chunk.offset;
    const auto of_halo = read_values<Index>(files, cell, &at, header.halo);
    positions.insert(positions.end(), of_halo.begin(), of_halo.end());
    std::vector<std::int32_t> codes;
    std::vector<double> targets;
    if (is_regression)
      targets = read_values<double>(files, cell, &at, all);
    else
      codes = read_values<std::int32_t>(files, cell, &at, all);
    if (std::any_of(codes.begin(), codes.end(),
                    [&](std::int32_t code) { return code < 0 || code >= learned.classes.size(); }))
      throw DataError(files.folder() + ": the rows of a cell are damaged; remove the folder");
    std::vector<double> cost;
    if (learned.has_weights) {
      cost = read_values<double>(files, cell, &at, all);
    } else {
      for (Index i = 0; i < all; ++i)
        cost.push_back(cost_of_row(
            options, 1.0, learned.class_factor[is_regression ? 0 : usize(codes[usize(i)])]));
    }
    for (Gathered* to : {&own, &halo}) {
      const Index begin = to == &own ? 0 : header.own;
      const Index end = to == &own ? header.own : all;
      if (is_regression)
        Gathered::add(targets, begin, end, &to->targets);
      else
        Gathered::add(codes, begin, end, &to->codes);
      Gathered::add(cost, begin, end, &to->cost);
      const Index bytes = to == &own ? header.own_bytes : header.halo_bytes;
      Matrix rows = unpack_rows(read_values<std::byte>(files, cell, &at, bytes), like);
      if (rows.rows() > 0) to->features.push_back(std::move(rows));
    }
  }
  ReadCell result;
  result.set = learned.empty_set();
  std::vector<Index> order(positions.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(),
            [&](Index a, Index b) { return positions[usize(a)] < positions[usize(b)]; });
  append_in_order(positions, order, &result.halo_positions);
  TrainingSet& set = result.set;
  set.codes = std::move(own.codes);
  set.targets = std::move(own.targets);
  set.cost = std::move(own.cost);
  append_in_order(halo.codes, order, &set.codes);
  append_in_order(halo.targets, order, &set.targets);
  append_in_order(halo.cost, order, &set.cost);
  if (!halo.features.empty()) own.features.push_back(stack_rows(halo.features).select(order));
  halo.features.clear();
  set.features = own.features.size() == 1 ? own.features[0] : stack_rows(own.features);
  return result;
}

}  // namespace tamis
