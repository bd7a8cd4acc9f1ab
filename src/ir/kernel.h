// Adapts a kernel's natural C signature to the call form of the executor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace thimble::parallel {
class ThreadPool;  // passed to kernels
}

namespace thimble::ir {

// Moves values between memory and a swap file. exec::SwapFile implements it.
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

// The arguments of one call: pointers to whole tensors, in the order of the op's outputs and
// inputs. The array of inputs is padded with null pointers to the number that the op declares.
struct KernelCall {
  void* const* outputs;
  const void* const* inputs;
  void* workspace;     // 64-byte aligned
  const void* params;  // the op's own POD struct
  int input_count;     // inputs given
  int output_count;
  parallel::ThreadPool* pool;     // null for reference kernels
  SwapTransfers* swap = nullptr;  // null if the step swaps nothing
};

// What a kernel's signature says of it.
struct KernelTraits {
  // The name of the function, as the compiler spells it: its C source is found by it. Which
  // function runs may depend on the parameters.
  const char* (*name)(const void* params);
  bool takes_workspace;
};

// A kernel in the call form of the executor. Immutable. Two pointers: every call of a program holds
// one.
class KernelFn {
 public:
  using Run = void (*)(const KernelCall&);

  constexpr KernelFn() = default;
  constexpr KernelFn(std::nullptr_t) {}  // NOLINT: implicit by design
  // traits: null for a function that exists in C++ alone.
  constexpr KernelFn(Run run, const KernelTraits* traits = nullptr)  // NOLINT: implicit by design
      : run_(run), traits_(traits) {}
  // A lambda without captures.
  template <class F>
  requires(std::is_class_v<F>&& std::is_convertible_v<F, Run>) constexpr KernelFn(F run)  // NOLINT
      : run_(run) {}

  void operator()(const KernelCall& call) const { run_(call); }
  bool operator==(const KernelFn&) const = default;
  [[nodiscard]] constexpr const KernelTraits* traits() const { return traits_; }
  // Null where the kernel exists in C++ alone.
  [[nodiscard]] constexpr const char* name(const void* params) const {
    return traits_ == nullptr ? nullptr : traits_->name(params);
  }
  // False if the kernel never asks for one.
  [[nodiscard]] constexpr bool takes_workspace() const {
    return traits_ == nullptr || traits_->takes_workspace;
  }

 private:
  Run run_ = nullptr;
  const KernelTraits* traits_ = nullptr;
};

namespace detail {

// Extracts the arguments of a kernel from a call by their types, one after another.
class ArgumentSource {
 public:
  explicit ArgumentSource(const KernelCall& call) : call_(call) {}

  template <class T>
  T take() {
    if constexpr (std::is_same_v<T, parallel::ThreadPool&>) {
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

template <class... Args>
consteval bool in_double_precision(void (*)(Args...)) {
  return (std::is_same_v<Args, double*> || ...);
}

template <class... Args>
consteval bool takes_pool(void (*)(Args...)) {
  return (std::is_same_v<Args, parallel::ThreadPool&> || ...);
}

template <class... Args>
consteval bool takes_workspace(void (*)(Args...)) {
  return (std::is_same_v<Args, void*> || ...);
}

template <auto kernel>
const char* kernel_name(const void* /*params*/) {
  return __PRETTY_FUNCTION__;
}

template <auto kernel>
inline constexpr KernelTraits kKernelTraits = {&kernel_name<kernel>, takes_workspace(kernel)};

template <auto kernel, class... Args>
void call_kernel(const KernelCall& call, void (*)(Args...)) {
  ArgumentSource source(call);
  // Braced initialisation evaluates from left to right.
  std::tuple<Args...> args{source.take<Args>()...};
  std::apply(kernel, args);
}

}  // namespace detail

// The call form of a kernel with a natural signature. Destinations (mutable pointers) and sources
// (const pointers) stand in the order of the op's outputs and inputs; each list may be one array of
// pointers. `void*` is the workspace, a pointer to a struct the parameters, `int` the number of
// inputs, `ThreadPool&` the pool. Null for a kernel in double precision in a build without tests:
// only gradient checks run these.
template <auto kernel>
constexpr KernelFn kernel_fn() {
  constexpr bool tests_are_built = THIMBLE_DOUBLE_KERNELS;
  if constexpr (detail::in_double_precision(kernel) && !tests_are_built) {
    return nullptr;
  } else {
    constexpr auto run = [](const KernelCall& call) { detail::call_kernel<kernel>(call, kernel); };
    if constexpr (detail::takes_pool(kernel)) {
      return run;
    } else {
      return {run, &detail::kKernelTraits<kernel>};
    }
  }
}

}  // namespace thimble::ir
