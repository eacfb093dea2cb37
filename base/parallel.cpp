#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tilewave {

void parallel_for(std::int64_t count, int threads, const std::function<void(std::int64_t)>& work) {
  // Indices are taken in ascending order, so every index below one that throws has been taken too,
  // and the lowest that throws is always among those that ran.
  std::atomic<std::int64_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  std::int64_t failed_index = count;
  std::exception_ptr error;
  const auto take_turns = [&] {
    while (!failed) {
      const std::int64_t index = next++;
      if (index >= count) return;
      try {
        work(index);
      } catch (...) {
        failed = true;
        const std::lock_guard lock(mutex);
        if (index < failed_index) {
          failed_index = index;
          error = std::current_exception();
        }
      }
    }
  };

  std::vector<std::jthread> helpers;
  try {
    for (std::int64_t i = 1; i < std::min<std::int64_t>(threads, count); ++i)
      helpers.emplace_back(take_turns);
  } catch (const std::system_error&) {
    // No more threads to be had: those that there are do the work.
  }
  take_turns();
  helpers.clear();  // joins
  if (error) std::rethrow_exception(error);
}

}  // namespace tilewave
