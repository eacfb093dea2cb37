#include "models/onnx_reader.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "models/data_directory.h"
#include "models/onnx/model.h"

namespace tilewave::models {

namespace fs = std::filesystem;

Graph parse_onnx(std::span<const std::uint8_t> bytes, const std::string& where) {
  try {
    onnx_reader::Model model = onnx_reader::decode(bytes);
    onnx_reader::sort_nodes(model);
    const std::string name = fs::path(where).stem().string();
    return onnx_reader::fold_affine(onnx_reader::convert(std::move(model), name));
  } catch (const InputError& error) {
    throw InputError(where, onnx_reader::printable(error.what()));
  }
}

Graph read_onnx(const std::string& path) {
  return parse_onnx(read_bytes(path, INT32_MAX), path);
}

std::vector<std::string> model_names() {
  return {"mnist_cnn", "mnist_cnn_w4a4", "fashion_cnn"};
}

std::string model_file(const std::string& name_or_path) {
  for (const std::string& name : model_names()) {
    if (name == name_or_path) return (data_directory() / (name + ".onnx")).string();
  }
  std::error_code ignored;
  if (!fs::exists(name_or_path, ignored)) {
    throw InputError("model " + name_or_path, "is neither a known name nor a file",
                     suggestion(name_or_path, model_names()));
  }
  return name_or_path;
}

Graph load_model(const std::string& name_or_path) {
  return read_onnx(model_file(name_or_path));
}

}  // namespace tilewave::models
