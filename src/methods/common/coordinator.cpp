#include "methods/common/coordinator.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/message.hpp"
#include "tamis/error.hpp"

namespace tamis {
namespace {

// In place of a work's number.
constexpr int kEnd = -1;
constexpr int kFailed = -2;
constexpr int kCancelled = -3;

}  // namespace

int Coordinator::add(Work work) {
  works_.push_back(std::move(work));
  return static_cast<int>(works_.size()) - 1;
}

std::vector<Coordinator::Message> Coordinator::answer(int number,
                                                      std::span<const std::byte> request) {
  Status status = Status::done;
  Message result;
  try {
    result = works_[usize(number)](request);
  } catch (const Cancelled&) {
    status = Status::cancelled;
  } catch (...) {
    status = Status::failed;
    if (!own_failure_) own_failure_ = std::current_exception();
  }
  result.push_back(static_cast<std::byte>(status));
  std::vector<Message> to_each(usize(group_.size()));
  to_each[0] = std::move(result);
  return group_.exchange(std::move(to_each));
}

std::vector<Coordinator::Message> Coordinator::ask(int number, const Message& request) {
  if (!is_alone()) {
    MessageWriter message;
    message.put(number);
    message.put_list(request);
    group_.broadcast(message.take(), 0);
  }
  std::vector<Message> answers = answer(number, request);
  bool is_cancelled = false;
  if (own_failure_) std::rethrow_exception(own_failure_);
  for (Message& one : answers) {
    const auto status = static_cast<Status>(one.back());
    one.pop_back();
    if (status == Status::failed) throw GroupFailure("another rank has failed");
    is_cancelled = is_cancelled || status == Status::cancelled;
  }
  if (is_cancelled) {
    note_stop(StopReason::interrupted);
    throw Cancelled();
  }
  return answers;
}

// One rank alone notices by itself, and may ask from several threads.
void Coordinator::note_stop(StopReason reason) {
  if (!is_alone()) stopped_ = std::max(stopped_, reason);
}

void Coordinator::serve() {
  for (;;) {
    const Message message = group_.broadcast({}, 0);
    MessageReader reader(message);
    const auto number = reader.get<int>();
    if (number == kEnd) return;
    if (number == kCancelled) throw Cancelled();
    if (number == kFailed) {
      if (own_failure_) std::rethrow_exception(own_failure_);
      throw GroupFailure("another rank has failed");
    }
    answer(number, reader.get_list<std::byte>());
  }
}

void Coordinator::run(const std::function<void()>& decide) {
  if (group_.rank() != 0) {
    serve();
    return;
  }
  const auto tell = [&](int number) {
    if (is_alone()) return;
    MessageWriter message;
    message.put(number);
    group_.broadcast(message.take(), 0);
  };
  try {
    decide();
  } catch (const Cancelled&) {
    tell(kCancelled);
    throw;
  } catch (...) {
    tell(kFailed);
    throw;
  }
  tell(kEnd);
}

}  // namespace tamis
