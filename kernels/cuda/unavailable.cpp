#include "base/error.h"
#include "kernels/gpu.h"

namespace tilewave::kernels {

std::string gpu_refusal() {
  return "tilewave was built without CUDA";
}

GpuProperties gpu_properties() {
  throw InputError("GPU", gpu_refusal());
}

std::unique_ptr<Reference> make_gpu_real(const models::Graph& /*graph*/, GpuPrecision /*precision*/,
                                         ReferenceOptions /*options*/) {
  throw InputError("GPU", gpu_refusal());
}

std::unique_ptr<Reference> make_gpu_int8(const quant::QuantizedGraph& /*graph*/,
                                         ReferenceOptions /*options*/) {
  throw InputError("GPU", gpu_refusal());
}

}  // namespace tilewave::kernels
