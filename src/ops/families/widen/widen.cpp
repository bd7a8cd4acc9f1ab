// The kernels that run an op's f32 kernels on 16-bit tensors (ir/widened.h).
#include <algorithm>
#include <cstddef>

#include "ir/element.h"
#include "ir/widened.h"
#include "ops/storage_16bit/simd.h"
#include "parallel/thread_pool.h"

namespace thimble::ops {
namespace {

constexpr uint8_t kBrain = 2;

void widen(float* y, const uint16_t* x, int64_t n, bool brain, parallel::ThreadPool* pool) {
  if (pool != nullptr) {
    const bits16_dims d{static_cast<int>(n), brain ? 1 : 0};
    storage_16bit_impl::from_16bit_simd(y, x, &d, *pool);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    y[i] = brain ? element_bf16_to_float(x[i]) : element_f16_to_float(x[i]);
  }
}

void narrow(uint16_t* y, const float* x, int64_t n, bool brain, parallel::ThreadPool* pool) {
  if (pool != nullptr) {
    const bits16_dims d{static_cast<int>(n), brain ? 1 : 0};
    storage_16bit_impl::to_16bit_simd(y, x, &d, *pool);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    y[i] = brain ? element_float_to_bf16(x[i]) : element_float_to_f16(x[i]);
  }
}

template <bool fast>
void run_widened(const ir::KernelCall& call) {
  const auto& header = *static_cast<const ir::WidenedHeader*>(call.params);
  const ir::OpDef& op = *ir::find_op(header.op);
  parallel::ThreadPool* const pool = fast ? call.pool : nullptr;
  const void* inputs[ir::kMostWidened] = {};
  void* outputs[ir::kMostWidened] = {};
  auto* next = static_cast<std::byte*>(call.workspace);
  const auto take = [&](int at) {
    std::byte* const place = next;
    next += ir::widened_bytes(header.elements[at]);
    return place;
  };
  for (int i = 0; i < header.inputs; ++i) {
    inputs[i] = call.inputs[i];
    if (header.narrow[i] == 0) continue;
    auto* const wide = reinterpret_cast<float*>(take(i));
    widen(wide, static_cast<const uint16_t*>(call.inputs[i]), header.elements[i],
          header.narrow[i] == kBrain, pool);
    inputs[i] = wide;
  }
  for (int o = 0; o < header.outputs; ++o) {
    const int at = header.inputs + o;
    outputs[o] = header.narrow[at] == 0 ? call.outputs[o] : take(at);
  }
  const ir::KernelFn kernel = fast && op.kernels.fast != nullptr ? op.kernels.fast : op.kernels.ref;
  kernel({outputs, inputs, next, static_cast<const std::byte*>(call.params) + ir::kWidenedParams,
          call.input_count, call.output_count, call.pool, call.swap});
  for (int o = 0; o < header.outputs; ++o) {
    const int at = header.inputs + o;
    if (header.narrow[at] == 0) continue;
    narrow(static_cast<uint16_t*>(call.outputs[o]), static_cast<const float*>(outputs[o]),
           header.elements[at], header.narrow[at] == kBrain, pool);
  }
}

}  // namespace
}  // namespace thimble::ops

namespace thimble::ir {
KernelFn widened_ref() { return &ops::run_widened<false>; }
KernelFn widened_fast() { return &ops::run_widened<true>; }
}  // namespace thimble::ir
