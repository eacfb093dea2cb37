#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flow/engines.h"
#include "flow/workload.h"
#include "quant/scheme.h"
#include "sim/chip/chip.h"

// Groups of options that subcommands share. Each group adds itself to a subcommand; values that
// are not as they must be throw InputError while the command line is read.

namespace tilewave::cli {

inline constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

/// `text` as a whole number from `low` to `high`; InputError naming `where` otherwise.
std::int64_t parse_count(const std::string& where, const std::string& text, std::int64_t low,
                         std::int64_t high);

/// The same for any number.
double parse_real(const std::string& where, const std::string& text, double low, double high);

/// An option that takes a whole number from 1 on.
CLI::Option* add_count(CLI::App& app, const std::string& name, std::int64_t& value,
                       const std::string& help);
CLI::Option* add_count(CLI::App& app, const std::string& name, std::optional<std::int64_t>& value,
                       const std::string& help);

/// --chip, --set
struct ChipOptions {
  std::string chip = "tpu_v1";
  std::vector<std::string> keys;  ///< "array.rows=64"

  void add_to(CLI::App& app);
  sim::Chip load() const;
};

/// The model (an option, or the word without a name of that name), --data, --scheme
struct WorkloadOptions {
  std::string model = "mnist_cnn";
  std::string data = "mnist";
  std::string scheme;

  /// Returns the model's option.
  CLI::Option* add_to(CLI::App& app, const std::string& model_name = "--model");
  flow::Workload load(int threads) const;
};

/// --engine, --matrix-unit
void add_engine(CLI::App& app, flow::EngineChoice& choice);

/// --threads (or another name), --quiet, --log-level
struct HostOptions {
  int threads;
  bool quiet = false;

  HostOptions();
  void add_to(CLI::App& app, const std::string& threads_option = "--threads",
              const std::string& threads_help = "threads to use; no result depends on it");
};

/// --json, --csv
struct OutputOptions {
  std::string json;
  std::string csv;

  void add_to(CLI::App& app);
  /// Before any work: InputError where both go to standard output, WorkError where a folder to
  /// write into does not exist.
  void check() const;
  /// The same for a further output, which must not replace one of the `inputs` either; "" and what
  /// is not there are none. `others`: still further outputs, by option.
  void check_other(const std::string& option, const std::string& path,
                   const std::vector<std::string>& inputs,
                   const std::vector<std::pair<std::string, std::string>>& others = {}) const;
  bool takes_stdout() const { return json == "-" || csv == "-"; }
  void write(const std::string& json_text, const std::string& csv_text) const;
};

/// Throws WorkError unless the folder of `path` exists ("" and "-" are fine).
void check_destination(const std::string& path);

}  // namespace tilewave::cli
