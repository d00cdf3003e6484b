#include "listening.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

namespace tamis::python {
namespace {

namespace py = pybind11;

// Beside the 100 ms in which work notices that it is cancelled, hardly anything.
constexpr std::chrono::milliseconds kListenEvery{10};

py::dict to_dict(const Progress& progress) {
  py::dict result;
  result["phase"] = progress.phase;
  result["done_fraction"] = progress.done_fraction;
  result["elapsed_seconds"] = progress.elapsed_seconds;
  result["left_seconds"] = progress.left_seconds;
  result["detail"] = progress.detail;
  return result;
}

/// What the working and the listening thread share. `mutex` guards all but `cancel`.
struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Progress> news;
  bool is_done = false;
  std::exception_ptr failure;
  std::atomic<bool> cancel = false;
};

void listen(Shared& shared, const py::object& on_progress) {
  std::unique_lock<std::mutex> lock(shared.mutex);
  while (!shared.is_done) {
    shared.changed.wait_for(lock, kListenEvery, [&] { return shared.is_done || shared.news; });
    const auto news = std::exchange(shared.news, std::nullopt);
    lock.unlock();
    {
      const py::gil_scoped_acquire python;
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      if (news) on_progress(to_dict(*news));
    }
    lock.lock();
  }
}

}  // namespace

void run_briefly(const std::function<void(const RunControl&)>& work) {
  RunControl control;
  control.threads = 1;
  const py::gil_scoped_release no_python;
  work(control);
}

void run_listening(int threads, std::int64_t memory_bytes, const py::object& on_progress,
                   const std::function<void(const RunControl&)>& work) {
  Shared shared;
  RunControl control;
  control.threads = threads;
  control.memory_bytes = memory_bytes;
  control.cancel = &shared.cancel;
  if (!on_progress.is_none()) {
    control.on_progress = [&](const Progress& progress) {
      const std::lock_guard<std::mutex> lock(shared.mutex);
      shared.news = progress;
      shared.changed.notify_one();
    };
  }
  std::exception_ptr raised;
  {
    const py::gil_scoped_release no_python;
    std::thread worker([&] {
      std::exception_ptr failure;
      try {
        work(control);
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard<std::mutex> lock(shared.mutex);
      shared.failure = failure;
      shared.is_done = true;
      shared.changed.notify_one();
    });
    try {
      listen(shared, on_progress);
    } catch (const py::error_already_set&) {
      raised = std::current_exception();
      shared.cancel = true;
    }
    worker.join();
  }
  if (raised) std::rethrow_exception(raised);
  if (shared.failure) std::rethrow_exception(shared.failure);
}

}  // namespace tamis::python
