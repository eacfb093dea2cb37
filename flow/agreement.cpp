#include "flow/agreement.h"

#include "base/error.h"

namespace tilewave::flow {
namespace {

void check_same(const sim::RunResult& result, const sim::RunResult& expected,
                const std::string& engine) {
  TILEWAVE_CHECK(result.cycles, ==, expected.cycles, engine + ": cycles");
  TILEWAVE_CHECK(result.first_launch_end, ==, expected.first_launch_end,
                 engine + ": end of the first batch");
  TILEWAVE_CHECK((result.outputs == expected.outputs), ==, true, engine + ": outputs are the same");
  for (std::size_t i = 0; i < expected.layers.size(); ++i) {
    TILEWAVE_CHECK((result.layers.at(i) == expected.layers[i]), ==, true,
                   engine + ": the counters of layer " + std::to_string(i) + " are the same");
  }
  TILEWAVE_CHECK((result.total == expected.total), ==, true, engine + ": the counters in all");
  TILEWAVE_CHECK((result.overflows == expected.overflows), ==, true,
                 engine + ": the overflows are the same");
}

}  // namespace

Agreement check_agreement(const Workload& workload, const sim::Chip& chip, std::int64_t images,
                          std::int64_t batch, const Progress& progress) {
  Agreement agreement;
  agreement.images = images;
  sim::RunResult expected;
  for (const EngineChoice& choice :
       {EngineChoice{"timeline", ""}, {"systemc", "tile"}, {"systemc", "pe"}}) {
    RunOptions options;
    options.engine = choice;
    options.images = images;
    options.batch = batch;
    options.reference = false;
    options.progress = progress;
    sim::RunResult result = run(workload, chip, options).result;
    if (agreement.engines.empty()) {
      expected = std::move(result);
    } else {
      check_same(result, expected, engine_label(choice));
    }
    agreement.engines.push_back(engine_label(choice));
  }
  agreement.cycles = expected.cycles;
  return agreement;
}

}  // namespace tilewave::flow
