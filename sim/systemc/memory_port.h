#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <functional>
#include <tlm>

#include "sim/systemc/block.h"

// Memory-mapped transfers, by TLM-2.0's blocking transport. The target says by the annotated delay
// how long one takes.

namespace tilewave::sim::systemc {

/// What a generic payload lacks for a transfer of rows that lie `stride` bytes apart.
struct Burst final : tlm::tlm_extension<Burst> {
  Burst(std::int64_t rows_, Bytes row_bytes_, Bytes stride_)
      : rows(rows_), row_bytes(row_bytes_), stride(stride_) {}

  std::int64_t rows;
  Bytes row_bytes, stride;
  Cycles latency = 0;  ///< from the target: how much of the delay is before the first byte

  Bytes bytes() const { return rows * row_bytes; }
  tlm_extension_base* clone() const override { return new Burst(*this); }
  void copy_from(const tlm_extension_base& other) override {
    *this = static_cast<const Burst&>(other);
  }
};

/// The initiator's side.
class MemoryPort {
 public:
  struct Duration {
    Cycles latency;  ///< until the first byte
    Cycles total;    ///< until the last
  };

  explicit MemoryPort(const char* name) : socket(name) {}
  /// `data`: the rows one after the other; null if only the time is of interest.
  Duration transport(tlm::tlm_command command, std::uint64_t address, const Burst& rows,
                     std::uint8_t* data);

  tlm_utils::simple_initiator_socket<MemoryPort> socket;
};

/// The target's side: a memory and the way to it.
class MemoryTarget final : public sc_core::sc_module {
 public:
  struct Traits {
    Cycles latency = 0;
    std::function<Cycles(Bytes)> transfer_cycles;
    /// Where a row lies; null if there is no such place.
    std::function<std::uint8_t*(std::uint64_t address, std::int64_t bytes)> find;
  };
  MemoryTarget(const sc_core::sc_module_name& name, Traits traits);

  tlm_utils::simple_target_socket<MemoryTarget> socket;

 private:
  void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  bool copy(const tlm::tlm_generic_payload& payload, const Burst& burst) const;

  Traits traits_;
};

}  // namespace tilewave::sim::systemc
