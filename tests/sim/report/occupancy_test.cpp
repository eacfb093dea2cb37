// How full the buffers are, of programs whose times are worked out by hand.

#include "sim/report/occupancy.h"

#include <catch2/catch.hpp>

#include "sim/report/trace.h"
#include "tests/sim/timeline/traced_run.h"

using namespace tilewave;
using namespace tilewave::sim;
using namespace tilewave::test;

namespace {

DecodedLaunches decoded(const Program& program) {
  return {decode_program(program, 0), decode_program(program, 1)};
}

std::vector<OccupancyStep> buffer_of(const Chip& chip, const Program& program,
                                     std::int64_t launches = 1) {
  return unified_buffer_occupancy(decoded(program), trace(chip, program, launches).result.trace);
}

using Steps = std::vector<OccupancyStep>;

}  // namespace

namespace Catch {
template <>
struct StringMaker<OccupancyStep> {
  static std::string convert(const OccupancyStep& step) {
    return std::to_string(step.cycle) + ": " + std::to_string(step.value);
  }
};
}  // namespace Catch

TEST_CASE("bytes are in use from the start of their transfer to the end of their last reader") {
  const Chip chip = nanosecond_chip();
  const Program program = assemble_body(kReadInput + kFirstTile + kActivate + kWriteOutput);
  const auto run = trace(chip, program);
  const Slice& in = run.at(Unit::host_in);
  const Slice& multiply = run.at(Unit::matrix);
  const Slice& activation = run.at(Unit::activation);
  const Slice& out = run.at(Unit::host_out);
  REQUIRE(multiply.end < activation.start);
  CHECK(buffer_of(chip, program) ==
        Steps{{in.start, 32}, {multiply.end, 0}, {activation.start, 40}, {out.end, 0}});
}

TEST_CASE("of bytes that are read twice the later reader counts") {
  const Chip chip = nanosecond_chip();
  const std::string second = "matmul acc=8 rows=8\n";
  const Program program = assemble_body(kReadInput + kFirstTile + second);
  const auto run = trace(chip, program);
  CHECK(buffer_of(chip, program) ==
        Steps{{run.at(Unit::host_in).start, 32}, {run.at(Unit::matrix, 1).end, 0}});
}

TEST_CASE("bytes that nothing reads are in use until they are written") {
  const Chip chip = nanosecond_chip();
  const Program program = assemble_body(kReadInput);
  const Slice in = trace(chip, program).at(Unit::host_in);
  CHECK(buffer_of(chip, program) == Steps{{in.start, 32}, {in.done, 0}});
}

TEST_CASE("what is written anew in part is in use in part") {
  const Chip chip = nanosecond_chip();
  // The multiply of pixels 4 to 7 reads the upper half alone.
  const std::string again = "read_host input, host=0 ub=0 rows=1 row_bytes=16\n";
  const Program program =
      assemble_body(kReadInput + again + "read_weights 0\nmatmul first=4 rows=4 next_tile\n");
  const auto run = trace(chip, program);
  const Slice& whole = run.at(Unit::host_in, 0);
  const Slice& part = run.at(Unit::host_in, 1);
  const Slice& multiply = run.at(Unit::matrix);
  REQUIRE(part.start == whole.done);
  CHECK(buffer_of(chip, program) == Steps{{whole.start, 32}, {part.done, 16}, {multiply.end, 0}});
}

TEST_CASE("a place of the FIFO is taken from the start of the fetch to the end of the shift-in") {
  Chip chip = nanosecond_chip();
  chip.weight_memory.latency_ns = 30;
  const Program program = assemble_body(kReadInput + kFirstTile);
  const auto run = trace(chip, program);
  CHECK(weight_fifo_occupancy(Dataflow::weight_stationary, decoded(program), run.result.trace) ==
        Steps{{run.at(Unit::weight_memory).start, 1}, {run.at(Unit::weight_shift).end, 0}});
}

TEST_CASE("a trace shows all of a short run, and of a long one as many launches as fit") {
  const Program program = assemble_body(kReadInput + kFirstTile + kActivate + kWriteOutput);
  CHECK(trace_extent(program, 7).is_whole());
  const TraceExtent part = trace_extent(program, 1'000'000'000);
  CHECK_FALSE(part.is_whole());
  CHECK(part.launches > 1000);
  CHECK(part.instructions == part.all_instructions);
  CHECK(extent_text(part) ==
        "shows the first " + std::to_string(part.launches) + " of 1000000000 launches");
}

TEST_CASE("a trace of a launch that is too long shows its first instructions") {
  const Program program =
      assemble_body(kReadInput + kFirstTile + repeat(200'000, "matmul rows=8\n"));
  const TraceExtent part = trace_extent(program, 3);
  CHECK(part.launches == 1);
  CHECK(part.instructions > 50'000);
  CHECK(part.instructions < part.all_instructions);
  CHECK(extent_text(part) == "shows the first " + std::to_string(part.instructions) + " of " +
                                 std::to_string(part.all_instructions) +
                                 " instructions of the first of 3 launches");
}
