#include "base/workers.h"

#include <algorithm>
#include <limits>
#include <system_error>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

#include "base/units.h"

namespace tilewave {
namespace {

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#endif
}

/// Waits until `value` is no longer `old`, awake at first: to be woken takes longer than most work
/// does (assumption: some 50 microseconds at 10 to 40 ns a pause).
template <typename T>
void wait_for_change(const std::atomic<T>& value, T old) {
  constexpr int kPauses = 2000;
  for (int i = 0; i < kPauses; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause();
  }
  value.wait(old, std::memory_order_acquire);
}

/// Far below any number of workers.
constexpr std::int32_t kClosed = std::numeric_limits<std::int32_t>::min() / 2;

}  // namespace

Range Part::of(std::int64_t count, std::int64_t multiple) const {
  const std::int64_t units = ceil_div(count, multiple);
  const std::int64_t first = units * index / parts * multiple;
  const std::int64_t end = units * (index + 1) / parts * multiple;
  return {std::min(first, count), std::min(end, count)};
}

Workers::Workers(int threads) : inside_(kClosed) {
  try {
    for (int worker = 1; worker < threads; ++worker) {
      threads_.emplace_back([this, worker] { serve(worker); });
    }
  } catch (const std::system_error&) {
    // No more threads to be had: those that there are do the work.
  }
}

Workers::~Workers() {
  ending_ = true;
  ++round_;
  round_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::start(const void* work, Call call) {
  work_ = work;
  call_ = call;
  error_ = nullptr;
  inside_ = 0;
  ++round_;
  round_.notify_all();
  attempt(0);
  inside_ += kClosed;
  for (std::int32_t inside = inside_; inside != kClosed; inside = inside_) {
    wait_for_change(inside_, inside);
  }
  if (error_) std::rethrow_exception(error_);
}

void Workers::attempt(int worker) {
  try {
    call_(work_, worker);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (error_ && failed_worker_ < worker) return;
    failed_worker_ = worker;
    error_ = std::current_exception();
  }
}

bool Workers::enter() {
  std::int32_t inside = inside_;
  while (inside >= 0) {
    if (inside_.compare_exchange_weak(inside, inside + 1)) return true;
  }
  return false;
}

void Workers::serve(int worker) {
  std::uint32_t seen = 0;
  while (true) {
    wait_for_change(round_, seen);
    seen = round_;
    if (ending_) return;
    if (!enter()) continue;
    attempt(worker);
    if (--inside_ == kClosed) inside_.notify_all();
  }
}

void Stage::reset() {
  next_ = 0;
  done_ = 0;
}

void Stage::count_one(std::int64_t parts) {
  if (++done_ == parts) done_.notify_all();
}

void Stage::wait(std::int64_t parts) const {
  for (std::int64_t done = done_; done < parts; done = done_) wait_for_change(done_, done);
}

}  // namespace tilewave
