#include <algorithm>
#include <memory>

#include "base/yaml.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "sim/report/json.h"

namespace tilewave::cli {
namespace {

/// A file with any of a scheme's keys is a scheme, any other is a chip.
bool is_scheme(const yaml::Node& file) {
  const sim::Json keys = sim::scheme_json({});
  return std::any_of(file.keys.begin(), file.keys.end(),
                     [&](const std::string& key) { return keys.contains(key); });
}

std::string resolved_scheme(const quant::Scheme& scheme) {
  std::string text;
  const sim::Json json = sim::scheme_json(scheme);
  for (const auto& [key, value] : json.items()) {
    text += key + ": " + (value.is_string() ? value.get<std::string>() : value.dump()) + "\n";
  }
  return text;
}

void validate(const std::string& file, bool quiet) {
  const bool scheme = is_scheme(yaml::load(file));
  const std::string resolved =
      scheme ? resolved_scheme(quant::load_scheme(file)) : sim::to_yaml(sim::load_chip(file));
  if (!quiet) print("# " + file + ": a valid " + (scheme ? "scheme" : "chip") + "\n" + resolved);
}

}  // namespace

Command add_validate(CLI::App& app) {
  struct Options {
    std::string file;
    bool quiet = false;
  };
  CLI::App* command =
      app.add_subcommand("validate", "check a chip or scheme file and print it with every key");
  const auto options = std::make_shared<Options>();
  command->add_option("file", options->file, "the YAML file")->required()->type_name("FILE");
  command->add_flag("--quiet", options->quiet, "print nothing but errors");
  return {command, [options] { validate(options->file, options->quiet); }};
}

}  // namespace tilewave::cli
