#include "sim/systemc/context.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <mutex>
#include <systemc>

#include "base/error.h"

// The library's own main() calls it; ours never does, but the library wants the symbol.
extern "C" __attribute__((visibility("default"))) int sc_main(int, char**);
extern "C" int sc_main(int, char**) {
  return 0;
}

namespace tilewave::sim::systemc {
namespace {

/// How often one that waits for its turn asks whether it should go on waiting.
constexpr std::chrono::milliseconds kTurn{50};

std::unique_lock<std::timed_mutex> lock_process(const std::stop_token& stop) {
  static std::timed_mutex mutex;
  std::unique_lock lock(mutex, std::defer_lock);
  while (!lock.try_lock_for(kTurn)) check_stop(stop);
  return lock;
}

void make_current(sc_core::sc_simcontext* context) {
  sc_core::sc_curr_simcontext = context;
  sc_core::sc_default_global_context = context;
}

/// The context that the library's static objects belong to; it is never deleted.
sc_core::sc_simcontext* first_context() {
  static sc_core::sc_simcontext* const kFirst = sc_core::sc_get_curr_simcontext();
  return kFirst;
}

void handle_report(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
  switch (report.get_severity()) {
    case sc_core::SC_INFO:
      spdlog::debug("SystemC: {}: {}", report.get_msg_type(), report.get_msg());
      break;
    case sc_core::SC_WARNING:
      spdlog::warn("SystemC: {}: {}", report.get_msg_type(), report.get_msg());
      break;
    default:
      if ((actions & sc_core::SC_THROW) != 0) throw sc_core::sc_report(report);
  }
}

void send_reports_to_log() {
  using Handler = sc_core::sc_report_handler;
  Handler::set_handler(&handle_report);
  Handler::set_actions(sc_core::SC_FATAL, sc_core::SC_LOG | sc_core::SC_THROW);
}

}  // namespace

struct Context::Kernel {
  explicit Kernel(const std::stop_token& stop) : lock(lock_process(stop)), first(first_context()) {
    send_reports_to_log();
    context = std::make_unique<sc_core::sc_simcontext>();
    make_current(context.get());
  }
  ~Kernel() {
    context.reset();
    make_current(first);
  }
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  std::unique_lock<std::timed_mutex> lock;
  sc_core::sc_simcontext* first;
  std::unique_ptr<sc_core::sc_simcontext> context;
};

Context::Context(const std::stop_token& stop) : kernel_(std::make_unique<Kernel>(stop)) {}
Context::~Context() = default;

}  // namespace tilewave::sim::systemc
