#include "cli/programs.h"

#include <memory>

#include "base/file.h"
#include "cli/command.h"
#include "cli/options.h"

namespace tilewave::cli {
namespace {

/// More than any network that fits a simulated weight memory of a few GiB needs.
constexpr std::size_t kMaxProgramBytes = std::size_t{4} << 30;

struct Files {
  std::string from;
  std::string to = "-";
};

std::shared_ptr<Files> add_files(CLI::App& command, const std::string& from) {
  const auto files = std::make_shared<Files>();
  command.add_option("file", files->from, from)->required()->type_name("FILE");
  command.add_option("-o,--output", files->to, "where to write (- is standard output)")
      ->type_name("FILE")
      ->capture_default_str();
  return files;
}

void assemble(const Files& files) {
  check_destination(files.to);
  const std::string text = read_text(files.from, kMaxProgramBytes);
  write_program(files.to, sim::assemble(text, files.from));
}

void disassemble(const Files& files) {
  check_destination(files.to);
  write_file(files.to, sim::disassemble(read_program(files.from)));
}

}  // namespace

sim::Program read_program(const std::string& path) {
  return sim::program_from_bytes(read_bytes(path, kMaxProgramBytes), path);
}

void write_program(const std::string& path, const sim::Program& program) {
  write_file(path, sim::to_bytes(program));
}

Command add_asm(CLI::App& app) {
  CLI::App* command = app.add_subcommand("asm", "translate a program's text into its binary form");
  const auto files = add_files(*command, "the text (.tws)");
  return {command, [files] { assemble(*files); }};
}

Command add_disasm(CLI::App& app) {
  CLI::App* command = app.add_subcommand("disasm", "print a binary program as text");
  const auto files = add_files(*command, "the program (.twp)");
  return {command, [files] { disassemble(*files); }};
}

}  // namespace tilewave::cli
