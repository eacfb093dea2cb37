#include "cli/probes.h"

#include <tuple>

#include "base/error.h"
#include "base/text.h"

namespace tilewave::cli {

void ProbeOptions::add_to(CLI::App& app) {
  app.add_option("--vcd", vcd_,
                 "write a waveform of the array's registers here, for GTKWave (- is standard "
                 "output); for engine systemc, matrix unit pe")
      ->type_name("FILE");
  needs_vcd_ = {
      app.add_option_function<std::string>(
             "--vcd-cycles",
             [this](const std::string& text) {
               std::tie(waveform_.from, waveform_.to) = sim::parse_cycles(text);
             },
             "cycles that the waveform shows, TO not included")
          ->type_name("FROM:TO")
          ->default_str("0:10000"),
      app.add_option_function<std::string>(
             "--vcd-signals",
             [this](const std::string& text) { waveform_.signals = sim::parse_wave_signals(text); },
             "registers that it shows: edges (what enters and leaves), diagonal, or all "
             "those of PEs in 'rows R0:R1,cols C0:C1', R1 and C1 not included; at most " +
                 std::to_string(sim::kMaxWaveSignals))
          ->type_name("SIGNALS")
          ->default_str("edges")};
  app.add_option_function<std::vector<std::string>>(
         "--fault",
         [this](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             faults_.stuck.push_back(sim::parse_fault(text));
           }
         },
         "a bit of a register that is stuck: 'matrix_unit.pe_3_7.weight bit 6 stuck-at-1 from "
         "CYCLE to CYCLE' (or activation, shadow, psum, drain; stuck-at-0; from and to may be left "
         "out); may be repeated")
      ->type_name("FAULT")
      ->allow_extra_args(false);
  rate_ =
      app.add_option_function<std::string>(
             "--fault-rate",
             [this](const std::string& text) {
               faults_.rate = parse_real("--fault-rate", text, 0, sim::kMaxFaultRate);
             },
             "random flips of register bits: how many are expected per cycle in the whole array, "
             "in "
             "cycles in which its clock runs")
          ->type_name("RATE");
  seed_ = app.add_option_function<std::string>(
                 "--fault-seed",
                 [this](const std::string& text) {
                   faults_.seed =
                       static_cast<std::uint64_t>(parse_count("--fault-seed", text, 0, kNoLimit));
                 },
                 "which flips: the same seed gives the same ones")
              ->type_name("N")
              ->default_str("0");
}

void ProbeOptions::check(flow::EngineChoice& engine, const OutputOptions& output,
                         const std::vector<std::string>& inputs) const {
  if (vcd_.empty()) {
    for (const CLI::Option* option : needs_vcd_) {
      if (!option->empty()) throw InputError(option->get_name(), "needs --vcd");
    }
  } else {
    output.check_other("--vcd", vcd_, inputs);
    engine = flow::with_registers(engine, "--vcd");
  }
  if (!seed_->empty() && rate_->empty()) {
    throw InputError(seed_->get_name(), "needs --fault-rate");
  }
  if (faults_.any()) {
    engine = flow::with_registers(engine, faults_.stuck.empty() ? "--fault-rate" : "--fault");
  }
}

flow::Probes ProbeOptions::begin() {
  flow::Probes probes;
  probes.faults = faults_;
  if (vcd_.empty()) return probes;
  file_.emplace(vcd_);
  waveform_.write = [this](std::string_view part) { file_->write(part); };
  probes.waveform = waveform_;
  return probes;
}

void ProbeOptions::commit() {
  if (file_) file_->commit();
}

}  // namespace tilewave::cli
