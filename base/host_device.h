#pragma once

/// Before a function that both the host's compiler and the GPU's are to compile.
#ifdef __CUDACC__
#define TILEWAVE_HOST_DEVICE __host__ __device__
#else
#define TILEWAVE_HOST_DEVICE
#endif
