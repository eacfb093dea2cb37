#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "flow/experiment/configuration.h"
#include "flow/experiment/shared_cache.h"
#include "models/dataset.h"
#include "models/graph.h"
#include "quant/calibration.h"
#include "quant/quantized_graph.h"
#include "sim/report/report.h"

namespace tilewave::flow {

/// What became of a point: its figures, or the reason why there are none.
struct Outcome {
  std::string figures;    ///< sim::figures_json as text; empty if it failed
  std::string failure;    ///< one line; empty if it did not
  bool is_final = false;  ///< it would be the same again: no failure of this machine's
};

/// Runs points, and keeps what they share: networks, data, calibrations, quantized networks, fp32
/// results. Many threads may use one. Results depend on the configuration alone.
class PointRunner {
 public:
  /// As models::load_model and load_dataset; what has been loaded is kept.
  void load_model(const std::string& name) { model(name); }
  void load_data(const std::string& name) { data(name); }

  /// A fingerprint of the configuration, the version of tilewave and the content of the network
  /// and the data, wherever these lie. Throws InputError where these cannot be read, do not fit
  /// together, or have too few images.
  std::string key(const Configuration& configuration);

  /// Never throws but Stopped. No figure depends on `threads`.
  Outcome run(const Configuration& configuration, int threads, const std::stop_token& stop = {});
  /// The same from the text of its resolved form; InputError if that is none.
  Outcome run(const std::string& configuration, int threads, const std::stop_token& stop = {});

 private:
  struct Model {
    models::Graph graph;
    std::string digest;
  };
  struct Data {
    models::Dataset dataset;
    std::string digest;
  };
  using Classes = std::vector<std::int64_t>;
  struct Work;

  std::shared_ptr<const Model> model(const std::string& name);
  std::shared_ptr<const Data> data(const std::string& name);
  Work load(const Configuration& configuration);
  sim::Report report(Work work, const Configuration& configuration);
  /// The class that the quantized network gives each image.
  std::shared_ptr<const Classes> integer_classes(const Work& work, const sim::Chip& chip,
                                                 const sim::Program& program);
  std::shared_ptr<const Classes> fp32_classes(const Work& work);

  SharedCache<Model> models_{32};
  SharedCache<Data> data_{32};
  SharedCache<quant::Calibration> calibrations_{8};
  SharedCache<quant::QuantizedGraph> quantized_{8};
  SharedCache<Classes> fp32_{64};
  SharedCache<Classes> integer_{64};
};

}  // namespace tilewave::flow
