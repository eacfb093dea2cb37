#include "sim/systemc/systolic_data_setup.h"

#include <algorithm>

namespace tilewave::sim::systemc {

void SystolicDataSetup::begin(const Operation& multiply) {
  multiply_ = &multiply;
  places_.clear();
  corners_.clear();
  if (!shared_.with_values) return;
  for (std::int64_t k = 0; k < multiply.tile->rows; ++k) places_.push_back(place_of(k));
  for (std::int64_t i = 0; i < multiply.instruction.rows; ++i) corners_.push_back(corner_of(i));
}

SystolicDataSetup::Place SystolicDataSetup::place_of(std::int64_t k) const {
  const Setup& setup = *multiply_->setup;
  const models::Window& window = setup.window;
  const std::int64_t element = multiply_->instruction.value + k;
  const std::int64_t kernel_y = element / setup.channel_count / window.kernel_width;
  const std::int64_t kernel_x = element / setup.channel_count % window.kernel_width;
  const std::int64_t channel = setup.channel_first + element % setup.channel_count;
  const std::int64_t plane = channel / setup.source.block;
  return {kernel_y * window.dilation_height - window.pad_top,
          kernel_x * window.dilation_width - window.pad_left,
          setup.source.plane_offset(plane, setup.images) + channel % setup.source.block,
          setup.source.plane_channels(plane)};
}

SystolicDataSetup::Corner SystolicDataSetup::corner_of(std::int64_t pixel) const {
  const Setup& setup = *multiply_->setup;
  const std::int64_t output = multiply_->instruction.first + pixel;
  const std::int64_t in_image = output % setup.output.pixels();
  return {output / setup.output.pixels() * setup.source.shape.height,
          in_image / setup.output.width * setup.window.stride_height,
          in_image % setup.output.width * setup.window.stride_width};
}

std::int16_t SystolicDataSetup::load(const Corner& corner, const Place& place) const {
  const Setup& setup = *multiply_->setup;
  const models::Shape& source = setup.source.shape;
  const std::int64_t y = corner.y + place.dy;
  const std::int64_t x = corner.x + place.dx;
  const bool is_inside = y >= 0 && y < source.height && x >= 0 && x < source.width;
  if (!is_inside) return static_cast<std::int16_t>(setup.zero_point);
  const std::int64_t element =
      place.offset + ((corner.image_row + y) * source.width + x) * place.pixel_stride;
  return buffer_.memory.load(multiply_->instruction.unified_buffer +
                             element * buffer_.memory.element_bytes());
}

Cycles SystolicDataSetup::interval(std::int64_t elements) const {
  return std::max(buffer_.port_cycles(elements * buffer_.memory.element_bytes()),
                  shared_.chip.gather_interval());
}

void SystolicDataSetup::occupy(std::int64_t elements) {
  shared_.recorder.counters(*multiply_).bytes.unified_buffer_read +=
      elements * buffer_.memory.element_bytes();
  ready_at_ = current_cycle() + interval(elements);
}

void SystolicDataSetup::gather_pixel(std::int64_t pixel, std::int16_t* values) {
  occupy(multiply_->tile->rows);
  if (!shared_.with_values) return;
  const Corner corner = corners_[static_cast<std::size_t>(pixel)];
  for (const Place& place : places_) *values++ = load(corner, place);
}

void SystolicDataSetup::gather_step(std::int64_t k, std::int16_t* values) {
  occupy(multiply_->instruction.rows);
  if (!shared_.with_values) return;
  const Place place = places_[static_cast<std::size_t>(k)];
  for (const Corner& corner : corners_) *values++ = load(corner, place);
}

}  // namespace tilewave::sim::systemc
