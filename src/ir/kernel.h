// From a kernel's natural C signature to the one call form the executor knows.
#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "exec/thread_pool.h"

namespace thimble::ir {

// What moves values between memory and a swap file: as exec::SwapFile, which see.
class SwapTransfers {
 public:
  SwapTransfers() = default;
  virtual ~SwapTransfers() = default;
  SwapTransfers(const SwapTransfers&) = delete;
  SwapTransfers& operator=(const SwapTransfers&) = delete;

  virtual void start_write(int slot, const void* data, int64_t bytes, int64_t deadline) = 0;
  virtual void start_read(int slot, void* data, int64_t bytes, int64_t deadline) = 0;
  [[nodiscard]] virtual bool wait(int slot) = 0;
};

// One call: pointers to whole tensors, in the order of the op's outputs and inputs. The array of
// inputs is filled up with null pointers to the number the op declares.
struct KernelCall {
  void* const* outputs;
  const void* const* inputs;
  void* workspace;     // 64-byte aligned
  const void* params;  // the op's own POD struct
  int input_count;     // inputs given
  int output_count;
  exec::ThreadPool* pool;
  SwapTransfers* swap = nullptr;  // null where the step has none
};

using KernelFn = void (*)(const KernelCall&);

namespace detail {

// Takes the arguments of a kernel from a call, one by one, by their types.
class ArgumentSource {
 public:
  explicit ArgumentSource(const KernelCall& call) : call_(call) {}

  template <class T>
  T take() {
    if constexpr (std::is_same_v<T, exec::ThreadPool&>) {
      return *call_.pool;
    } else if constexpr (std::is_same_v<T, int>) {
      return call_.input_count;  // of ops with any number of inputs
    } else {
      static_assert(std::is_pointer_v<T>, "kernels take pointers, a pool and counts");
      using Pointee = std::remove_pointer_t<T>;
      if constexpr (std::is_same_v<Pointee, void>) {
        return call_.workspace;
      } else if constexpr (std::is_pointer_v<std::remove_cv_t<Pointee>>) {
        using Element = std::remove_pointer_t<std::remove_cv_t<Pointee>>;
        if constexpr (std::is_const_v<Element>) {
          return reinterpret_cast<T>(call_.inputs);
        } else {
          return reinterpret_cast<T>(call_.outputs);
        }
      } else if constexpr (std::is_class_v<Pointee>) {
        return static_cast<T>(call_.params);
      } else if constexpr (std::is_const_v<Pointee>) {
        return static_cast<T>(call_.inputs[next_input_++]);
      } else {
        return static_cast<T>(call_.outputs[next_output_++]);
      }
    }
  }

 private:
  const KernelCall& call_;
  int next_input_ = 0;
  int next_output_ = 0;
};

template <auto kernel, class... Args>
void call_kernel(const KernelCall& call, void (*)(Args...)) {
  ArgumentSource source(call);
  // Braced initialisation evaluates from left to right.
  std::tuple<Args...> args{source.take<Args>()...};
  std::apply(kernel, args);
}

}  // namespace detail

// The call form of a kernel with a natural signature: destinations (mutable pointers) and sources
// (const pointers) in the order of the op's outputs and inputs, each list possibly as one array of
// pointers; `void*` is the workspace, a pointer to a struct the parameters, `int` the number of
// inputs, `ThreadPool&` the pool.
template <auto kernel>
constexpr KernelFn kernel_fn() {
  return [](const KernelCall& call) { detail::call_kernel<kernel>(call, kernel); };
}

}  // namespace thimble::ir
