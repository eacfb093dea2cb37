#include "tests/sim/report/sample.h"

namespace tilewave::sim::sample {

Chip chip() {
  Chip c;
  c.name = "sample";
  c.clock_mhz = 100;
  c.array.rows = 4;
  c.array.cols = 5;
  c.unified_buffer.capacity_kib = 1;
  c.energy = {2, 3, 5, 7, 11, 0.5};
  return c;
}

Program program() {
  Program p;
  p.name = "by_hand";
  p.batch = 2;
  p.input.layout = {{1, 3, 4}, 4};
  p.output.layout = {{1, 1, 2}, 2};
  p.unified_buffer_peak = 1000;
  p.layers = {{"first, of \"two\"", "Conv", 3, 5, 4, 1, 1, 0},
              {"second", "Gemm", 1, 2, 15, 1, 4, 0}};
  return p;
}

RunResult result() {
  RunCounters first;
  first.classes = {12, 10, 4, 30, 0, 0, 3, 0};
  first.waiting = {11, 4, 35, 0, 0};
  first.bytes = {48, 0, 40, 48, 60, 240, 240};
  first.useful_macs = 240;  // 3 * 5 * 4 * 4 images: every multiplier in all 12 active cycles
  first.vector_operations = 60;
  first.tiles = 2;
  first.instructions = 10;
  RunCounters second;
  second.classes = {16, 40, 8, 0, 20, 1, 0, 56};
  second.waiting = {44, 9, 0, 22, 3};
  second.bytes = {0, 8, 160, 60, 8, 128, 128};
  second.useful_macs = 120;
  second.vector_operations = 8;
  second.tiles = 8;
  second.instructions = 30;

  RunResult r;
  r.layers = {first, second};
  r.total = first;
  r.total += second;
  r.cycles = 200;
  r.first_launch_end = 120;
  return r;
}

Report report() {
  Report r;
  r.model = "by_hand";
  r.data = "digits";
  r.engine = "timeline";
  r.chip = chip();
  r.scheme = quant::Scheme{};
  r.batch = 2;
  r.launches = kLaunches;
  r.images = 3;
  r.padded_images = 1;
  r.layers = program().layers;
  r.unified_buffer_peak = program().unified_buffer_peak;
  r.accuracy = 0.5;
  r.result = result();
  r.host.threads = 2;
  r.host.cpu = "a processor";
  return r;
}

}  // namespace tilewave::sim::sample
