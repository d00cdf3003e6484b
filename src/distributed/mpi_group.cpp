#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "tamis/mpi.hpp"

namespace tamis {
namespace {

// Counts of MPI are 32-bit, and what a message takes is pinned or copied: long ones go in pieces.
constexpr std::int64_t kPieceBytes = std::int64_t{1} << 28;

// The start of a message that travels with its size: most are not longer, and take one exchange
// instead of two.
struct Head {
  std::int64_t size = 0;
  std::array<std::byte, 56> start{};
};

std::int64_t length(const Group::Message& message) {
  return static_cast<std::int64_t>(message.size());
}

std::size_t at(std::int64_t offset) { return static_cast<std::size_t>(offset); }

int piece(std::int64_t bytes_left) { return static_cast<int>(std::min(bytes_left, kPieceBytes)); }

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int size = 0;
  MPI_Error_string(code, text.data(), &size);
  throw Error(std::string(what) + ": " + std::string(text.data(), at(size)));
}

class MpiGroup : public Group {
 public:
  MpiGroup() {
    int initialized = 0;
    int threads = MPI_THREAD_SINGLE;
    check(MPI_Initialized(&initialized), "MPI");
    if (initialized != 0) check(MPI_Query_thread(&threads), "MPI");
    if (initialized == 0 || threads < MPI_THREAD_SERIALIZED)
      throw Error("MPI must be initialized with MPI_THREAD_SERIALIZED");
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI");
    check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI");
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::vector<Message> all_gather(std::span<const std::byte> message) override {
    const auto mine = static_cast<std::int64_t>(message.size());
    count_call(mine * (size_ - 1));
    Head head{mine, {}};
    std::copy_n(message.begin(), std::min(message.size(), head.start.size()), head.start.begin());
    std::vector<Head> heads(at(size_));
    check(MPI_Allgather(&head, sizeof(Head), MPI_BYTE, heads.data(), sizeof(Head), MPI_BYTE,
                        MPI_COMM_WORLD),
          "MPI_Allgather");
    std::int64_t total = 0;
    std::int64_t longest = 0;
    std::vector<std::int64_t> sizes;
    sizes.reserve(heads.size());
    for (const Head& one : heads) {
      sizes.push_back(one.size);
      total += one.size;
      longest = std::max(longest, one.size);
    }
    if (at(longest) <= head.start.size()) {
      std::vector<Message> all;
      all.reserve(heads.size());
      for (const Head& one : heads)
        all.emplace_back(one.start.begin(), one.start.begin() + one.size);
      return all;
    }
    return total <= kPieceBytes ? gather_at_once(message, sizes, total)
                                : gather_one_by_one(message, sizes);
  }

  std::vector<Message> exchange(std::vector<Message> to_each) override {
    std::vector<std::int64_t> out(at(size_));
    std::vector<std::int64_t> in(at(size_));
    std::int64_t bytes = 0;
    for (int r = 0; r < size_; ++r) {
      out[at(r)] = length(to_each[at(r)]);
      if (r != rank_) bytes += out[at(r)];
    }
    count_call(bytes);
    check(MPI_Alltoall(out.data(), 1, MPI_INT64_T, in.data(), 1, MPI_INT64_T, MPI_COMM_WORLD),
          "MPI_Alltoall");
    std::vector<Message> from_each(at(size_));
    std::vector<MPI_Request> requests;
    const auto start = [&](bool receives, int r, std::byte* data, std::int64_t size) {
      for (std::int64_t done = 0; done < size; done += kPieceBytes) {
        requests.emplace_back();
        const int count = piece(size - done);
        check(receives
                  ? MPI_Irecv(data + done, count, MPI_BYTE, r, 0, MPI_COMM_WORLD, &requests.back())
                  : MPI_Isend(data + done, count, MPI_BYTE, r, 0, MPI_COMM_WORLD, &requests.back()),
              "MPI_Isend");
      }
    };
    for (int r = 0; r < size_; ++r) {
      if (r == rank_) continue;
      from_each[at(r)].resize(at(in[at(r)]));
      start(true, r, from_each[at(r)].data(), in[at(r)]);
    }
    for (int r = 0; r < size_; ++r) {
      if (r != rank_) start(false, r, to_each[at(r)].data(), out[at(r)]);
    }
    check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
          "MPI_Waitall");
    from_each[at(rank_)] = std::move(to_each[at(rank_)]);
    return from_each;
  }

  Message broadcast(Message message, int root) override {
    std::int64_t size = length(message);
    check(MPI_Bcast(&size, 1, MPI_INT64_T, root, MPI_COMM_WORLD), "MPI_Bcast");
    if (rank_ == root) count_call(size * (size_ - 1));
    message.resize(at(size));
    send_to_all(message, root);
    return message;
  }

 private:
  static void send_to_all(Message& message, int root) {
    for (std::int64_t done = 0; done < length(message); done += kPieceBytes) {
      check(MPI_Bcast(message.data() + done, piece(length(message) - done), MPI_BYTE, root,
                      MPI_COMM_WORLD),
            "MPI_Bcast");
    }
  }

  std::vector<Message> gather_at_once(std::span<const std::byte> message,
                                      const std::vector<std::int64_t>& sizes,
                                      std::int64_t total) const {
    std::vector<int> counts;
    std::vector<int> places;
    int place = 0;
    for (const std::int64_t bytes : sizes) {
      counts.push_back(static_cast<int>(bytes));
      places.push_back(place);
      place += static_cast<int>(bytes);
    }
    Message together(at(total));
    check(MPI_Allgatherv(message.data(), static_cast<int>(message.size()), MPI_BYTE,
                         together.data(), counts.data(), places.data(), MPI_BYTE, MPI_COMM_WORLD),
          "MPI_Allgatherv");
    std::vector<Message> all;
    for (int r = 0; r < size_; ++r) {
      const auto first = together.begin() + places[at(r)];
      all.emplace_back(first, first + counts[at(r)]);
    }
    return all;
  }

  std::vector<Message> gather_one_by_one(std::span<const std::byte> message,
                                         const std::vector<std::int64_t>& sizes) const {
    std::vector<Message> all;
    for (int r = 0; r < size_; ++r) {
      all.emplace_back(at(sizes[at(r)]));
      if (r == rank_) std::copy(message.begin(), message.end(), all.back().begin());
      send_to_all(all.back(), r);
    }
    return all;
  }

  int rank_ = 0;
  int size_ = 1;
};

}  // namespace

std::unique_ptr<Group> mpi_group() { return std::make_unique<MpiGroup>(); }

}  // namespace tamis
