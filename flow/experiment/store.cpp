#include "flow/experiment/store.h"

#include <sqlite3.h>

#include <cstring>
#include <utility>

#include "base/error.h"

namespace tilewave::flow {
namespace {

/// "tilw", in the header of the file.
constexpr int kApplication = 0x74696c77;
constexpr int kSchema = 1;

// Exclusive: the first that opens the file has it until it closes it or dies. With a write-ahead
// log a commit needs no fsync to outlive the process, and the file is whole even if the machine
// stops.
constexpr const char* kSetUp =
    "PRAGMA locking_mode = EXCLUSIVE;"
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = NORMAL;";
constexpr const char* kCreate =
    "CREATE TABLE points (key TEXT PRIMARY KEY, configuration TEXT NOT NULL, figures TEXT NOT NULL,"
    " failure TEXT NOT NULL) WITHOUT ROWID";

void bind(sqlite3_stmt* statement, int place, const std::string& text) {
  sqlite3_bind_text(statement, place, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

std::string text_of(sqlite3_stmt* statement, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  return text == nullptr ? "" : text;
}

}  // namespace

void Store::Close::operator()(sqlite3* database) const {
  sqlite3_close(database);
}

void Store::Close::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Store::Store(std::string path) : path_(std::move(path)) {
  open();
}

Store::~Store() = default;

void Store::open() {
  sqlite3* database = nullptr;
  const int code =
      sqlite3_open_v2(path_.c_str(), &database,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
  database_.reset(database);
  if (code != SQLITE_OK) fail(code);
  execute(kSetUp);
  execute("BEGIN EXCLUSIVE");
  const auto number = [&](const char* sql) {
    const Statement statement = prepare(sql);
    return step(statement.get()) ? sqlite3_column_int(statement.get(), 0) : 0;
  };
  const int application = number("PRAGMA application_id");
  const int schema = number("PRAGMA user_version");
  if (application == 0 && number("SELECT count(*) FROM sqlite_schema") == 0) {
    execute(kCreate);
    execute(("PRAGMA application_id = " + std::to_string(kApplication)).c_str());
    execute(("PRAGMA user_version = " + std::to_string(kSchema)).c_str());
  } else if (application != kApplication || schema != kSchema) {
    throw InputError(path_, "is no store of this version of tilewave", "another folder");
  }
  execute("COMMIT");
}

void Store::fail(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw WorkError(path_ + ": another process is working with it");
    case SQLITE_NOTADB:
      throw InputError(path_, "is no store of tilewave", "another folder");
    default:
      break;
  }
  std::string reason = sqlite3_errmsg(database_.get());
  const int error = sqlite3_system_errno(database_.get());
  if (error != 0) reason += std::string(" (") + std::strerror(error) + ")";
  throw WorkError(path_ + ": " + reason);
}

void Store::execute(const char* sql) {
  const int code = sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

Store::Statement Store::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database_.get(), sql, -1, &statement, nullptr);
  if (code != SQLITE_OK) fail(code);
  return Statement(statement);
}

bool Store::step(sqlite3_stmt* statement) {
  const int code = sqlite3_step(statement);
  if (code != SQLITE_ROW && code != SQLITE_DONE) fail(code);
  return code == SQLITE_ROW;
}

std::optional<Outcome> Store::find(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  const Statement statement = prepare("SELECT figures, failure FROM points WHERE key = ?");
  bind(statement.get(), 1, key);
  if (!step(statement.get())) return std::nullopt;
  return Outcome{text_of(statement.get(), 0), text_of(statement.get(), 1), true};
}

void Store::put(const std::string& key, const std::string& configuration, const Outcome& outcome) {
  const std::scoped_lock lock(mutex_);
  // A plain INSERT: a point that is run twice is a mistake, and not to be hidden.
  const Statement statement = prepare("INSERT INTO points VALUES (?, ?, ?, ?)");
  bind(statement.get(), 1, key);
  bind(statement.get(), 2, configuration);
  bind(statement.get(), 3, outcome.figures);
  bind(statement.get(), 4, outcome.failure);
  step(statement.get());
}

}  // namespace tilewave::flow
