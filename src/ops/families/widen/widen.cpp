// The kernels that run an op's f32 kernels on 16-bit tensors (ir/widened.h).
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "ir/element.h"
#include "ir/widened.h"
#include "ir/widened_sharing.h"
#include "ops/storage_16bit/simd.h"
#include "parallel/thread_pool.h"

namespace thimble::ops {
namespace {

using ir::WidenedHeader;
using ir::WidenedRows;

constexpr uint8_t kBrain = 2;
constexpr int64_t kTile = 16384;  // elements that a thread adds at a time

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

// sum += x
void add(float* sum, const float* x, int64_t n, parallel::ThreadPool* pool) {
  const auto add_tile = [=](int64_t tile) {
    const int64_t end = std::min(n, (tile + 1) * kTile);
    for (int64_t i = tile * kTile; i < end; ++i) sum[i] += x[i];
  };
  const int64_t tiles = (n + kTile - 1) / kTile;
  if (pool != nullptr) return pool->run(tiles, add_tile);
  for (int64_t tile = 0; tile < tiles; ++tile) add_tile(tile);
}

// One call, block after block where it has a pool; the reference kernel is the measure for the
// order of sums and runs whole.
class WidenedCall {
 public:
  WidenedCall(const ir::OpDef& op, const ir::KernelCall& call, ir::KernelFn kernel,
              parallel::ThreadPool* pool)
      : op_(op),
        header_(*static_cast<const WidenedHeader*>(call.params)),
        call_(call),
        kernel_(kernel),
        pool_(pool),
        is_whole_(pool == nullptr || header_.rows == 1) {
    auto* next = static_cast<std::byte*>(call.workspace);
    const auto take = [&next](int64_t elements) {
      auto* const place = reinterpret_cast<float*>(next);
      next += ir::widened_bytes(elements);
      return place;
    };
    for (int i = 0; i < tensors(); ++i) {
      const int64_t copied = is_whole_ ? header_.elements[i] : header_.copied(i);
      const int shared = pool == nullptr ? -1 : ir::input_sharing_copy(op, header_, i);
      if (header_.narrow[i] != 0) wide_[i] = shared >= 0 ? wide_[shared] : take(copied);
      if (header_.is_sum(i) && !is_whole_) block_sums_[i] = take(header_.elements[i]);
    }
    scratch_ = next;
  }

  void run() {
    for (int i = 0; i < header_.inputs; ++i) {
      if (is_whole_ || !header_.is_divided(i)) set_input(i, 0, header_.elements[i]);
    }
    if (is_whole_) return run_whole();
    for (int64_t first = 0; first < header_.rows; first += header_.block_rows) {
      run_block(first, std::min(header_.block_rows, header_.rows - first));
    }
    for (int i = header_.inputs; i < tensors(); ++i) {
      if (header_.is_sum(i)) round_output(i, 0, header_.elements[i]);
    }
  }

 private:
  [[nodiscard]] int tensors() const { return header_.inputs + header_.outputs; }
  [[nodiscard]] int64_t row_elements(int i) const { return header_.elements[i] / header_.rows; }

  void run_whole() {
    for (int i = header_.inputs; i < tensors(); ++i) set_output(i, 0);
    call_kernel(params_of(WidenedRows::all));
    for (int i = header_.inputs; i < tensors(); ++i) round_output(i, 0, header_.elements[i]);
  }

  void run_block(int64_t first, int64_t rows) {
    for (int i = 0; i < header_.inputs; ++i) {
      if (header_.is_divided(i)) set_input(i, first, rows * row_elements(i));
    }
    for (int i = header_.inputs; i < tensors(); ++i) {
      set_output(i, first);
      if (header_.is_sum(i) && first > 0) outputs_[i - header_.inputs] = block_sums_[i];
    }
    if (ir::computes_parts(header_)) {
      alignas(16) std::byte params[ir::kMostPartParams];
      std::memcpy(params, params_of(WidenedRows::all), static_cast<size_t>(header_.params_bytes));
      op_.memory.part.part(params, first, rows);
      call_kernel(params);
    } else {
      const bool is_last = first + rows == header_.rows;
      call_kernel(params_of(is_last ? WidenedRows::last_block : WidenedRows::block));
    }
    for (int i = header_.inputs; i < tensors(); ++i) {
      if (!header_.is_sum(i)) {
        round_output(i, first, rows * row_elements(i));
      } else if (first > 0) {
        add(sum_of(i), block_sums_[i], header_.elements[i], pool_);
      }
    }
  }

  // Sets an input from row `first` on; widens so many elements.
  void set_input(int i, int64_t first, int64_t elements) {
    const auto* const from =
        static_cast<const std::byte*>(call_.inputs[i]) + first * header_.row_bytes[i];
    inputs_[i] = call_.inputs[i] == nullptr ? nullptr : from;
    if (header_.narrow[i] == 0) return;
    widen(wide_[i], reinterpret_cast<const uint16_t*>(from), elements, header_.narrow[i] == kBrain,
          pool_);
    inputs_[i] = wide_[i];
  }

  void set_output(int i, int64_t first) {
    const int o = i - header_.inputs;
    outputs_[o] = header_.narrow[i] != 0
                      ? static_cast<void*>(wide_[i])
                      : static_cast<std::byte*>(call_.outputs[o]) + first * header_.row_bytes[i];
  }

  void round_output(int i, int64_t first, int64_t elements) {
    if (header_.narrow[i] == 0) return;
    auto* const to =
        static_cast<std::byte*>(call_.outputs[i - header_.inputs]) + first * header_.row_bytes[i];
    narrow(reinterpret_cast<uint16_t*>(to), wide_[i], elements, header_.narrow[i] == kBrain, pool_);
  }

  [[nodiscard]] float* sum_of(int i) const {
    return header_.narrow[i] != 0 ? wide_[i]
                                  : static_cast<float*>(call_.outputs[i - header_.inputs]);
  }

  [[nodiscard]] const std::byte* params_of(WidenedRows rows) const {
    return static_cast<const std::byte*>(call_.params) + ir::inner_params_at(header_, rows);
  }

  void call_kernel(const std::byte* params) {
    kernel_({outputs_, inputs_, scratch_, params, call_.input_count, call_.output_count, call_.pool,
             call_.swap});
  }

  const ir::OpDef& op_;
  const WidenedHeader& header_;
  const ir::KernelCall& call_;
  ir::KernelFn kernel_;
  parallel::ThreadPool* pool_;
  bool is_whole_;
  float* wide_[ir::kMostWidened] = {};        // copies of narrow tensors
  float* block_sums_[ir::kMostWidened] = {};  // outputs of a block that are added to those before
  const void* inputs_[ir::kMostWidened] = {};
  void* outputs_[ir::kMostWidened] = {};
  std::byte* scratch_;
};

template <bool fast>
void run_widened(const ir::KernelCall& call) {
  const ir::OpDef& op = *ir::find_op(static_cast<const WidenedHeader*>(call.params)->op);
  const ir::KernelFn kernel = fast && op.kernels.fast != nullptr ? op.kernels.fast : op.kernels.ref;
  WidenedCall(op, call, kernel, fast ? call.pool : nullptr).run();
}

}  // namespace
}  // namespace thimble::ops

namespace thimble::ir {
KernelFn widened_ref() { return &ops::run_widened<false>; }
KernelFn widened_fast() { return &ops::run_widened<true>; }
}  // namespace thimble::ir
