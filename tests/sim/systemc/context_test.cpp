#include "sim/systemc/context.h"

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <catch2/catch.hpp>
#include <sstream>
#include <systemc>

using tilewave::sim::systemc::Context;

namespace {

/// What is logged while it lives.
class Log {
 public:
  Log() : before_(spdlog::default_logger()) {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>(
        "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(out_)));
    spdlog::set_pattern("%l: %v");
    spdlog::set_level(spdlog::level::debug);
  }
  ~Log() { spdlog::set_default_logger(before_); }
  std::string text() const { return out_.str(); }

 private:
  std::ostringstream out_;
  std::shared_ptr<spdlog::logger> before_;
};

}  // namespace

TEST_CASE("reports of the SystemC library are log lines, and errors are exceptions") {
  const Log log;
  const Context context({});
  SC_REPORT_INFO("here", "all is well");
  SC_REPORT_WARNING("here", "beware");
  CHECK(log.text() == "debug: SystemC: here: all is well\nwarning: SystemC: here: beware\n");
  CHECK_THROWS_AS(SC_REPORT_ERROR("here", "wrong"), sc_core::sc_report);
  CHECK_THROWS_AS(SC_REPORT_FATAL("here", "very wrong"), sc_core::sc_report);
}
