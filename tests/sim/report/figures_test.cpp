#include "sim/report/figures.h"

#include <catch2/catch.hpp>

#include "tests/sim/report/sample.h"

using namespace tilewave::sim;

TEST_CASE("useful cycles, utilization and TOPS follow from the MACs") {
  const Chip chip = sample::chip();
  const RunCounters total = sample::result().total;
  CHECK(active_useful(chip, total) == 18);     // 360 MACs on 20 multipliers
  CHECK(utilization(chip, total) == 0.09);     // of 200 cycles
  CHECK(tops(chip, total) == Approx(3.6e-4));  // 720 operations in 2 us
  CHECK(peak_tops(chip) == Approx(4e-3));      // 40 operations at 100 MHz
}

TEST_CASE("wider numbers hold the multipliers for further passes") {
  Chip chip = sample::chip();
  chip.precision.activation_bits = 16;
  RunCounters counters;
  counters.useful_macs = 100;
  counters.classes.active = 20;
  CHECK(utilization(chip, counters) == 0.5);
  CHECK(peak_tops(chip) == Approx(2e-3));
  CHECK(energy(chip, counters).array == Approx(400e-12));
}

TEST_CASE("a run of no cycles has no rates") {
  CHECK(utilization(sample::chip(), RunCounters{}) == 0);
  CHECK(tops(sample::chip(), RunCounters{}) == 0);
}

TEST_CASE("energy is charged per event and part") {
  const EnergyParts parts = energy(sample::chip(), sample::result().total);
  CHECK(parts.array == Approx(360 * 2e-12));
  CHECK(parts.accumulators == Approx((368 + 368) * 3e-12));
  CHECK(parts.unified_buffer == Approx((108 + 68) * 5e-12));
  CHECK(parts.weight_memory == Approx(200 * 7e-12));
  CHECK(parts.host_link == Approx((48 + 8) * 11e-12));
  CHECK(parts.standby == Approx(0.5 * 2e-6));
  CHECK(parts.total() == Approx(parts.array + parts.accumulators + parts.unified_buffer +
                                parts.weight_memory + parts.host_link + parts.standby));
}
