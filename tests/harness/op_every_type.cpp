#include "harness/op_every_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "harness/op_data.h"
#include "harness/op_run.h"
#include "harness/op_types.h"

namespace thimble::test {
namespace {

using ir::Bytes;
using ir::Precision;

// Whole numbers that every integer type holds but the unsigned ones, which wrap.
constexpr double kLargest = 7.0;

// Inputs whose type says what they mean, so that another type means another thing.
constexpr struct {
  std::string_view op;
  size_t input;
} kMeanings[] = {
    {"scaled_dot_product_attention", 4},       // a mask of f32 is added, one of u8 hides
    {"scaled_dot_product_attention_grad", 7},  // likewise
};

// Tables have tolerances for their own numbers. With these, the terms of a sum may cancel.
constexpr double kRoom = 100.0;

// A node and the contents of its inputs in their usual types.
struct UsualNode {
  const ir::OpDef& op;
  const ir::Attrs& attrs;
  std::vector<Tensor> inputs;
  double tolerance;
};

UsualNode usual_node(const ir::Graph& graph, const ir::Node& node, const std::vector<Bytes>& values,
                     double tolerance) {
  UsualNode usual{*node.op, node.attrs, {}, tolerance};
  for (const int id : node.inputs) {
    if (id < 0) {
      usual.inputs.push_back({{}, {}, true});
    } else {
      usual.inputs.push_back({graph.type(id), values[static_cast<size_t>(id)]});
    }
  }
  return usual;
}

// The same types with `dtype` in the place of one input, or (-1) of all f32 inputs; none if nothing
// changes.
std::optional<std::vector<ir::TensorType>> changed_types(const UsualNode& node, int which,
                                                         DType dtype) {
  std::vector<ir::TensorType> types;
  bool any = false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Tensor& input = node.inputs[i];
    types.push_back(input.type);
    const bool is_meant = which < 0 ? input.type.dtype == DType::f32 : static_cast<int>(i) == which;
    if (input.absent || !is_meant || input.type.dtype == dtype) continue;
    if (input.type.quantization != nullptr) continue;  // a scale means integers
    types.back().dtype = dtype;
    any = true;
  }
  return any ? std::optional(types) : std::nullopt;
}

std::string names_of(const UsualNode& node, const std::vector<ir::TensorType>& types) {
  std::string names = node.op.name;
  for (size_t i = 0; i < types.size(); ++i) {
    names += i == 0 ? " of " : ", ";
    names += node.inputs[i].absent ? "-" : to_string(types[i].dtype);
  }
  return names;
}

// The types of the outputs; none if they are refused. error: what is wrong with the refusal.
std::optional<std::vector<ir::TensorType>> inferred(const UsualNode& node,
                                                    const std::vector<ir::TensorType>& types,
                                                    std::string& error) {
  std::vector<const ir::TensorType*> pointers;
  for (size_t i = 0; i < types.size(); ++i) {
    pointers.push_back(node.inputs[i].absent ? nullptr : &types[i]);
  }
  try {
    return ir::infer_types(node.op, node.attrs, pointers);
  } catch (const Error& refusal) {
    const std::string what = refusal.what();
    if (what.rfind(fmt::format("[{}] ", node.op.name), 0) != 0 ||
        what.find("; got ") == std::string::npos) {
      error = fmt::format("the refusal does not name op and types: {}", what);
    }
  } catch (const std::exception& other) {
    error = fmt::format("throws no Error: {}", other.what());
  }
  return std::nullopt;
}

// Contents in other types, by the rules of cast.
std::vector<Tensor> converted(const std::vector<Tensor>& inputs,
                              const std::vector<ir::TensorType>& types) {
  std::vector<Tensor> made = inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].absent || inputs[i].type.dtype == types[i].dtype) continue;
    made[i] = {types[i], bytes_of(numbers_of(inputs[i].bytes, inputs[i].type), types[i].dtype)};
  }
  return made;
}

// Whether f32 holds whole numbers of this size exactly.
bool is_exact(double number) { return std::abs(number) < 0x1p24; }

// Whether both hold the same numbers, and f32 holds those that are integers exactly.
bool hold_the_same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].absent || a[i].type.dtype == b[i].type.dtype) continue;
    const std::vector<double> numbers = numbers_of(a[i].bytes, a[i].type);
    if (numbers != numbers_of(b[i].bytes, b[i].type)) return false;
    if (is_floating(a[i].type.dtype)) continue;
    if (!std::all_of(numbers.begin(), numbers.end(), is_exact)) return false;
  }
  return true;
}

std::vector<ir::TensorType> types_of(const std::vector<Tensor>& inputs) {
  std::vector<ir::TensorType> types;
  for (const Tensor& input : inputs) types.push_back(input.type);
  return types;
}

// Whether an output is what the usual types give. Integers wrap: those of two integer types are
// compared in the bits that both have, and not at all where f32 does not hold them exactly.
bool is_same(const Bytes& got, const ir::TensorType& type, const Bytes& wanted,
             const ir::TensorType& usual) {
  if (usual.dtype == type.dtype) return got == wanted;
  const std::vector<double> theirs = numbers_of(wanted, usual);
  if (is_floating(type.dtype)) return got == bytes_of(theirs, type.dtype);
  const Array mine = Array::of_bytes(type.dtype, type.shape, got);
  const std::vector<int64_t> integers = mine.integers();
  const int shared = std::min(bits(type.dtype), is_floating(usual.dtype) ? 64 : bits(usual.dtype));
  for (size_t i = 0; i < integers.size(); ++i) {
    if (!is_exact(theirs[i])) continue;
    const uint64_t difference =
        static_cast<uint64_t>(integers[i]) - static_cast<uint64_t>(static_cast<int64_t>(theirs[i]));
    if (difference << (64 - shared) != 0) return false;
  }
  return true;
}

// Whether the fast kernel's output is the reference's, up to another order of sums.
bool agrees(const Bytes& fast, const Bytes& reference, const ir::TensorType& type,
            double tolerance) {
  if (!is_floating(type.dtype)) return fast == reference;
  const double rounding = type.dtype == DType::bf16  ? 0x1p-7
                          : type.dtype == DType::f16 ? 0x1p-10
                                                     : 0.0;
  return relative_difference(numbers_of(fast, type), numbers_of(reference, type)) <=
         kRoom * tolerance + rounding;
}

bool means_the_same(const UsualNode& node, const std::vector<ir::TensorType>& types) {
  return std::none_of(std::begin(kMeanings), std::end(kMeanings), [&](const auto& meaning) {
    return meaning.op == node.op.name && meaning.input < types.size() &&
           types[meaning.input].dtype != node.inputs[meaning.input].type.dtype;
  });
}

// Runs a node with other types and compares it with its usual ones on the same numbers.
std::string run_typed(const UsualNode& node, const std::vector<ir::TensorType>& types,
                      const std::vector<ir::TensorType>& outputs) {
  const std::vector<Tensor> mine = converted(node.inputs, types);
  const std::vector<ir::TensorType> usual_types = types_of(node.inputs);
  const std::vector<Tensor> theirs = converted(mine, usual_types);
  const bool same_numbers = hold_the_same(mine, theirs) && means_the_same(node, types);
  std::string error;
  const auto usual_outputs = inferred(node, usual_types, error);
  if (!usual_outputs) return "is refused with its own types";
  const auto got = run_op(node.op, node.attrs, mine, Kernel::reference);
  const auto fast = run_op(node.op, node.attrs, mine, Kernel::fast);
  const auto wanted = run_op(node.op, node.attrs, theirs, Kernel::reference);
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (same_numbers && !is_same(got[o], outputs[o], wanted[o], (*usual_outputs)[o])) {
      return fmt::format("output {} ({}) is not what the usual types give for the same numbers", o,
                         to_string(outputs[o].dtype));
    }
    if (!agrees(fast[o], got[o], outputs[o], node.tolerance)) {
      return fmt::format(
          "output {} ({}) of the fast kernel differs from the reference's by {:.3g}", o,
          to_string(outputs[o].dtype),
          relative_difference(numbers_of(fast[o], outputs[o]), numbers_of(got[o], outputs[o])));
    }
  }
  return "";
}

// Sanitizers see what a kernel reads and writes: in elements of one, two and eight bytes.
bool is_sanitized(DType dtype) {
  return dtype == DType::bf16 || dtype == DType::i8 || dtype == DType::i64;
}

std::string check_node(const UsualNode& node, bool integers) {
  // Only ops of the library are run on widened copies.
  const bool widens = ir::find_op(node.op.name) == &node.op;
  for (const DType dtype : kDTypes) {
    if (is_floating(dtype) == integers) continue;
    if ((dtype == DType::f16 || dtype == DType::bf16) && !widens) continue;
    if (THIMBLE_SANITIZED && !is_sanitized(dtype)) continue;
    for (int which = -1; which < static_cast<int>(node.inputs.size()); ++which) {
      const auto types = changed_types(node, which, dtype);
      if (!types) continue;
      std::string error;
      const auto outputs = inferred(node, *types, error);
      if (outputs && error.empty()) error = run_typed(node, *types, *outputs);
      if (!error.empty()) return names_of(node, *types) + ": " + error;
    }
  }
  return "";
}

// The case with numbers that integers hold, of the same signs.
OpCase with_whole_numbers(OpCase test) {
  for (TensorSpec& spec : test.inputs) {
    if (spec.dtype != DType::f32) continue;
    spec.low = spec.low < 0.0 ? -kLargest : std::ceil(spec.low);
    spec.high = spec.high > 0.0 ? kLargest : std::floor(spec.high);
    spec.gap = std::ceil(spec.gap);
    spec.distinct = false;
  }
  return test;
}

// Rounds f32 sources to whole numbers.
void make_whole(CaseData& data) {
  for (auto& [id, numbers] : data.numbers) {
    for (double& number : numbers) number = std::round(number);
  }
}

}  // namespace

std::string check_every_type(const ir::OpDef& op, const OpCase& test) {
  for (const bool integers : {false, true}) {
    const OpCase own = integers ? with_whole_numbers(test) : test;
    const CaseGraph made = make_graph(op, own, true);
    CaseData data = make_data(made, own, 6);
    if (integers) make_whole(data);
    const auto values = ir::run_reference(made.graph, data.bytes(Precision::f32), Precision::f32);
    for (const ir::Node& node : made.graph.nodes) {
      if (ir::kernels_of(made.graph, node).ref == nullptr) continue;
      std::string error = check_node(usual_node(made.graph, node, values, own.tolerance), integers);
      if (!error.empty()) return error;
    }
  }
  return "";
}

void DeclaredTypes::add(const ir::OpDef& op, const OpCase& test) {
  const CaseGraph made = make_graph(op, test, true);
  for (const ir::Node& node : made.graph.nodes) add_node(made.graph, node);
}

void DeclaredTypes::add_node(const ir::Graph& graph, const ir::Node& node) {
  const ir::OpDef& op = *node.op;
  std::vector<ir::TypeSet>& taken = taken_[&op];
  taken.resize(std::max(taken.size(), node.inputs.size()));
  std::vector<ir::TensorType> own;
  for (const int id : node.inputs) own.push_back(id < 0 ? ir::TensorType() : graph.type(id));
  const auto takes = [&](const std::vector<ir::TensorType>& types) {
    std::vector<const ir::TensorType*> inputs;
    for (size_t i = 0; i < types.size(); ++i) {
      inputs.push_back(node.inputs[i] < 0 ? nullptr : &types[i]);
    }
    try {
      static_cast<void>(ir::infer_types(op, node.attrs, inputs));
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  for (size_t i = 0; i < own.size(); ++i) {
    if (node.inputs[i] < 0) continue;
    taken[i] |= own[i].dtype;
    for (const DType dtype : kDTypes) {
      if (taken[i].has(dtype) || !ir::taken_types(op, i).has(dtype)) continue;
      std::vector<ir::TensorType> alone = own;
      alone[i].dtype = dtype;
      std::vector<ir::TensorType> alike = own;  // with all inputs that have its type
      for (ir::TensorType& type : alike) {
        if (type.dtype == own[i].dtype) type.dtype = dtype;
      }
      if (takes(alone) || takes(alike)) taken[i] |= dtype;
    }
  }
}

std::string DeclaredTypes::untaken(const ir::OpDef& op) const {
  const auto found = taken_.find(&op);
  if (found == taken_.end()) return "";
  for (size_t i = 0; i < found->second.size(); ++i) {
    if (found->second[i].empty()) continue;  // no case gives it
    for (const DType dtype : kDTypes) {
      if (found->second[i].has(dtype) || !ir::taken_types(op, i).has(dtype)) continue;
      const size_t declared = std::min(i, op.signature.inputs.size() - 1);
      return fmt::format("{} declares that {} may be {}, but no case takes it", op.name,
                         op.signature.inputs[declared].name, to_string(dtype));
    }
  }
  return "";
}

}  // namespace thimble::test
