// The fast kernel of sums and means over axes.
#pragma once

#include <cstdint>

#include "ir/op_def.h"
#include "ops/families/reduction/reduce_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops {

// Bytes of workspace for sum_simd; params hold reduce_dims.
int64_t sum_workspace(const ir::Params& params, int threads);

// As sum_ref. Blocks of fixed size are summed independently, then added in order: the bits do not
// depend on the number of threads. Source on the rounding of blocked sums: Higham, "The Accuracy of
// Floating Point Summation", 1993.
void sum_simd(float* y, const float* x, void* workspace, const reduce_dims* d,
              parallel::ThreadPool& pool);

// The sum over broadcast axes: the op of ops/sum_to.
[[nodiscard]] const OpDef& broadcast_sum_op();

}  // namespace thimble::ops
