// Training where one rank decides and all work: the code of a method runs on the first rank of a
// group, and the others do what it asks for, each with its own rows.
#pragma once

#include <exception>
#include <functional>
#include <span>
#include <vector>

#include "tamis/group.hpp"
#include "tamis/report.hpp"

namespace tamis {

class Coordinator {
 public:
  using Message = Group::Message;
  /// What every rank does when it is asked, all at the same time. Calls to the group come before
  /// anything that can be cancelled.
  using Work = std::function<Message(std::span<const std::byte> request)>;

  explicit Coordinator(Group& group) : group_(group) {}
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  Group& group() const { return group_; }
  bool is_alone() const { return group_.size() == 1; }
  /// Every rank adds the same kinds of work in the same order. Returns the number to ask for.
  int add(Work work);

  /// On the first rank, within run(): the answers of all ranks, by rank. Throws Cancelled when some
  /// rank was cancelled, GroupFailure when some rank failed.
  std::vector<Message> ask(int number, const Message& request);

  /// On the first rank: why some rank left work undone, which the first need not have noticed
  /// itself; `converged` while none has. What a work says in its answer is noted by who asked.
  StopReason stopped() const { return stopped_; }
  void note_stop(StopReason reason);

  /// Runs `decide` on the first rank; the others work until it ends. What it throws, or what some
  /// work threw, ends all ranks: the others than the one that failed throw GroupFailure, and
  /// Cancelled where that was it.
  void run(const std::function<void()>& decide);

 private:
  enum class Status : std::uint8_t { done, cancelled, failed };

  /// Does the work, and sends the answer to the first rank, which gets those of all.
  std::vector<Message> answer(int number, std::span<const std::byte> request);
  void serve();

  Group& group_;
  std::vector<Work> works_;
  std::exception_ptr own_failure_;
  StopReason stopped_ = StopReason::converged;
};

}  // namespace tamis
