#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "flow/experiment/point.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tilewave::flow {

/// Outcomes that are final, by the point's key, in an SQLite file. What put() has returned from is
/// there after the process has been killed at any moment; nothing else is. One Store of a file can
/// be open at a time, in all processes; the operating system ends that with the process.
class Store {
 public:
  /// Opens or creates the file. Throws WorkError if another Store has it, or it cannot be read or
  /// written, and InputError if it is something else.
  explicit Store(std::string path);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  std::optional<Outcome> find(const std::string& key);
  /// Many threads may call it. Throws WorkError if it could not be written: then it is not there.
  void put(const std::string& key, const std::string& configuration, const Outcome& outcome);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
    void operator()(sqlite3_stmt* statement) const;
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Close>;

  void open();
  Statement prepare(const char* sql);
  /// Runs the statement a step further; whether there is a row.
  bool step(sqlite3_stmt* statement);
  void execute(const char* sql);
  [[noreturn]] void fail(int code);

  std::string path_;
  std::mutex mutex_;
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace tilewave::flow
