#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tilewave {

/// A part of [0, count).
struct Range {
  std::int64_t first, end;
};

/// One of several parts of some work.
struct Part {
  std::int64_t index = 0, parts = 1;
  /// Its share of `count` things, in steps of `multiple` except at the end.
  Range of(std::int64_t count, std::int64_t multiple = 1) const;
};

/// Threads that are kept between calls, for work of microseconds: they wait awake for some time
/// before they sleep, and no one waits for a thread that has not begun. Not thread-safe.
class Workers {
 public:
  /// The caller's thread is one of `threads`, which are 1 or more. Fewer if no more are to be had.
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int count() const { return static_cast<int>(threads_.size()) + 1; }

  /// Calls work(0) on the caller's thread and meanwhile work(1) ... work(count() - 1) on those
  /// others that come in time, never twice at once on one; returns when all that came are done. So
  /// `work` takes what there is to do from something shared. Allocates nothing. Rethrows the
  /// exception of the lowest worker that throws.
  template <typename Work>
  void run(const Work& work) {
    start(&work, [](const void* that, int worker) { (*static_cast<const Work*>(that))(worker); });
  }

 private:
  using Call = void (*)(const void* work, int worker);
  void start(const void* work, Call call);
  void attempt(int worker);
  void serve(int worker);
  bool enter();

  std::vector<std::thread> threads_;
  const void* work_ = nullptr;
  Call call_ = nullptr;
  std::atomic<bool> ending_ = false;
  std::atomic<std::uint32_t> round_ = 0;
  std::atomic<std::int32_t> inside_;  ///< workers at work; less kClosed where none may begin
  std::mutex mutex_;
  int failed_worker_ = 0;
  std::exception_ptr error_;
};

/// Work in parts that workers take in turns, and wait for.
class Stage {
 public:
  /// To be called while no one is in `run`.
  void reset();
  /// Calls work(index) for parts that no one has taken yet; returns once all of `parts` are done,
  /// by whomever. All that call it give the same parts.
  template <typename Work>
  void run(std::int64_t parts, const Work& work) {
    for (std::int64_t index = next_++; index < parts; index = next_++) {
      const Done done{*this, parts};
      work(index);
    }
    wait(parts);
  }

 private:
  /// Counts a part even if it throws, so that no one waits for it.
  struct Done {
    Stage& stage;
    std::int64_t parts;
    ~Done() { stage.count_one(parts); }
  };
  void count_one(std::int64_t parts);
  void wait(std::int64_t parts) const;

  std::atomic<std::int64_t> next_ = 0;
  std::atomic<std::int64_t> done_ = 0;
};

/// work(Part) for each of the parts: alone if there is one, else with all that call it.
template <typename Work>
void for_each_part(Stage& stage, std::int64_t parts, const Work& work) {
  if (parts == 1) return work(Part{});
  stage.run(parts, [&](std::int64_t index) { work(Part{index, parts}); });
}

}  // namespace tilewave
