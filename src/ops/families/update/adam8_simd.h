// The fast kernel of Adam and AdamW with quantized moments; shapes and aliasing as in adam8_ref.h.
#pragma once

#include <cstdint>

#include "ops/families/update/adam_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops {

void adam8_simd(float* const* out, const float* param, const float* grad, const float* lr,
                const int32_t* step, const uint8_t* m_codes, const uint8_t* v_codes,
                const float* m_scale, const float* v_scale, const adam_dims* d,
                parallel::ThreadPool& pool);

}  // namespace thimble::ops
