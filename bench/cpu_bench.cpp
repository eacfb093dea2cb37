// The CPU paths for cpu_vs_onnxruntime.py: prepared once, then run as each line of standard input
// asks: `PRECISION THREADS BATCH SECONDS`. Answers with a line of JSON: the median of the seconds
// that a batch took, how often it ran, and the outputs.

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "flow/measure.h"
#include "flow/workload.h"
#include "kernels/calibrate.h"
#include "kernels/reference.h"
#include "models/onnx_reader.h"

namespace {

using namespace tilewave;

std::unique_ptr<kernels::Reference> make(const models::Graph& graph,
                                         const quant::QuantizedGraph& quantized,
                                         const std::string& precision,
                                         const kernels::ReferenceOptions& options) {
  return precision == "fp32" ? kernels::make_cpu_fp32(graph, options)
                             : kernels::make_cpu_int8(quantized, options);
}

void serve(const std::string& model, const std::string& file) {
  const models::Graph graph = models::load_model(model);
  const models::Images images = flow::idx_images(file, {});
  quant::Scheme scheme;
  scheme.calibration_images = images.count;
  const quant::QuantizedGraph quantized = kernels::quantize(graph, images, scheme);
  std::map<std::tuple<std::string, int, std::int64_t>, std::unique_ptr<kernels::Reference>> paths;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string precision;
    kernels::ReferenceOptions options;
    double seconds = 0;
    words >> precision >> options.threads >> options.batch >> seconds;
    auto& path = paths[{precision, options.threads, options.batch}];
    if (path == nullptr) path = make(graph, quantized, precision, options);
    const auto pixels = images.slice(0, options.batch);
    sim::PathFigures figures;
    flow::measure(*path, pixels, seconds, figures);
    const nlohmann::json answer{{"name", path->name()},
                                {"repeats", figures.repeats},
                                {"median_seconds", figures.latency.median_seconds},
                                {"outputs", path->run(pixels).real}};
    std::cout << answer.dump() << std::endl;
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::cerr << "cpu_bench: MODEL.onnx IMAGES.idx expected\n";
    return 2;
  }
  try {
    serve(words[1], words[2]);
  } catch (const std::exception& error) {
    std::cerr << "cpu_bench: " << error.what() << '\n';
    return 1;
  }
}
