#include "tasks.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/error.hpp"
#include "tamis/tasks.hpp"

namespace tamis::python {
namespace {

namespace py = pybind11;

class PythonTasks : public TaskGroup {
 public:
  explicit PythonTasks(py::object run_tasks) : run_tasks_(std::move(run_tasks)) {}

  std::vector<std::string> run(const std::vector<std::string>& tasks,
                               const std::shared_ptr<const std::string>& shared,
                               const RunControl& control) override {
    const py::gil_scoped_acquire python;
    py::list given;
    for (const std::string& task : tasks) given.append(py::bytes(task));
    const py::bytes kept = kept_bytes(shared);
    const py::cpp_function cancelled([&control] { return control.cancelled(); });
    const py::list results = run_tasks_(given, kept, cancelled);
    if (results.size() != tasks.size())
      throw InvalidArgument("a result is missing: there must be one for each task");
    std::vector<std::string> answers;
    for (const py::handle result : results)
      answers.push_back(result.is_none() ? std::string() : result.cast<std::string>());
    return answers;
  }

  void run_each(Index count, const std::function<std::string(Index)>& make,
                const std::function<void(Index, std::string)>& take,
                const std::shared_ptr<const std::string>& shared,
                const RunControl& control) override {
    const py::gil_scoped_acquire python;
    if (!py::hasattr(run_tasks_, "each")) {
      const py::gil_scoped_release no_python;
      TaskGroup::run_each(count, make, take, shared, control);
      return;
    }
    // What a call of ours throws goes on from here, with its type; None ends the work of Python.
    std::exception_ptr failure;
    const auto guarded = [&](auto&& work) {
      try {
        const py::gil_scoped_release no_python;  // reading and checking rows takes time
        work();
        return true;
      } catch (...) {
        failure = std::current_exception();
        return false;
      }
    };
    const py::cpp_function make_task([&](Index i) -> py::object {
      std::string task;
      if (!guarded([&] { task = make(i); })) return py::none();
      return py::bytes(task);
    });
    const py::cpp_function take_result([&](Index i, const py::bytes& result) {
      std::string bytes(result);
      return guarded([&] { take(i, std::move(bytes)); });
    });
    const py::cpp_function cancelled([&control] { return control.cancelled(); });
    run_tasks_.attr("each")(count, make_task, take_result, kept_bytes(shared), cancelled);
    if (failure) std::rethrow_exception(failure);
  }

  Index places() const override {
    const py::gil_scoped_acquire python;
    if (!py::hasattr(run_tasks_, "places")) return 1;
    return std::max<Index>(1, run_tasks_.attr("places")().cast<Index>());
  }

 private:
  // The same object for the same bytes, so that they are sent to a worker once.
  py::bytes kept_bytes(const std::shared_ptr<const std::string>& shared) {
    forget_unused();
    if (shared_[shared.get()].first == nullptr)
      shared_[shared.get()] = {shared, py::bytes(*shared)};
    return shared_[shared.get()].second;
  }

  // Bytes that nobody else keeps belong to a problem that is finished.
  void forget_unused() {
    std::vector<py::bytes> unused;  // Python may let other threads in while it is called
    std::erase_if(shared_, [&](const auto& one) {
      const bool is_unused = one.second.first.use_count() == 1;
      if (is_unused) unused.push_back(one.second.second);
      return is_unused;
    });
    if (unused.empty() || !py::hasattr(run_tasks_, "forget")) return;
    for (const py::bytes& bytes : unused) run_tasks_.attr("forget")(bytes);
  }

  py::object run_tasks_;
  std::map<const std::string*, std::pair<std::shared_ptr<const std::string>, py::bytes>> shared_;
};

py::bytes run_one_task(const py::bytes& task, const py::bytes& shared) {
  const auto task_view = static_cast<std::string_view>(task);
  const auto shared_view = static_cast<std::string_view>(shared);
  std::string result;
  {
    const py::gil_scoped_release no_python;
    result = run_task(task_view, shared_view);
  }
  return py::bytes(result);
}

}  // namespace

std::unique_ptr<Group> task_group(py::object run_tasks) {
  if (run_tasks.is_none()) return nullptr;
  return std::make_unique<PythonTasks>(std::move(run_tasks));
}

void bind_tasks(py::module_& module) {
  module.def("run_task", run_one_task, py::arg("task"), py::arg("shared"));
}

}  // namespace tamis::python
