#include "sim/systemc/systolic_data_setup.h"

#include <algorithm>

namespace tilewave::sim::systemc {

void SystolicDataSetup::begin(const Operation& multiply) {
  multiply_ = &multiply;
  places_.clear();
  if (!shared_.with_values) return;
  const Setup& setup = *multiply.setup;
  const models::Window& window = setup.window;
  for (std::int64_t i = 0; i < multiply.row_elements; ++i) {
    const std::int64_t k = multiply.instruction.value + i;
    const std::int64_t kernel_y = k / setup.channel_count / window.kernel_width;
    const std::int64_t kernel_x = k / setup.channel_count % window.kernel_width;
    const std::int64_t channel = setup.channel_first + k % setup.channel_count;
    const std::int64_t plane = channel / setup.source.block;
    places_.push_back(
        {kernel_y * window.dilation_height - window.pad_top,
         kernel_x * window.dilation_width - window.pad_left,
         setup.source.plane_offset(plane, setup.images) + channel % setup.source.block,
         setup.source.plane_channels(plane)});
  }
}

Cycles SystolicDataSetup::interval() const {
  const Bytes bytes = multiply_->row_elements * buffer_.memory.element_bytes();
  return std::max(buffer_.port_cycles(bytes), shared_.chip.gather_interval());
}

void SystolicDataSetup::gather(std::int64_t row, std::int16_t* values) {
  const std::int64_t element_bytes = buffer_.memory.element_bytes();
  shared_.recorder.counters(*multiply_).bytes.unified_buffer_read +=
      multiply_->row_elements * element_bytes;
  ready_at_ = current_cycle() + interval();
  if (!shared_.with_values) return;
  const Setup& setup = *multiply_->setup;
  const models::Shape& source = setup.source.shape;
  const std::int64_t pixel = multiply_->instruction.first + row;
  const std::int64_t image = pixel / setup.output.pixels();
  const std::int64_t in_image = pixel % setup.output.pixels();
  const std::int64_t top = in_image / setup.output.width * setup.window.stride_height;
  const std::int64_t left = in_image % setup.output.width * setup.window.stride_width;
  for (const Place& place : places_) {
    const std::int64_t y = top + place.dy;
    const std::int64_t x = left + place.dx;
    const bool is_inside = y >= 0 && y < source.height && x >= 0 && x < source.width;
    const std::int64_t element =
        place.offset + ((image * source.height + y) * source.width + x) * place.pixel_stride;
    *values++ =
        is_inside
            ? buffer_.memory.load(multiply_->instruction.unified_buffer + element * element_bytes)
            : static_cast<std::int16_t>(setup.zero_point);
  }
}

}  // namespace tilewave::sim::systemc
