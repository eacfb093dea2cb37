#include <fmt/format.h>

#include "cli/command.h"
#include "cli/terminal.h"
#include "flow/model_facts.h"
#include "models/onnx_reader.h"
#include "sim/report/style.h"

namespace tilewave::cli {
namespace {

std::string line(const std::string& name) {
  const models::Graph graph = models::load_model(name);
  const flow::ModelFacts facts = flow::model_facts(graph);
  const models::Shape& input = graph.nodes().front().shape;
  return fmt::format(" {:<16} {:>15} {:>8} {:>16} {:>14}\n", name,
                     fmt::format("{} x {} x {}", input.height, input.width, input.channels),
                     facts.layers, sim::grouped(facts.macs), sim::grouped(facts.parameters));
}

void list_models() {
  std::string text = fmt::format(" {:<16} {:>15} {:>8} {:>16} {:>14}\n", "model", "image", "layers",
                                 "MACs per image", "parameters");
  for (const std::string& name : models::model_names()) text += line(name);
  print(text);
}

}  // namespace

Command add_models(CLI::App& app) {
  return {app.add_subcommand("models", "list the networks that come with tilewave"), list_models};
}

}  // namespace tilewave::cli
