// Several processes that train one model together, each with a part of the rows. The library needs
// only these few exchanges of messages; MPI, or anything else that can do them, stays outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tamis/error.hpp"
#include "tamis/export.hpp"

namespace tamis {

/// The processes ("ranks") 0 .. size() - 1. Every rank makes the same calls in the same order; a
/// call returns when every rank has made it. One thread of a rank calls at a time, but not always
/// the same one.
class TAMIS_EXPORT Group {
 public:
  using Message = std::vector<std::byte>;

  Group() = default;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  virtual ~Group();

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// The messages of all ranks, by rank.
  virtual std::vector<Message> all_gather(std::span<const std::byte> message) = 0;
  /// Message k goes to rank k; the result holds what each rank sent to this one.
  virtual std::vector<Message> exchange(std::vector<Message> to_each) = 0;
  /// The message of rank `root`, on every rank.
  virtual Message broadcast(Message message, int root) = 0;

  /// Bytes this rank has sent to others, and the number of calls.
  std::int64_t bytes_sent() const { return bytes_sent_; }
  std::int64_t num_calls() const { return num_calls_; }

 protected:
  /// For implementations: counts a call that sent this much.
  void count_call(std::int64_t bytes_sent);

 private:
  std::int64_t bytes_sent_ = 0;
  std::int64_t num_calls_ = 0;
};

/// Another rank has failed, and its error is the one to report.
class TAMIS_EXPORT GroupFailure : public Error {
 public:
  using Error::Error;
};

}  // namespace tamis
