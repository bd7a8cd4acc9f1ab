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

// A matrix that is stored in a narrow type, row-major; of i4 two elements in a byte, the first in
// the low half. In each row, every `group` elements are multiplied by a scale. group: 0 without
// scales.
struct NarrowMatrix {
  enum class Type { bf16, f16, i8, i4 };
  Type type = Type::bf16;
  const void* data = nullptr;
  const float* scales = nullptr;  // [rows, columns / group]
  int group = 0;
};

// gemm() with such a b: each panel is made f32 when it is packed. a is not transposed, and there is
// one matrix.
[[nodiscard]] int64_t gemm_narrow_workspace_bytes(const GemmSizes& sizes, int threads);
void gemm_narrow(float* y, const float* a, const NarrowMatrix& b, const float* bias,
                 void* workspace, const GemmSizes& sizes, parallel::ThreadPool& pool);

}  // namespace thimble::simd
