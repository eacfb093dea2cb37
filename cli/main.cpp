#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <clocale>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "cli/usage.h"
#include "sim/report/report.h"

namespace tilewave::cli {
namespace {

constexpr int kDone = 0;
constexpr int kWorkFailed = 1;
constexpr int kInputWrong = 2;

int failed(int code, std::string message) {
  for (char& letter : message) {
    if (letter == '\n' || letter == '\r') letter = ' ';
  }
  std::fprintf(stderr, "tilewave: %s\n", message.c_str());
  return code;
}

std::string version_line() {
  return "tilewave " + sim::version() + "\n";
}

Command add_version(CLI::App& app) {
  CLI::App* command = app.add_subcommand("version", "print the version");
  return {command, [] { print(version_line()); }};
}

void parse_and_run(CLI::App& app, int argc, char** argv) {
  app.set_version_flag("--version", version_line().substr(0, version_line().size() - 1));
  const std::vector<Command> commands = {
      add_run(app),    add_compare(app),  add_sweep(app),    add_study(app),   add_chips(app),
      add_models(app), add_validate(app), add_compile(app),  add_asm(app),     add_disasm(app),
      add_exec(app),   add_diagnose(app), add_quantize(app), add_engines(app), add_version(app)};
  // Unknown words are ours to refuse: with the nearest known name.
  app.allow_extras();
  for (const Command& command : commands) command.app->allow_extras();
  app.parse(argc, argv);
  refuse_unknown(app);
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    refuse_unknown(*command.app);
    refuse_empty(*command.app);
    command.run();
    return;
  }
  throw InputError("command line", "no command is given", "`tilewave --help` lists them");
}

int guarded(int argc, char** argv) {
  CLI::App app("Simulates low-precision inference accelerators: numbers and cycles.", "tilewave");
  try {
    parse_and_run(app, argc, argv);
    return kDone;
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return failed(kInputWrong, reworded(error).what());
  } catch (const InputError& error) {
    return failed(kInputWrong, error.what());
  } catch (const std::bad_alloc&) {
    return failed(kWorkFailed, "out of memory");
  } catch (const std::exception& error) {
    return failed(kWorkFailed, error.what());
  }
}

}  // namespace
}  // namespace tilewave::cli

int main(int argc, char** argv) {
  // Which characters the terminal takes; numbers are printed as in the C locale always.
  std::setlocale(LC_CTYPE, "");
  spdlog::set_default_logger(spdlog::stderr_logger_mt("tilewave"));
  spdlog::set_pattern("%l: %v");
  spdlog::set_level(spdlog::level::warn);
  tilewave::cli::handle_interrupts();
  return tilewave::cli::guarded(argc, argv);
}
