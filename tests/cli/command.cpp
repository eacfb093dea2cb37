#include "tests/cli/command.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/support/temporary_directory.h"

namespace tilewave::test {
namespace {

constexpr const char* kLimitSeconds = "300";

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Outcome run_in_shell(const std::string& line, const std::string& error_path) {
  std::FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("no shell");
  Outcome outcome;
  std::array<char, 65536> buffer;
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    outcome.out.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.error = contents(error_path);
  return outcome;
}

std::string command_line(const std::string& arguments, const std::string& environment) {
  return environment + " timeout " + kLimitSeconds + " " TILEWAVE_BINARY_DIR "/tilewave " +
         arguments;
}

}  // namespace

Outcome run_command(const std::string& arguments, const std::string& environment) {
  const TemporaryDirectory directory;
  const std::string error = directory.path("error");
  return run_in_shell(command_line(arguments, environment) + " 2>" + error, error);
}

Outcome run_on_terminal(const std::string& arguments, const std::string& environment) {
  const TemporaryDirectory directory;
  // script(1) gives the command a terminal; both streams come back as one.
  return run_in_shell("script -qec '" + command_line(arguments, environment) + "' /dev/null", "");
}

}  // namespace tilewave::test
