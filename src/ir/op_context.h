// Arguments of the rules of an op: the types and attributes of one call.
#pragma once

#include <thimble/error.h>
#include <thimble/graph.h>
#include <thimble/types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "ir/attrs.h"
#include "ir/type_set.h"

namespace thimble::ir {

struct OpDef;
struct Node;

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  std::shared_ptr<const Quantization> quantization = nullptr;  // shared by copies; null: none

  bool operator==(const TensorType& other) const {
    return dtype == other.dtype && shape == other.shape &&
           (quantization == other.quantization ||
            (quantization && other.quantization && *quantization == *other.quantization));
  }
};

// Whether parameters of this type can be trained: f32, and the weights (i8 with a scale) and biases
// (i32) of quantized networks.
[[nodiscard]] inline bool is_trainable(const TensorType& type) {
  return type.dtype == DType::f32 || type.dtype == DType::i32 ||
         (type.dtype == DType::i8 && type.quantization != nullptr);
}

// The error text for an invalid quantization of a type, or "".
[[nodiscard]] std::string quantization_error(const TensorType& type);

// "f32[2, 3]", "i8[2, 3] (scale 0.5, zero point 3)"
[[nodiscard]] std::string to_string(const TensorType& type);

// One input or output, for documentation and checks.
struct ArgDoc {
  const char* name;
  const char* doc;        // shape and meaning: "[N, H, W, C]"
  bool optional = false;  // may be left out
  // Rank of a batch, whose first dimension counts samples; 0: not a batch. If the first input is a
  // batch, a caller may pass one sample of it, and of the other batches.
  int batch_rank = 0;
  bool state = false;  // for a layer's parameters: kept between batches and not trained
  // The types that an input takes in the op's usual kernels; empty: see usual_types (op_def.h).
  TypeSet types = {};
  int type_of = -1;  // the input (of those before it) whose type it must have; -1: none
};

// Argument of shape rules. An absent optional input is a null pointer.
struct InferContext {
  const OpDef& op;
  const Attrs& attrs;
  std::span<const TensorType* const> inputs;

  [[nodiscard]] bool has(int i) const {
    return static_cast<size_t>(i) < inputs.size() && inputs[static_cast<size_t>(i)] != nullptr;
  }
  [[nodiscard]] const TensorType& input(int i) const { return *inputs[static_cast<size_t>(i)]; }
  [[nodiscard]] const Shape& shape(int i) const { return input(i).shape; }
  // Throws Error "[op] message; got f32[2, 3], f32[4]".
  [[noreturn]] void fail(const std::string& message) const;
  // fail(message) unless the condition holds.
  void require(bool condition, const std::string& message) const {
    if (!condition) fail(message);
  }
  // Fails unless input i has this element type, where attributes decide about it. What an input
  // takes at all is declared (ArgDoc::types) and checked before the shape rule runs.
  void require_dtype(int i, DType dtype) const;
  // Fails unless input i has this number of dimensions.
  void require_rank(int i, int rank) const;
};

// Argument of gradient rules, which build nodes with the ordinary builder functions.
struct VjpContext {
  const Attrs& attrs;
  std::span<const Value> inputs;
  std::span<const Value> outputs;
  std::span<const Value> grads;  // gradients of the outputs; none where no gradient arrives
  std::span<const bool> needs;   // which inputs want a gradient

  [[nodiscard]] Value input(int i) const {
    return static_cast<size_t>(i) < inputs.size() ? inputs[static_cast<size_t>(i)] : Value();
  }
  [[nodiscard]] Value output(int i = 0) const { return outputs[static_cast<size_t>(i)]; }
  [[nodiscard]] Value grad(int i = 0) const { return grads[static_cast<size_t>(i)]; }
  [[nodiscard]] bool need(int i) const {
    return static_cast<size_t>(i) < needs.size() && needs[static_cast<size_t>(i)];
  }
};

enum class Phase : uint8_t { training, inference };

// Argument of rules that replace a node by others. The inputs are already in the new graph.
struct RewriteContext {
  Graph& graph;
  const Attrs& attrs;
  std::span<const Value> inputs;
  [[nodiscard]] Value input(int i) const {
    return static_cast<size_t>(i) < inputs.size() ? inputs[static_cast<size_t>(i)] : Value();
  }
};

// A kernel's parameters: the bytes of a POD struct.
class Params {
 public:
  Params() = default;
  template <class T>
  requires std::is_trivially_copyable_v<T> Params(const T& value)
      : bytes_(sizeof(T)) {  // NOLINT: implicit by design
    std::memcpy(bytes_.data(), &value, sizeof(T));
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
  template <class T>
  [[nodiscard]] T as() const {
    T value;
    std::memcpy(&value, bytes_.data(), sizeof(T));
    return value;
  }
  // A copy whose struct change(void*) has changed.
  template <class F>
  [[nodiscard]] Params changed(const F& change) const {
    Params copy = *this;
    change(static_cast<void*>(copy.bytes_.data()));
    return copy;
  }
  // From the bytes of a struct, as bytes() gives them.
  [[nodiscard]] static Params of_bytes(std::span<const std::byte> bytes) {
    Params params;
    params.bytes_.assign(bytes.begin(), bytes.end());
    return params;
  }

 private:
  std::vector<std::byte> bytes_;
};

// Types of a node whose shapes are known, for choosing parameters and workspace.
struct KernelContext {
  const Attrs& attrs;
  std::span<const TensorType* const> inputs;
  std::span<const TensorType> outputs;
  [[nodiscard]] bool has(int i) const {
    return static_cast<size_t>(i) < inputs.size() && inputs[static_cast<size_t>(i)] != nullptr;
  }
  [[nodiscard]] const Shape& in(int i) const { return inputs[static_cast<size_t>(i)]->shape; }
  [[nodiscard]] const Shape& out(int i = 0) const { return outputs[static_cast<size_t>(i)].shape; }
};

}  // namespace thimble::ir
