#include "ops/update_in_parts/simd.h"

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "parallel/thread_pool.h"
#include "simd/workspace.h"

#if HWY_ONCE
namespace thimble::ops::update_in_parts_impl {
namespace {

constexpr int kRuleFirstState = 4;
constexpr int kMaxRuleInputs = kRuleFirstState + kMaxStates + 1;
// With fewer parts a thread might wait long for the others.
constexpr int64_t kPartsPerThread = 3;

int64_t part_count(const UpdateInPartsDims& d) { return simd::divide_up(d.rows, d.part_rows); }

bool shares_out_parts(const UpdateInPartsDims& d, int threads) {
  return threads > 1 && part_count(d) >= kPartsPerThread * threads;
}

// What a thread works with that shares its work with nobody.
parallel::ThreadPool& alone() {
  static parallel::ThreadPool pool(1);
  return pool;
}

struct Part {
  int64_t first;
  int64_t rows;
};

Part part_at(const UpdateInPartsDims& d, int64_t number) {
  const int64_t first = number * d.part_rows;
  return {first, std::min(d.part_rows, d.rows - first)};
}

// The gradient of these rows, to scratch.
void compute_gradient(const ir::KernelCall& call, const UpdateInPartsDims& d, const Part& part,
                      ir::KernelFn kernel, void* scratch, void* workspace,
                      parallel::ThreadPool* pool) {
  InnerParams params = d.gradient_params;
  d.gradient->memory.part.part(params.bytes, part.first, part.rows);
  void* outputs[] = {scratch};
  // Kernels read as many as their op declares.
  const void* inputs[kMaxGradientInputs] = {};
  const int given = call.input_count - kFirstOfGradient;
  std::copy(call.inputs + kFirstOfGradient, call.inputs + call.input_count, inputs);
  kernel({outputs, inputs, workspace, params.bytes, given, 1, pool});
}

// The rule for these rows. element: bytes of a number.
void apply_rule(const ir::KernelCall& call, const UpdateInPartsDims& d, const Part& part,
                ir::KernelFn kernel, const void* gradient, int64_t element,
                parallel::ThreadPool* pool) {
  const int64_t offset = part.first * d.row_elements * element;
  const int declared = static_cast<int>(d.update->signature.outputs.size()) - 1;
  void* outputs[1 + kMaxStates] = {};
  const void* inputs[kMaxRuleInputs] = {};
  for (int t = 0; t < call.output_count; ++t) {
    outputs[t] = static_cast<std::byte*>(call.outputs[t]) + offset;
    inputs[t == 0 ? 0 : kRuleFirstState + t - 1] = outputs[t];
  }
  inputs[1] = gradient;
  inputs[2] = call.inputs[kRate];
  inputs[3] = call.inputs[kStep];
  if (d.update->optimizer.momentum != nullptr) {
    inputs[kRuleFirstState + declared] = call.inputs[kMomentum];
  }
  InnerParams params = d.update_params;
  const int elements = static_cast<int>(part.rows * d.row_elements);
  std::memcpy(params.bytes, &elements, sizeof(elements));  // OptimizerRule::elementwise
  kernel({outputs, inputs, nullptr, params.bytes,
          static_cast<int>(d.update->signature.inputs.size()), call.output_count, pool});
}

ir::KernelFn fast_of(const OpDef& op) {
  return op.kernels.fast != nullptr ? op.kernels.fast : op.kernels.ref;
}

int64_t scratch_bytes(const UpdateInPartsDims& d) {
  return simd::round_up(d.part_rows * d.row_elements * static_cast<int64_t>(sizeof(float)),
                        simd::kAlignment);
}

// Of one part, computed by so many threads.
int64_t part_bytes(const UpdateInPartsDims& d, int threads) {
  int64_t workspace = 0;
  for (const int64_t number : {int64_t{0}, part_count(d) - 1}) {
    if (d.gradient->kernels.fast == nullptr || d.gradient->kernels.workspace == nullptr) break;
    InnerParams params = d.gradient_params;
    const Part part = part_at(d, number);
    d.gradient->memory.part.part(params.bytes, part.first, part.rows);
    workspace = std::max(workspace, d.gradient->kernels.workspace(params, threads));
  }
  return scratch_bytes(d) + simd::round_up(workspace, simd::kAlignment);
}

void run_part(const ir::KernelCall& call, const UpdateInPartsDims& d, int64_t number,
              std::byte* memory, parallel::ThreadPool& pool) {
  const Part part = part_at(d, number);
  compute_gradient(call, d, part, fast_of(*d.gradient), memory, memory + scratch_bytes(d), &pool);
  apply_rule(call, d, part, fast_of(*d.update), memory, sizeof(float), &pool);
}

}  // namespace

template <class Real>
void update_in_parts_ref(const ir::KernelCall& call) {
  constexpr bool kDouble = sizeof(Real) == sizeof(double);
  const auto& d = *static_cast<const UpdateInPartsDims*>(call.params);
  std::vector<Real> scratch(static_cast<size_t>(d.part_rows * d.row_elements));
  for (int64_t number = 0; number < part_count(d); ++number) {
    const Part part = part_at(d, number);
    compute_gradient(call, d, part, kDouble ? d.gradient->kernels.ref64 : d.gradient->kernels.ref,
                     scratch.data(), nullptr, call.pool);
    apply_rule(call, d, part, kDouble ? d.update->kernels.ref64 : d.update->kernels.ref,
               scratch.data(), sizeof(Real), call.pool);
  }
}

template void update_in_parts_ref<float>(const ir::KernelCall& call);
template void update_in_parts_ref<double>(const ir::KernelCall& call);

void update_in_parts_fast(const ir::KernelCall& call) {
  const auto& d = *static_cast<const UpdateInPartsDims*>(call.params);
  auto* const base = static_cast<std::byte*>(call.workspace);
  const int threads = call.pool->threads();
  if (!shares_out_parts(d, threads)) {
    for (int64_t number = 0; number < part_count(d); ++number) {
      run_part(call, d, number, base, *call.pool);
    }
    return;
  }
  call.pool->run_with_worker(part_count(d), [&](int64_t number, int worker) {
    run_part(call, d, number, base + worker * d.part_bytes, alone());
  });
}

int64_t bytes_of_part(const UpdateInPartsDims& d) {
  alone();  // made here, before the first step
  return part_bytes(d, 1);
}

int64_t update_in_parts_workspace(const ir::Params& params, int threads) {
  const auto d = params.as<UpdateInPartsDims>();
  return shares_out_parts(d, threads) ? threads * d.part_bytes : part_bytes(d, threads);
}

}  // namespace thimble::ops::update_in_parts_impl
#endif
