#pragma once

#include <cstdint>
#include <functional>

namespace tilewave {

/// Calls work(0) ... work(count - 1), each once, on up to `threads` threads (the caller's is one of
/// them), in any order. If calls throw, no new ones start, and the exception of the lowest index is
/// rethrown: the same one whatever the number of threads. Results are the same for any number of
/// threads if each call writes only what belongs to its index.
void parallel_for(std::int64_t count, int threads, const std::function<void(std::int64_t)>& work);

}  // namespace tilewave
