#pragma once

// For functions with hot loops: built for several processors, chosen at load time, so that one
// binary runs everywhere. Not for AVX2 alone: what its wider vectors save goes to crossing their
// halves when 16-bit products become 32-bit.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define TILEWAVE_CLONES __attribute__((target_clones("arch=x86-64-v4", "default")))
#else
#define TILEWAVE_CLONES
#endif
