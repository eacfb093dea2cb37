#pragma once

#include <cstdint>
#include <vector>

#include "sim/systemc/block.h"
#include "sim/systemc/unified_buffer.h"

namespace tilewave::sim::systemc {

/// The systolic data setup: gathers activations for a multiply from the unified buffer (im2col on
/// the fly) and hands them to the array. The skew is in the array's edges, see SkewLines.
class SystolicDataSetup final : public sc_core::sc_module {
 public:
  SystolicDataSetup(const sc_core::sc_module_name& name, Shared& shared, UnifiedBuffer& buffer)
      : sc_core::sc_module(name), shared_(shared), buffer_(buffer) {}

  /// Takes up a multiply: it is gathered for from now on.
  void begin(const Operation& multiply);
  /// One pixel of the multiply: a value per row of its tile. Occupies the buffer's port and the
  /// gathering, as does the next.
  void gather_pixel(std::int64_t pixel, std::int16_t* values);
  /// One row of the tile: the value that every pixel of the multiply has for it.
  void gather_step(std::int64_t k, std::int16_t* values);
  /// First cycle in which the next row of activations can be gathered.
  Cycles ready_at() const { return ready_at_; }
  /// Cycles from one row of `elements` activations to the next.
  Cycles interval(std::int64_t elements) const;

 private:
  /// Where element k of a pixel lies, relative to the pixel's window.
  struct Place {
    std::int64_t dy, dx;
    std::int64_t offset;        ///< of the plane and the channel in it
    std::int64_t pixel_stride;  ///< elements from one pixel of the plane to the next
  };
  /// Where the window of an output pixel begins.
  struct Corner {
    std::int64_t image_row;  ///< first row of the image, counted over all images
    std::int64_t y, x;
  };

  Place place_of(std::int64_t k) const;
  Corner corner_of(std::int64_t pixel) const;
  std::int16_t load(const Corner& corner, const Place& place) const;
  void occupy(std::int64_t elements);

  Shared& shared_;
  UnifiedBuffer& buffer_;
  const Operation* multiply_ = nullptr;
  std::vector<Place> places_;    ///< by row of the tile
  std::vector<Corner> corners_;  ///< by pixel
  Cycles ready_at_ = 0;
};

}  // namespace tilewave::sim::systemc
