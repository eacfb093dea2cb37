#include "flow/experiment/point.h"

#include <algorithm>
#include <new>

#include "base/digest.h"
#include "base/error.h"
#include "base/file.h"
#include "flow/run.h"
#include "flow/scores.h"
#include "flow/workload.h"
#include "kernels/calibrate.h"
#include "kernels/reference.h"
#include "models/onnx_reader.h"
#include "quant/quantizer.h"
#include "sim/compiler/compiler.h"

namespace tilewave::flow {
namespace {

void add(Digest& digest, const models::Images& images) {
  for (const std::int64_t size :
       {images.count, images.shape.height, images.shape.width, images.shape.channels}) {
    digest.add(std::to_string(size));
  }
  digest.add(images.pixels);
  digest.add(images.labels);
}

/// Native integer paths have accumulators of 32 bits that wrap, and then equal the engines.
bool has_native_accumulators(const sim::Chip& chip) {
  return chip.precision.accumulator_bits == quant::kMaxAccumulatorBits &&
         chip.precision.overflow == sim::Overflow::wrap;
}

Outcome failed(const std::string& reason, bool is_final) {
  std::string line = reason;
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return {"", line, is_final};
}

}  // namespace

/// What a point works on.
struct PointRunner::Work {
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Data> data;
  std::int64_t images;
  std::shared_ptr<const quant::QuantizedGraph> quantized;
  std::string quantized_key;
  kernels::ReferenceOptions options;

  std::span<const std::uint8_t> pixels() const { return data->dataset.test.slice(0, images); }
  /// Of what only depends on the network and the images.
  std::string inputs_key() const { return model->digest + data->digest + std::to_string(images); }
};

std::shared_ptr<const PointRunner::Model> PointRunner::model(const std::string& name) {
  return models_.get(name, [&] {
    const std::string file = models::model_file(name);
    Digest digest;
    digest.add(read_bytes(file, INT32_MAX));
    return Model{models::read_onnx(file), digest.hex()};
  });
}

std::shared_ptr<const PointRunner::Data> PointRunner::data(const std::string& name) {
  return data_.get(name, [&] {
    Data made{models::load_dataset(name), ""};
    Digest digest;
    add(digest, made.dataset.test);
    add(digest, made.dataset.calibration);
    made.digest = digest.hex();
    return made;
  });
}

std::string PointRunner::key(const Configuration& configuration) {
  const auto used_model = model(configuration.model);
  const auto used_data = data(configuration.data);
  const models::Dataset& dataset = used_data->dataset;
  const models::Shape& shape = used_model->graph.nodes().front().shape;
  check_shape(dataset.test, dataset.name, shape, used_model->graph.name());
  check_shape(dataset.calibration, dataset.name + " (calibration)", shape,
              used_model->graph.name());
  image_count(dataset.test.count, configuration.images, dataset.name);
  sim::Json content = to_json(configuration);
  content["model"] = used_model->digest;
  content["data"] = used_data->digest;
  Digest digest;
  digest.add(sim::version());
  digest.add(content.dump());
  return digest.hex();
}

std::shared_ptr<const PointRunner::Classes> PointRunner::fp32_classes(const Work& work) {
  return fp32_.get(work.inputs_key(), [&] {
    const auto outputs =
        kernels::make_cpu_fp32(work.model->graph, work.options)->run(work.pixels());
    return classes_of(outputs.real, outputs.classes);
  });
}

std::shared_ptr<const PointRunner::Classes> PointRunner::integer_classes(
    const Work& work, const sim::Chip& chip, const sim::Program& program) {
  if (has_native_accumulators(chip)) {
    return integer_.get(work.quantized_key + std::to_string(work.images), [&] {
      const auto outputs =
          kernels::make_cpu_int8(*work.quantized, work.options)->run(work.pixels());
      return classes_of(outputs.integers, outputs.classes);
    });
  }
  sim::RunOptions options;
  options.threads = work.options.threads;
  options.stop = work.options.stop;
  const auto inputs = quant::quantize_pixels(program.input.quantization, work.pixels());
  const auto result = sim::make_timeline()->run(chip, program, inputs, options);
  return std::make_shared<const Classes>(
      classes_of(result.outputs, program.output.layout.shape.elements()));
}

PointRunner::Work PointRunner::load(const Configuration& configuration) {
  Work work;
  work.model = model(configuration.model);
  work.data = data(configuration.data);
  const models::Dataset& dataset = work.data->dataset;
  work.images = image_count(dataset.test.count, configuration.images, dataset.name);
  return work;
}

sim::Report PointRunner::report(Work work, const Configuration& configuration) {
  const models::Dataset& dataset = work.data->dataset;
  const auto& [threads, batch, stop] = work.options;
  work.quantized_key =
      work.model->digest + work.data->digest + sim::scheme_json(configuration.scheme).dump();
  const quant::Scheme& scheme = configuration.scheme;
  const std::string calibration_key = work.model->digest + work.data->digest +
                                      sim::scheme_json(quant::calibration_part(scheme)).dump();
  work.quantized = quantized_.get(work.quantized_key, [&] {
    const auto calibration = calibrations_.get(calibration_key, [&] {
      return kernels::calibrate(work.model->graph, dataset.calibration, scheme, threads, stop);
    });
    return quant::quantize_graph(*calibration, scheme);
  });
  const sim::Chip chip = sim::with_scheme(configuration.chip, configuration.scheme);
  const sim::Program program =
      sim::compile(*work.quantized, chip, std::min(configuration.batch, work.images));
  sim::Report report = run_timing(program, chip, work.images, stop);
  if (!configuration.accuracy) return report;

  const auto integer = integer_classes(work, chip, program);
  const auto real = fp32_classes(work);
  std::span<const std::uint8_t> labels = dataset.test.labels;
  if (!labels.empty()) labels = labels.first(static_cast<std::size_t>(work.images));
  report.accuracy = accuracy(*integer, labels);
  report.accuracy_fp32 = accuracy(*real, labels);
  report.agreement_fp32 = agreement(*integer, *real);
  return report;
}

Outcome PointRunner::run(const Configuration& configuration, int threads,
                         const std::stop_token& stop) {
  bool is_loaded = false;
  try {
    Work work = load(configuration);
    is_loaded = true;
    work.options = {.threads = threads, .stop = stop};
    return {sim::figures_json(report(std::move(work), configuration)).dump(), "", true};
  } catch (const Stopped&) {
    throw;
  } catch (const InputError& error) {
    // A file that cannot be read may be there the next time.
    return failed(error.what(), is_loaded);
  } catch (const InternalError& error) {
    return failed(error.what(), true);
  } catch (const std::bad_alloc&) {
    return failed("out of memory", false);
  } catch (const std::exception& error) {
    return failed(error.what(), false);
  }
}

Outcome PointRunner::run(const std::string& configuration, int threads,
                         const std::stop_token& stop) {
  return run(parse_configuration(configuration), threads, stop);
}

}  // namespace tilewave::flow
