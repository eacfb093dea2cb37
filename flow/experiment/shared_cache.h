#pragma once

#include <cstddef>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace tilewave::flow {

/// Values that take long to make, by key, for many threads: each is made by the first that asks for
/// it, and the others wait for that one. The most recently used are kept.
template <typename T>
class SharedCache {
 public:
  using Value = std::shared_ptr<const T>;

  explicit SharedCache(std::size_t capacity) : capacity_(capacity) {}

  /// make() returns a T. If it throws, all who wait get the exception, and nothing is kept.
  template <typename Make>
  Value get(const std::string& key, const Make& make) {
    std::promise<Value> promise;
    std::shared_future<Value> future;
    {
      const std::scoped_lock lock(mutex_);
      for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
        if (entry->key != key) continue;
        entries_.splice(entries_.begin(), entries_, entry);
        future = entry->value;
        break;
      }
      if (!future.valid()) {
        entries_.push_front({key, promise.get_future().share()});
        if (entries_.size() > capacity_) entries_.pop_back();
      }
    }
    if (future.valid()) return future.get();
    try {
      const Value value = std::make_shared<const T>(make());
      promise.set_value(value);
      return value;
    } catch (...) {
      promise.set_exception(std::current_exception());
      forget(key);
      throw;
    }
  }

 private:
  struct Entry {
    std::string key;
    std::shared_future<Value> value;
  };

  void forget(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    entries_.remove_if([&](const Entry& entry) { return entry.key == key; });
  }

  std::size_t capacity_;
  std::mutex mutex_;
  std::list<Entry> entries_;  ///< most recently used first
};

}  // namespace tilewave::flow
