#include "sim/systemc/memory_port.h"

#include <cstring>
#include <utility>

#include "base/error.h"

namespace tilewave::sim::systemc {

MemoryPort::Duration MemoryPort::transport(tlm::tlm_command command, std::uint64_t address,
                                           const Burst& rows, std::uint8_t* data) {
  Burst burst = rows;
  tlm::tlm_generic_payload payload;
  const auto bytes = static_cast<unsigned>(rows.bytes());
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(data);
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  payload.set_extension(&burst);
  sc_core::sc_time delay;
  socket->b_transport(payload, delay);
  payload.clear_extension(&burst);
  TILEWAVE_CHECK(payload.get_response_string(), ==, "TLM_OK_RESPONSE", socket.name());
  return {burst.latency, cycles_of(delay)};
}

MemoryTarget::MemoryTarget(const sc_core::sc_module_name& name, Traits traits)
    : sc_core::sc_module(name), socket("socket"), traits_(std::move(traits)) {
  socket.register_b_transport(this, &MemoryTarget::transport);
}

void MemoryTarget::transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  Burst& burst = *payload.get_extension<Burst>();
  burst.latency = traits_.latency;
  delay += duration(traits_.latency + traits_.transfer_cycles(burst.bytes()));
  const bool is_ok = payload.get_data_ptr() == nullptr || copy(payload, burst);
  payload.set_response_status(is_ok ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

bool MemoryTarget::copy(const tlm::tlm_generic_payload& payload, const Burst& burst) const {
  std::uint8_t* data = payload.get_data_ptr();
  for (std::int64_t row = 0; row < burst.rows; ++row, data += burst.row_bytes) {
    std::uint8_t* const place = traits_.find(
        payload.get_address() + static_cast<std::uint64_t>(row * burst.stride), burst.row_bytes);
    if (place == nullptr) return false;
    std::memcpy(payload.is_read() ? data : place, payload.is_read() ? place : data,
                static_cast<std::size_t>(burst.row_bytes));
  }
  return true;
}

}  // namespace tilewave::sim::systemc
