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

const ArgDoc& declared_input(const OpDef& op, size_t i) {
  const std::vector<ArgDoc>& declared = op.signature.inputs;
  return declared[std::min(i, declared.size() - 1)];
}

// "floating, i32, u8 with i32": the types that the inputs of an op have together.
std::string rows_text(const OpDef& op) {
  std::string text;
  for (const std::vector<TypeSet>& row : type_rows(op)) {
    std::string types;
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0 && row[i] == row[i - 1]) continue;
      types += fmt::format("{}{}", types.empty() ? "" : " with ", to_string(row[i]));
    }
    text += (text.empty() ? "" : ", ") + types;
  }
  return text;
}

// The types that an input takes. f64 is floating and i4 an integer, so that where one of them is
// not taken the types are named one by one.
std::string text_for(TypeSet taken, DType given) {
  if (given != DType::f64 && given != DType::i4) return to_string(taken);
  std::vector<const char*> names;
  for (const DType dtype : kDTypes) {
    if (taken.has(dtype)) names.push_back(thimble::to_string(dtype));
  }
  if (names.size() < 2) return to_string(taken);
  const char* const last = names.back();
  names.pop_back();
  return fmt::format("{} or {}", fmt::join(names, ", "), last);
}

// Fails unless every input has a type that the op takes of it, together with the others.
void check_declared_types(const InferContext& c) {
  if (c.op.signature.inputs.empty() || typed_kernels(c.op, c.inputs) != nullptr) return;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    if (c.inputs[i] == nullptr) continue;
    const DType dtype = c.inputs[i]->dtype;
    const ArgDoc& input = declared_input(c.op, i);
    if (!usual_types(c.op, i).has(dtype)) {
      const TypeSet taken = taken_types(c.op, i);
      if (taken.has(dtype)) {
        c.fail(fmt::format("has no kernel for these types together, it has {}: cast first",
                           rows_text(c.op)));
      }
      // An input of i8 alone has scales.
      const char* const advice = taken == DType::i8 ? "quantize it first" : "cast first";
      c.fail(fmt::format("{} must be {}, got {}: {}", input.name, text_for(taken, dtype),
                         thimble::to_string(dtype), advice));
    }
    const int like = input.type_of;
    if (like >= 0 && c.has(like) && c.input(like).dtype != dtype) {
      const ArgDoc& other = declared_input(c.op, static_cast<size_t>(like));
      if (&other == &input) {
        c.fail(fmt::format("expected {} of one type: cast some of them", input.name));
      }
      c.fail(fmt::format("{} must have the type of {}, {}, got {}: cast one of them", input.name,
                         other.name, thimble::to_string(c.input(like).dtype),
                         thimble::to_string(dtype)));
    }
  }
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

// Applies the shape rule to the same inputs in f32.
std::vector<TensorType> widened_types(const OpDef& op, const Attrs& attrs,
                                      std::span<const TensorType* const> inputs, DType narrow) {
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
  std::vector<TensorType> outputs = op.infer({op, attrs, pointers});
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
  if (input(i).dtype == dtype || typed_kernels(op, inputs) != nullptr) return;
  fail(fmt::format("{} must be {} with these attributes: cast first",
                   declared_input(op, static_cast<size_t>(i)).name, thimble::to_string(dtype)));
}

TypeSet usual_types(const OpDef& op, size_t i) {
  const ArgDoc& declared = declared_input(op, i);
  if (!declared.types.empty()) return declared.types;
  if (op.kernels.any_type) return kAnyType;
  if (op.flow.reads_rng && i == 0) return DType::u32;
  const auto& updates = op.memory.updates;
  const bool updated = std::any_of(updates.begin(), updates.end(), [i](const Alias& alias) {
    return static_cast<size_t>(alias.in) == i;
  });
  return updated ? TypeSet(DType::f32) : kFloatingTypes;
}

std::vector<std::vector<TypeSet>> type_rows(const OpDef& op) {
  const size_t count = op.signature.inputs.size();
  std::vector<std::vector<TypeSet>> rows(1);
  for (size_t i = 0; i < count; ++i) rows[0].push_back(usual_types(op, i));
  for (const TypedKernels& kernels : op.kernels.typed) {
    std::vector<TypeSet> row;
    for (size_t i = 0; i < count; ++i) {
      row.emplace_back(kernels.inputs[std::min(i, kernels.inputs.size() - 1)]);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

TypeSet taken_types(const OpDef& op, size_t i) {
  TypeSet taken = usual_types(op, i);
  for (const TypedKernels& kernels : op.kernels.typed) {
    taken |= kernels.inputs[std::min(i, kernels.inputs.size() - 1)];
  }
  return taken;
}

std::vector<TensorType> infer_types(const OpDef& op, const Attrs& attrs,
                                    std::span<const TensorType* const> inputs) {
  const InferContext c{op, attrs, inputs};
  check_declared_types(c);
  if (!widens(op, inputs)) return op.infer(c);
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
  const KernelFn reference = typed != nullptr ? typed->ref : op->kernels.ref;
  if (!wants_fast && !reference.takes_workspace()) return 0;
  const auto bytes = typed != nullptr ? typed->workspace : op->kernels.workspace;
  return bytes == nullptr ? 0 : bytes(params, threads);
}

double ChosenKernels::flops(const Params& params) const {
  if (op->kernels.flops == nullptr || typed != nullptr) return 0.0;
  return op->kernels.flops(widens ? narrow_params(params) : params);
}

double ChosenKernels::fast_flops(const Params& params) const {
  if (op->kernels.fast_flops == nullptr || typed != nullptr) return flops(params);
  return op->kernels.fast_flops(widens ? narrow_params(params) : params);
}

}  // namespace thimble::ir
