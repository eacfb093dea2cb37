#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <future>
#include <stop_token>
#include <type_traits>

namespace tilewave::python {

/// Python's signal handlers run in its main thread, between its instructions: so long work looks
/// for them itself, this often.
inline constexpr std::chrono::milliseconds kBetweenSignalChecks{50};

/// work(std::stop_token) on another thread, without the GIL. When a signal handler raises (Ctrl-C:
/// KeyboardInterrupt) the work is asked to stop, waited for, and the exception passed on.
template <typename Work>
std::invoke_result_t<Work, std::stop_token> interruptible(Work work) {
  namespace py = pybind11;
  const py::gil_scoped_release release;
  std::stop_source source;
  auto result = std::async(std::launch::async, work, source.get_token());
  while (result.wait_for(kBetweenSignalChecks) != std::future_status::ready) {
    const py::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() == 0) continue;
    {
      const py::gil_scoped_release release_again;
      source.request_stop();
      result.wait();
    }
    throw py::error_already_set();
  }
  return result.get();
}

}  // namespace tilewave::python
