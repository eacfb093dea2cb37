#include <fmt/format.h>

#include <memory>

#include "base/file.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "quant/onnx_writer.h"
#include "sim/report/style.h"

namespace tilewave::cli {
namespace {

struct Options {
  WorkloadOptions workload;
  HostOptions host;
  std::string output;
};

void quantize(const Options& options) {
  const WorkloadOptions& from = options.workload;
  OutputOptions{}.check_other("--output", options.output, {from.model, from.scheme});
  const flow::Workload workload = from.load(options.host.threads);
  const std::vector<std::uint8_t> file = quant::to_onnx(workload.quantized, workload.graph);
  write_file(options.output, file);
  if (options.host.quiet || options.output == "-") return;
  const quant::Scheme& scheme = workload.quantized.scheme;
  print(fmt::format("{}: weights {} bits {}, activations {} bits, {} nodes, {} bytes\n",
                    options.output, scheme.weight_bits, quant::name_of(scheme.granularity),
                    scheme.activation_bits, workload.quantized.nodes.size(),
                    sim::grouped(static_cast<std::int64_t>(file.size()))));
}

}  // namespace

Command add_quantize(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("quantize", "quantize a network and write it as ONNX in QDQ form");
  const auto options = std::make_shared<Options>();
  options->workload.model.clear();
  options->workload.add_to(*command, "model")->required();
  command->add_option("-o,--output", options->output, "the ONNX file (- is standard output)")
      ->required()
      ->type_name("FILE");
  options->host.add_to(*command);
  return {command, [options] { quantize(*options); }};
}

}  // namespace tilewave::cli
