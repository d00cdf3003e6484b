// Parts of a training that run elsewhere: on the workers of a cluster whose scheduler is not ours.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/control.hpp"
#include "tamis/dataset.hpp"
#include "tamis/export.hpp"
#include "tamis/group.hpp"

namespace tamis {

/// This process alone, as RunControl::group, with workers that are no ranks: they may come and go.
/// Tasks run anywhere, in any order, more than once if they must: a task depends on its bytes
/// alone, and its result is the same everywhere. Methods that have no such parts train as without
/// it.
class TAMIS_EXPORT TaskGroup : public Group {
 public:
  ~TaskGroup() override;
  int rank() const final { return 0; }
  int size() const final { return 1; }
  std::vector<Message> all_gather(std::span<const std::byte> message) final;
  std::vector<Message> exchange(std::vector<Message> to_each) final { return to_each; }
  Message broadcast(Message message, int /*root*/) final { return message; }

  /// run_task(task, *shared) of each, in their order; empty where it was given up because
  /// control.cancelled(). `shared` is the same object for many calls. Safe from many threads.
  virtual std::vector<std::string> run(const std::vector<std::string>& tasks,
                                       const std::shared_ptr<const std::string>& shared,
                                       const RunControl& control) = 0;

  /// Tasks that are too large to make all of them first. make(i) makes the i-th of `count` when
  /// there is somebody to run it; take(i, result) gets what came of it, in any order. Both are
  /// called on the thread of the caller, and what they throw ends the call. Returns when all were
  /// taken, or when control.cancelled(): some may be missing then. The default runs them one after
  /// the other.
  virtual void run_each(Index count, const std::function<std::string(Index)>& make,
                        const std::function<void(Index, std::string)>& take,
                        const std::shared_ptr<const std::string>& shared,
                        const RunControl& control);
  /// About how many tasks run at a time; at least 1.
  virtual Index places() const { return 1; }
};

/// What a worker does, on one thread. Throws DataError for bytes that another version of the
/// library made, or that were damaged.
TAMIS_EXPORT std::string run_task(std::string_view task, std::string_view shared);

}  // namespace tamis
