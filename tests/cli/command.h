#pragma once

#include <string>

namespace tilewave::test {

/// What a command did.
struct Outcome {
  int code = -1;  ///< 124 if it ran longer than the limit
  std::string out;
  std::string error;
};

/// Runs the built command with `arguments`, as a shell reads them, in a pipe. `environment`: "A=B"
/// words before the command.
Outcome run_command(const std::string& arguments, const std::string& environment = "");
/// The same with standard error on a terminal of its own and standard output too.
Outcome run_on_terminal(const std::string& arguments, const std::string& environment = "");

/// Options for a run that takes a moment only.
inline const std::string kQuick = " --images 20 --batch 8 --no-reference ";

}  // namespace tilewave::test
