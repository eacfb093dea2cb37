#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/yaml.h"
#include "quant/scheme.h"
#include "sim/chip/chip.h"
#include "sim/report/json.h"

namespace tilewave::flow {

/// One point of an experiment, with every key: what its result depends on, beside the content of
/// the files that it names.
struct Configuration {
  sim::Chip chip;
  quant::Scheme scheme;
  std::string model = "mnist_cnn";     ///< as models::load_model
  std::string data = "mnist";          ///< as models::load_dataset
  std::optional<std::int64_t> images;  ///< the first so many test images; nothing: all
  std::int64_t batch = 256;
  bool accuracy = false;  ///< also run the network's values, quantized and in fp32
};

/// Reads a mapping with the keys above; all are optional, `chip` may also be a preset's name. A
/// chip that does not say how wide its weights and activations are takes the scheme's widths. Paths
/// are relative to the folder of the file `where`. Throws InputError: file:line: key, what is
/// wrong.
Configuration read_configuration(const yaml::Node& document, const std::string& where);

/// The resolved form, which read_configuration reads.
sim::Json to_json(const Configuration& configuration);
/// Of to_json's text.
Configuration parse_configuration(const std::string& text);

}  // namespace tilewave::flow
