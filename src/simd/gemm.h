// Matrix products on the best vector target of this machine.
#pragma once

#include <cstdint>

#include "parallel/thread_pool.h"
#include "simd/activation.h"

namespace thimble::simd {

// y[i, j] = act(sum_l a[i, l] b[l, j] + bias[j] + (add_previous ? y[i, j] : 0)), for each of
// `batch` row-major matrices. y: [m, n]; a: [m, k], or [k, m] if transpose_a; b: [k, n], or [n, k]
// if transpose_b. Distances between the matrices of a batch are in floats; 0 repeats one matrix.
struct GemmSizes {
  int batch = 1;
  int m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  int64_t a_distance = 0, b_distance = 0;
  int activation = KERNEL_ACTIVATION_NONE;
  bool add_previous = false;
  int a_rows = 0;  // for transposed a: the pitch of its rows, if it has more columns than m; 0: m
};

// The number of rows of y of one partial call is best a multiple of this, so that register tiles
// are full.
inline constexpr int kGemmPartRows = 48;

// Bytes of workspace for gemm(), the same for every vector target.
[[nodiscard]] int64_t gemm_workspace_bytes(const GemmSizes& sizes, int threads);

// bias: [n] or null. y aliases no input. The result does not depend on the number of threads.
void gemm(float* y, const float* a, const float* b, const float* bias, void* workspace,
          const GemmSizes& sizes, parallel::ThreadPool& pool);

}  // namespace thimble::simd
