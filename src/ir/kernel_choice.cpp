// Chooses an op's kernels by the types of its inputs.
#include <fmt/format.h>

#include <algorithm>

#include "ir/graph.h"
#include "ir/widened.h"

namespace thimble::ir {
namespace {

bool is_16_bit(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

// The further kernels for inputs of these types, or null.
const TypedKernels* typed_kernels(const OpDef& op, std::span<const TensorType* const> inputs) {
  for (const TypedKernels& kernels : op.kernels.typed) {
    bool fits = !inputs.empty();
    for (size_t i = 0; fits && i < inputs.size(); ++i) {
      if (inputs[i] == nullptr) continue;
      fits = inputs[i]->dtype == kernels.inputs[std::min(i, kernels.inputs.size() - 1)];
    }
    if (fits) return &kernels;
  }
  return nullptr;
}

// "f32, i32, u8 with i32": types of inputs that an op takes, the usual one first.
std::string kernel_types(const OpDef& op, DType usual) {
  std::string text = thimble::to_string(usual);
  for (const TypedKernels& kernels : op.kernels.typed) {
    std::string types;
    for (const DType dtype : kernels.inputs) {
      types += fmt::format("{}{}", types.empty() ? "" : " with ", thimble::to_string(dtype));
    }
    text += ", " + types;
  }
  return text;
}

// The 16-bit type among the inputs, if any. Throws Error if there are two.
std::optional<DType> narrow_type(const InferContext& c) {
  std::optional<DType> found;
  for (const TensorType* const type : c.inputs) {
    if (type == nullptr || !is_16_bit(type->dtype)) continue;
    c.require(!found || *found == type->dtype, "expected f16 or bf16, not both: cast one of them");
    found = type->dtype;
  }
  return found;
}

// Whether the shape rule takes f64 in the place of an input, or of all inputs of its type.
bool takes_f64(const InferContext& c, size_t input, bool all) {
  std::vector<TensorType> types;
  types.reserve(c.inputs.size());
  std::vector<const TensorType*> pointers(c.inputs.begin(), c.inputs.end());
  for (size_t i = 0; i < pointers.size(); ++i) {
    if (pointers[i] == nullptr) continue;
    if (i != input && !(all && pointers[i]->dtype == pointers[input]->dtype)) continue;
    types.push_back({DType::f64, pointers[i]->shape});
    pointers[i] = &types.back();
  }
  try {
    static_cast<void>(c.op.infer({c.op, c.attrs, pointers}));
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Applies the shape rule. Where it does not look at the type of an input, the kernels read f32,
// unless the op has others for these types. That it does not look shows where it takes f64, which
// no kernel reads that has a type of its own.
std::vector<TensorType> checked_types(const OpDef& op, const Attrs& attrs,
                                      std::span<const TensorType* const> inputs) {
  const InferContext c{op, attrs, inputs};
  std::vector<TensorType> outputs = op.infer(c);
  if (op.kernels.any_type || typed_kernels(op, inputs) != nullptr) return outputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr || inputs[i]->dtype == DType::f32) continue;
    if (takes_f64(c, i, false) || takes_f64(c, i, true)) {
      c.require_dtype(static_cast<int>(i), DType::f32);
    }
  }
  return outputs;
}

// Applies the shape rule to the same inputs in f32.
std::vector<TensorType> widened_types(const OpDef& op, const Attrs& attrs,
                                      std::span<const TensorType* const> inputs, DType narrow) {
  // An updated value is written in its own type.
  for (const Alias& update : op.memory.updates) {
    const auto in = static_cast<size_t>(update.in);
    if (in < inputs.size() && inputs[in] != nullptr) {
      InferContext{op, attrs, inputs}.require(
          !is_16_bit(inputs[in]->dtype),
          fmt::format("expected {}, which is updated, of type f32: only gradients may have 16 bits",
                      op.signature.inputs[in].name));
    }
  }
  std::vector<TensorType> wide;
  wide.reserve(inputs.size());
  std::vector<const TensorType*> pointers;
  for (const TensorType* const type : inputs) {
    if (type == nullptr || !is_16_bit(type->dtype)) {
      pointers.push_back(type);
      continue;
    }
    wide.push_back({DType::f32, type->shape});
    pointers.push_back(&wide.back());
  }
  std::vector<TensorType> outputs = checked_types(op, attrs, pointers);
  const std::vector<int>& stay = op.kernels.stay_f32;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const bool stays = std::find(stay.begin(), stay.end(), static_cast<int>(i)) != stay.end();
    const bool updates =
        std::any_of(op.memory.updates.begin(), op.memory.updates.end(),
                    [&](const Alias& alias) { return alias.out == static_cast<int>(i); });
    if (outputs[i].dtype == DType::f32 && !stays && !updates) outputs[i].dtype = narrow;
  }
  return outputs;
}

// Whether the op's f32 kernels compute on copies of 16-bit inputs.
bool widens(const OpDef& op, std::span<const TensorType* const> inputs) {
  const bool narrow = std::any_of(inputs.begin(), inputs.end(), [](const TensorType* type) {
    return type != nullptr && is_16_bit(type->dtype);
  });
  return narrow && !op.kernels.any_type && typed_kernels(op, inputs) == nullptr;
}

// Whether the op's own kernel for 16-bit types takes these inputs.
bool has_16bit_kernel(const OpDef& op, std::span<const TensorType* const> inputs) {
  const std::vector<int>& wanted = op.kernels.inputs_16bit;
  return op.kernels.fast_16bit != nullptr &&
         std::all_of(wanted.begin(), wanted.end(), [&inputs](int i) {
           const TensorType* const type = inputs[static_cast<size_t>(i)];
           return type != nullptr && is_16_bit(type->dtype);
         });
}

}  // namespace

void InferContext::require_dtype(int i, DType dtype) const {
  if (input(i).dtype == dtype) return;
  if (typed_kernels(op, inputs) != nullptr) return;
  // Whether this input has the same type in all kernels, as indices have.
  const bool is_fixed = std::all_of(
      op.kernels.typed.begin(), op.kernels.typed.end(), [&](const TypedKernels& kernels) {
        return kernels.inputs[std::min(static_cast<size_t>(i), kernels.inputs.size() - 1)] == dtype;
      });
  if (!is_fixed) {
    fail(fmt::format("has no kernel for these types, it has {}: cast first",
                     kernel_types(op, dtype)));
  }
  const auto& declared = op.signature.inputs;
  const size_t at = std::min(static_cast<size_t>(i), declared.size() - 1);
  fail(fmt::format("expected {} of type {}: cast first", declared[at].name,
                   thimble::to_string(dtype)));
}

std::vector<TensorType> infer_types(const OpDef& op, const Attrs& attrs,
                                    std::span<const TensorType* const> inputs) {
  const InferContext c{op, attrs, inputs};
  if (!widens(op, inputs)) return checked_types(op, attrs, inputs);
  return widened_types(op, attrs, inputs, *narrow_type(c));
}

ChosenKernels kernels_for(const OpDef& op, std::span<const TensorType* const> inputs) {
  const Kernels& own = op.kernels;
  if (const TypedKernels* const typed = typed_kernels(op, inputs)) {
    return {&op, typed, false, typed->ref, typed->ref, typed->fast};
  }
  if (!widens(op, inputs)) return {&op, nullptr, false, own.ref, own.ref64, own.fast};
  const bool has_own = has_16bit_kernel(op, inputs);
  return {&op,     nullptr,
          true,    own.ref == nullptr ? nullptr : widened_ref(),
          nullptr, has_own ? own.fast_16bit : own.ref == nullptr ? nullptr : widened_fast()};
}

ChosenKernels kernels_of(const Graph& graph, const Node& node) {
  // Planners call this often, so a small number of inputs needs no allocation.
  const TensorType* few[16];
  std::vector<const TensorType*> many;
  // The rule of a tiled update computes on f32 only.
  const size_t declared = node.op->signature.inputs.size();
  const size_t count = node.tiled ? std::min(declared, node.inputs.size()) : node.inputs.size();
  if (count > std::size(few)) many.resize(count);
  const TensorType** const inputs = count > std::size(few) ? many.data() : few;
  for (size_t i = 0; i < count; ++i) {
    inputs[i] = node.inputs[i] < 0 ? nullptr : &graph.type(node.inputs[i]);
  }
  return kernels_for(*node.op, {inputs, count});
}

Params ChosenKernels::params(const KernelContext& c) const {
  if (widens) return widened_params(*op, c);
  const auto make =
      typed != nullptr && typed->params != nullptr ? typed->params : op->kernels.params;
  return make == nullptr ? Params() : make(c);
}

int64_t ChosenKernels::workspace(const Params& params, int threads, bool wants_fast) const {
  if (widens) return widened_workspace(*op, params, threads, wants_fast);
  const auto bytes = typed != nullptr ? typed->workspace : op->kernels.workspace;
  return bytes == nullptr ? 0 : bytes(params, threads);
}

double ChosenKernels::flops(const Params& params) const {
  if (op->kernels.flops == nullptr || typed != nullptr) return 0.0;
  return op->kernels.flops(widens ? narrow_params(params) : params);
}

}  // namespace thimble::ir
