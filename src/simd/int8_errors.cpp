#include "simd/int8_errors.h"

#include <algorithm>
#include <cstring>

#include "simd/int8.h"
#include "simd/int8_errors_scratch.h"
#include "simd/workspace.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/int8_errors.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "simd/int8_errors_depthwise-inl.h"
#include "simd/int8_errors_elements-inl.h"
#include "simd/int8_errors_inputs-inl.h"
#include "simd/int8_errors_weights-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

template <class Run>
void with_error_words(const Run& run) {
#if THIMBLE_INT8_VNNI
  if (int8_has(Int8Words::quads)) return run(QuickPairs());
#endif
  run(Pairs());
}

// Runs all tasks twice: for the largest size, then to store numbers of that scale. task(i, worker,
// to) returns the largest size of its numbers.
template <class Task>
float run_twice(int8_t* dx, const int8_t* waiting, float waiting_unit, int32_t* largest,
                int64_t tasks, int64_t elements, parallel::ThreadPool& pool, const Task& task) {
  constexpr float kLeastScale = 0x1p-126F;  // smaller ones have few bits
  ErrorResult to{nullptr, waiting, waiting_unit, 0.0F};
  pool.run_with_worker(tasks,
                       [&](int64_t i, int worker) HWY_ATTR { largest[i] = task(i, worker, to); });
  const int32_t bits = tasks == 0 ? 0 : *std::max_element(largest, largest + tasks);
  float most = 0.0F;
  std::memcpy(&most, &bits, sizeof(most));
  to.scale = most / 127;
  to.dx = dx;
  if (to.scale >= kLeastScale) {
    pool.run_with_worker(tasks, [&](int64_t i, int worker) HWY_ATTR { task(i, worker, to); });
  } else if (elements > 0) {
    std::memset(dx, 0, static_cast<size_t>(elements));
  }
  return to.scale;
}

float int8_error_inputs_target(int8_t* dx, const Int8Error& error, const int16_t* multipliers,
                               const float* units, const int8_t* w, const int8_t* waiting,
                               float waiting_unit, const ErrorInputsScratch& s, const conv_dims& d,
                               parallel::ThreadPool& pool) {
  float scale = 0.0F;
  const int64_t elements = int64_t{d.n} * d.h * d.w * d.c;
  with_error_words([&](auto kind) HWY_ATTR {
    using Words = decltype(kind);
    if (int8_errors_by_channel(d)) {
      const DepthwiseErrorInputs<Words> inputs(d, s, error, units);
      inputs.pack(w, pool);
      scale = run_twice(dx, waiting, waiting_unit, s.largest, inputs.tasks(), elements, pool,
                        [&](int64_t task, int worker, const ErrorResult& to)
                            HWY_ATTR { return inputs.run(task, worker, to); });
    } else {
      const ErrorInputs<Words> inputs(d, s, units[0]);
      inputs.pack(error, multipliers, w, pool);
      scale = run_twice(dx, waiting, waiting_unit, s.largest, inputs.tasks(), elements, pool,
                        [&](int64_t task, int /*worker*/, const ErrorResult& to)
                            HWY_ATTR { return inputs.run(task, to); });
    }
  });
  return scale;
}

void int8_error_weights_target(float* dw, const int8_t* x, int32_t zero_point,
                               const Int8Error& error, const float* units,
                               const ErrorWeightsScratch& s, const conv_dims& d,
                               parallel::ThreadPool& pool) {
  with_error_words([&](auto kind) HWY_ATTR {
    using Words = decltype(kind);
    if (int8_errors_by_channel(d)) {
      const DepthwiseErrorWeights<Words> weights(d, s, x, zero_point, error);
      pool.run_with_worker(weights.tasks(), [&](int64_t task, int worker)
                                                HWY_ATTR { weights.run(task, worker, dw, units); });
    } else {
      const ErrorWeights<Words> weights(d, s, x, zero_point);
      weights.pack(error, pool);
      weights.pad(pool);
      pool.run_with_worker(weights.tasks(), [&](int64_t task, int worker)
                                                HWY_ATTR { weights.run(task, worker, dw, units); });
    }
  });
}

float int8_error_of_floats_target(int8_t* y, const float* x, int64_t n, int32_t* largest,
                                  parallel::ThreadPool& pool) {
  const auto task = [=](int64_t i, int /*worker*/, const ErrorResult& to) HWY_ATTR {
    return take_floats(x, i * kErrorElements, std::min(n, (i + 1) * kErrorElements), to);
  };
  return run_twice(y, nullptr, 0.0F, largest, divide_up(n, kErrorElements), n, pool, task);
}

float int8_error_scaled_target(int8_t* dx, const Int8Error& error, const float* units,
                               const int8_t* waiting, float waiting_unit, int32_t* largest,
                               int64_t rows, int channels, parallel::ThreadPool& pool) {
  const int64_t n = rows * channels;
  const int64_t step = round_up(kErrorElements, std::max(channels, 1));  // whole rows
  const auto task = [=](int64_t i, int /*worker*/, const ErrorResult& to) HWY_ATTR {
    return take_scaled(error, units, channels, i * step, std::min(n, (i + 1) * step), n, to);
  };
  return run_twice(dx, waiting, waiting_unit, largest, divide_up(n, step), n, pool, task);
}

void int8_error_sums_target(float* sums, const Int8Error& error, const float* units, int64_t rows,
                            int channels, parallel::ThreadPool& pool) {
  pool.run(divide_up(channels, lanes()), [=](int64_t task) HWY_ATTR {
    sum_errors(sums, error, units, rows, channels, static_cast<int>(task) * lanes());
  });
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::simd {
HWY_EXPORT(int8_error_inputs_target);
HWY_EXPORT(int8_error_weights_target);
HWY_EXPORT(int8_error_of_floats_target);
HWY_EXPORT(int8_error_scaled_target);
HWY_EXPORT(int8_error_sums_target);

int64_t int8_error_inputs_workspace_bytes(const conv_dims& d, int threads) {
  Workspace counter(nullptr);
  ErrorInputsScratch s{};
  carve_error_inputs(counter, d, threads, s);
  return counter.bytes();
}

float int8_error_inputs(int8_t* dx, const Int8Error& error, const int16_t* multipliers,
                        const float* units, const int8_t* w, const int8_t* waiting,
                        float waiting_unit, void* workspace, const conv_dims& d,
                        parallel::ThreadPool& pool) {
  Workspace own(workspace);
  ErrorInputsScratch s{};
  carve_error_inputs(own, d, pool.threads(), s);
  return HWY_DYNAMIC_DISPATCH(int8_error_inputs_target)(dx, error, multipliers, units, w, waiting,
                                                        waiting_unit, s, d, pool);
}

int64_t int8_error_weights_workspace_bytes(const conv_dims& d, int threads) {
  Workspace counter(nullptr);
  ErrorWeightsScratch s{};
  carve_error_weights(counter, d, threads, s);
  return counter.bytes();
}

void int8_error_weights(float* dw, const int8_t* x, int32_t zero_point, const Int8Error& error,
                        const float* units, void* workspace, const conv_dims& d,
                        parallel::ThreadPool& pool) {
  Workspace own(workspace);
  ErrorWeightsScratch s{};
  carve_error_weights(own, d, pool.threads(), s);
  HWY_DYNAMIC_DISPATCH(int8_error_weights_target)
  (dw, x, zero_point, error, units, s, d, pool);
}

int64_t int8_error_elements_workspace_bytes(int64_t n) {
  return divide_up(n, kErrorElements) * static_cast<int64_t>(sizeof(int32_t));
}

float int8_error_of_floats(int8_t* y, const float* x, int64_t n, void* workspace,
                           parallel::ThreadPool& pool) {
  return HWY_DYNAMIC_DISPATCH(int8_error_of_floats_target)(y, x, n,
                                                           static_cast<int32_t*>(workspace), pool);
}

float int8_error_scaled(int8_t* dx, const Int8Error& error, const float* units,
                        const int8_t* waiting, float waiting_unit, void* workspace, int64_t rows,
                        int channels, parallel::ThreadPool& pool) {
  return HWY_DYNAMIC_DISPATCH(int8_error_scaled_target)(dx, error, units, waiting, waiting_unit,
                                                        static_cast<int32_t*>(workspace), rows,
                                                        channels, pool);
}

void int8_error_sums_of_rows(float* sums, const Int8Error& error, const float* units, int64_t rows,
                             int channels, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(int8_error_sums_target)(sums, error, units, rows, channels, pool);
}

}  // namespace thimble::simd
#endif
