#include <catch2/catch.hpp>

#include "sim/engine.h"
#include "sim/report/figures.h"
#include "tests/support/hand_program.h"

using namespace tilewave;

TEST_CASE("a TPU v1 whose array is busy takes the 40 W that were measured, an idle one 28 W") {
  // CNN0's multiplies have 8 images of 19 x 19 pixels as rows. 300 tiles of 256 x 256 in a row.
  const sim::Chip chip = sim::load_chip("tpu_v1");
  const sim::Program program = test::tile_chain(256, 256, 8 * 19 * 19, 300);
  const sim::RunResult busy = sim::make_timeline()->time(chip, program, 1);
  const double seconds = chip.seconds(busy.cycles);
  const sim::EnergyParts parts = sim::energy(chip, busy.total);
  const double tops = sim::tops(chip, busy.total);
  CHECK(tops > 80);
  CHECK(tops < 92);
  const double die_watts =
      (parts.array + parts.accumulators + parts.unified_buffer + parts.standby) / seconds;
  // 28 W, and the 12 W that CNN0 takes beside them at 86 TOPS.
  CHECK(die_watts == Approx(28 + 12 * tops / 86).epsilon(0.002));
  CHECK(die_watts == Approx(40).margin(1));

  sim::RunCounters idle;
  idle.classes.idle = chip.clock_hz();
  CHECK(sim::energy(chip, idle).total() == Approx(28));
}
