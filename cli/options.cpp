#include "cli/options.h"

#include <spdlog/spdlog.h>

#include <charconv>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "flow/host.h"

namespace tilewave::cli {
namespace {

constexpr std::int64_t kMaxThreads = 1024;

const std::vector<std::string>& log_levels() {
  static const std::vector<std::string> kLevels = {"off", "error", "warn", "info", "debug"};
  return kLevels;
}

void set_log_level(const std::string& level) {
  const auto& known = log_levels();
  if (std::find(known.begin(), known.end(), level) == known.end()) {
    throw InputError("--log-level", "'" + excerpt(level) + "' is not a level",
                     "one of " + join(known, ", "));
  }
  spdlog::set_level(spdlog::level::from_str(level));
}

}  // namespace

std::int64_t parse_count(const std::string& where, const std::string& text, std::int64_t low,
                         std::int64_t high) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc{} && rest == end && value >= low && value <= high) return value;
  const std::string allowed = high == kNoLimit ? "a whole number from " + std::to_string(low)
                                               : "a whole number from " + std::to_string(low) +
                                                     " to " + std::to_string(high);
  throw InputError(where, "'" + excerpt(text) + "'", allowed);
}

double parse_real(const std::string& where, const std::string& text, double low, double high) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  // Not a number is not in the range either.
  if (error == std::errc{} && rest == end && value >= low && value <= high) return value;
  throw InputError(where, "'" + excerpt(text) + "'",
                   "a number from " + number_text(low) + " to " + number_text(high));
}

CLI::Option* add_count(CLI::App& app, const std::string& name, std::optional<std::int64_t>& value,
                       const std::string& help) {
  return app
      .add_option_function<std::string>(
          name,
          [&value, name](const std::string& text) { value = parse_count(name, text, 1, kNoLimit); },
          help)
      ->type_name("N");
}

CLI::Option* add_count(CLI::App& app, const std::string& name, std::int64_t& value,
                       const std::string& help) {
  return app
      .add_option_function<std::string>(
          name,
          [&value, name](const std::string& text) { value = parse_count(name, text, 1, kNoLimit); },
          help)
      ->type_name("N")
      ->default_str(std::to_string(value));
}

void ChipOptions::add_to(CLI::App& app) {
  app.add_option("--chip", chip, "a preset (see `tilewave chips`) or a YAML file")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  app.add_option("--set", keys, "change a key of the chip, as array.rows=64; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

sim::Chip ChipOptions::load() const {
  std::vector<std::pair<std::string, std::string>> values;
  for (const std::string& key : keys) {
    const std::size_t equals = key.find('=');
    if (equals == std::string::npos) {
      throw InputError("--set", "'" + excerpt(key) + "' has no '='", "as array.rows=64");
    }
    values.emplace_back(key.substr(0, equals), key.substr(equals + 1));
  }
  return sim::with_keys(sim::load_chip(chip), values);
}

CLI::Option* WorkloadOptions::add_to(CLI::App& app, const std::string& model_name) {
  app.add_option("--data", data,
                 "mnist, fashion_mnist, mnist/fgsm_0.10 (or 0.05, 0.20), or a folder of IDX files")
      ->type_name("NAME|DIR")
      ->capture_default_str();
  app.add_option("--scheme", scheme, "a YAML file that says how to quantize")->type_name("FILE");
  return app.add_option(model_name, model, "a network (see `tilewave models`) or an ONNX file")
      ->type_name("NAME|FILE")
      ->capture_default_str();
}

flow::Workload WorkloadOptions::load(int threads) const {
  return flow::load_workload(
      model, data, scheme.empty() ? quant::Scheme{} : quant::load_scheme(scheme), threads);
}

void add_engine(CLI::App& app, flow::EngineChoice& choice) {
  app.add_option("--engine", choice.engine, "how to simulate: " + join(flow::engine_names(), ", "))
      ->capture_default_str();
  app.add_option("--matrix-unit", choice.matrix_unit,
                 "how systemc models the array: " + join(flow::matrix_unit_names(), ", "));
}

HostOptions::HostOptions() : threads(flow::available_threads()) {}

void HostOptions::add_to(CLI::App& app, const std::string& threads_option,
                         const std::string& threads_help) {
  app.add_option_function<std::string>(
         threads_option,
         [this, threads_option](const std::string& text) {
           threads = static_cast<int>(parse_count(threads_option, text, 1, kMaxThreads));
         },
         threads_help)
      ->type_name("N")
      ->default_str("all cores");
  app.add_flag("--quiet", quiet, "print nothing but errors and what goes to -");
  app.add_option_function<std::string>("--log-level", set_log_level,
                                       "what to log to standard error: " + join(log_levels(), ", "))
      ->type_name("LEVEL")
      ->default_str("warn");
}

void OutputOptions::add_to(CLI::App& app) {
  app.add_option("--json", json, "write the result here (- is standard output)")->type_name("FILE");
  app.add_option("--csv", csv, "write a table here (- is standard output)")->type_name("FILE");
}

namespace {

/// Whether both names lead to one file, which need not exist yet.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code failure;
  const auto first = std::filesystem::weakly_canonical(std::filesystem::absolute(a), failure);
  const auto second = std::filesystem::weakly_canonical(std::filesystem::absolute(b), failure);
  return !failure && first == second;
}

}  // namespace

void OutputOptions::check() const {
  if (json == "-" && csv == "-") {
    throw InputError("--csv", "'-' is taken by --json", "only one output can go to '-'");
  }
  if (!json.empty() && !csv.empty() && same_file(json, csv)) {
    throw InputError("--csv", "'" + excerpt(csv) + "' is also --json's file", "two files");
  }
  check_destination(json);
  check_destination(csv);
}

void OutputOptions::check_other(
    const std::string& option, const std::string& path, const std::vector<std::string>& inputs,
    const std::vector<std::pair<std::string, std::string>>& others) const {
  std::vector<std::pair<std::string, std::string>> outputs = {{"--json", json}, {"--csv", csv}};
  outputs.insert(outputs.end(), others.begin(), others.end());
  for (const auto& [name, taken] : outputs) {
    if (path == "-" && taken == "-") {
      throw InputError(option, "'-' is taken by " + name, "only one output can go to '-'");
    }
    if (!taken.empty() && same_file(path, taken)) {
      throw InputError(option, "'" + excerpt(path) + "' is also " + name + "'s file", "two files");
    }
  }
  for (const std::string& input : inputs) {
    if (!input.empty() && std::filesystem::exists(input) && same_file(path, input)) {
      throw InputError(option, "'" + excerpt(path) + "' is an input of this run", "another file");
    }
  }
  check_destination(path);
}

void OutputOptions::write(const std::string& json_text, const std::string& csv_text) const {
  if (!json.empty()) write_file(json, json_text);
  if (!csv.empty()) write_file(csv, csv_text);
}

void check_destination(const std::string& path) {
  if (path.empty() || path == "-") return;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder)) {
    throw WorkError(path + ": there is no folder " + folder.string());
  }
}

}  // namespace tilewave::cli
