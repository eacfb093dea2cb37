#include "cli/usage.h"

#include <vector>

#include "base/text.h"

namespace tilewave::cli {
namespace {

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// Where an error is: the subcommand, or the whole command line.
std::string place_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? "command line" : app.get_name();
}

}  // namespace

void refuse_unknown(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining();
  if (words.empty()) return;
  const std::string word = words.front().substr(0, words.front().find('='));
  if (word.starts_with("-")) {
    throw InputError(place_of(app), "unknown option " + excerpt(word),
                     suggestion(word, option_names(app)));
  }
  const std::vector<std::string> commands = command_names(app);
  if (!commands.empty()) {
    throw InputError(place_of(app), "unknown command '" + excerpt(word) + "'",
                     suggestion(word, commands));
  }
  throw InputError(place_of(app), "'" + excerpt(word) + "' is one word too many",
                   "options begin with --");
}

void refuse_empty(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& value : option->results()) {
      if (value.empty()) throw InputError(option->get_name(), "is empty", "a value");
    }
  }
}

InputError reworded(const CLI::ParseError& error) {
  // CLI11 writes "NAME: ...", "NAME is required" and "NAME excludes OTHER".
  const std::string text = error.what();
  const std::string name = text.substr(0, text.find_first_of(": "));
  if (error.get_name() == "ArgumentMismatch") {
    const bool missing = text.ends_with(" missing");
    return {name, missing ? "needs a value" : "is given more than once"};
  }
  if (error.get_name() == "RequiredError") return {name, "is required"};
  if (error.get_name() == "ExcludesError") {
    return {name, "cannot be given together with " + text.substr(text.rfind(' ') + 1)};
  }
  return {"options", excerpt(text)};
}

}  // namespace tilewave::cli
