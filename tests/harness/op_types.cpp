#include "harness/op_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "harness/op_checks.h"
#include "harness/op_data.h"

namespace thimble::test {
namespace {

using ir::Bytes;
using ir::Precision;

bool is_unsigned(DType dtype) { return dtype == DType::u8 || dtype == DType::u32; }

bool accepts(const ir::OpDef& op, const OpCase& test) {
  try {
    static_cast<void>(make_graph(op, test, false));
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Small enough for sums and products to be exact in f32.
void use_small_integers(TensorSpec& spec) {
  constexpr double kLargest = 100.0;
  spec.low = is_unsigned(spec.dtype) ? 0.0 : -kLargest;
  spec.high = kLargest;
  spec.gap = 0.0;
  spec.distinct = false;
}

OpCase with_types(const OpCase& test, const std::vector<DType>& types) {
  OpCase typed = test;
  for (size_t i = 0; i < typed.inputs.size(); ++i) {
    TensorSpec& spec = typed.inputs[i];
    const DType dtype = types[std::min(i, types.size() - 1)];
    if (spec.absent || spec.dtype == dtype) continue;
    const bool was_number = spec.dtype == DType::f32;
    spec.dtype = dtype;
    if (was_number) use_small_integers(spec);
  }
  return typed;
}

std::string name_of(const std::vector<DType>& types) {
  std::string name;
  for (const DType dtype : types) name += (name.empty() ? "" : "_") + std::string(to_string(dtype));
  return name;
}

// The contents of a source in another type.
Bytes converted(const Bytes& bytes, const ir::TensorType& from, DType to) {
  return bytes_of(numbers_of(bytes, from), to);
}

}  // namespace

double wrapped(double number, DType dtype) {
  const auto bits = static_cast<uint64_t>(static_cast<int64_t>(number));
  switch (dtype) {
    case DType::i8:
      return static_cast<int8_t>(bits);
    case DType::i16:
      return static_cast<int16_t>(bits);
    case DType::i32:
      return static_cast<int32_t>(bits);
    case DType::u8:
      return static_cast<uint8_t>(bits);
    case DType::u32:
      return static_cast<uint32_t>(bits);
    default:
      return number;
  }
}

namespace {

// Products of many numbers are exact in f32 only of the smallest ones.
OpCase with_smallest_integers(const OpCase& test) {
  OpCase smallest = test;
  for (TensorSpec& spec : smallest.inputs) {
    if (spec.absent || is_floating(spec.dtype)) continue;
    spec.low = std::max(spec.low, -2.0);
    spec.high = std::min(spec.high, 2.0);
  }
  return smallest;
}

// The usual kernels on the numbers that the typed case holds must give the same results. Nothing:
// no result is exact in f32.
std::optional<std::string> compare_exact_with_usual(const ir::OpDef& op, const OpCase& usual,
                                                    const TypedCase& typed) {
  const CaseGraph mine = make_graph(op, typed.test, false);
  const CaseGraph theirs = make_graph(op, usual, false);
  const auto given = make_data(mine, typed.test, 5).bytes(Precision::f32);
  std::map<int, Bytes> same = make_data(theirs, usual, 5).bytes(Precision::f32);
  for (size_t i = 0; i < mine.inputs.size(); ++i) {
    if (mine.inputs[i] < 0) continue;
    same[theirs.inputs[i]] = converted(given.at(mine.inputs[i]), mine.graph.type(mine.inputs[i]),
                                       theirs.graph.type(theirs.inputs[i]).dtype);
  }
  // Other sources, such as the random state, hold the same.
  std::map<int, Bytes> sources = given;
  for (const auto& [id, bytes] : same) {
    const bool is_input =
        std::find(theirs.inputs.begin(), theirs.inputs.end(), id) != theirs.inputs.end();
    if (is_input) continue;
    const Value other = ir::Graph(mine.graph).find_source(*theirs.graph.data(id).name);
    if (other && sources[other.id()].size() == bytes.size()) sources[other.id()] = bytes;
  }
  const auto got = ir::run_reference(mine.graph, sources, Precision::f32);
  const auto wanted = ir::run_reference(theirs.graph, same, Precision::f32);
  for (size_t o = 0; o < mine.outputs.size(); ++o) {
    const ir::TensorType& type = mine.graph.type(mine.outputs[o]);
    const auto numbers = numbers_of(wanted[static_cast<size_t>(theirs.outputs[o])],
                                    theirs.graph.type(theirs.outputs[o]));
    const Bytes& held = got[static_cast<size_t>(mine.outputs[o])];
    bool is_same = true;
    if (is_floating(type.dtype)) {
      is_same = held == bytes_of(numbers, type.dtype);
    } else {
      const std::vector<double> own = numbers_of(held, type);
      size_t compared = 0;
      for (size_t i = 0; i < numbers.size(); ++i) {
        // Beyond 2^24 f32 does not tell neighbouring integers apart.
        const bool is_exact = !is_floating(theirs.graph.type(theirs.outputs[o]).dtype) ||
                              std::abs(numbers[i]) < 0x1p24;
        compared += is_exact ? 1 : 0;
        is_same = is_same && (!is_exact || own[i] == wrapped(numbers[i], type.dtype));
      }
      if (compared == 0 && !numbers.empty()) return std::nullopt;
    }
    if (is_same) continue;
    return fmt::format("output {} is not what the usual kernel gives for the same numbers", o);
  }
  return "";
}

std::string compare_with_usual(const ir::OpDef& op, const OpCase& usual, const TypedCase& typed) {
  if (const auto found = compare_exact_with_usual(op, usual, typed)) return *found;
  const TypedCase smallest{typed.types, with_smallest_integers(typed.test)};
  return compare_exact_with_usual(op, usual, smallest).value_or("no result is exact in f32");
}

}  // namespace

std::vector<TypedCase> typed_cases(const ir::OpDef& op, const OpCase& test, bool integers) {
  std::vector<TypedCase> cases;
  if (integers) {
    for (const ir::TypedKernels& kernels : op.kernels.typed) {
      TypedCase typed{name_of(kernels.inputs), with_types(test, kernels.inputs)};
      if (accepts(op, typed.test)) cases.push_back(std::move(typed));
    }
    return cases;
  }
  if (op.kernels.any_type) return cases;
  for (const DType dtype : {DType::f16, DType::bf16}) {
    TypedCase typed{to_string(dtype), test};
    bool any = false;
    for (TensorSpec& spec : typed.test.inputs) {
      if (spec.absent || spec.state || spec.dtype != DType::f32) continue;
      spec.dtype = dtype;
      spec.distinct = false;
      any = true;
    }
    if (any && accepts(op, typed.test)) cases.push_back(std::move(typed));
  }
  return cases;
}

std::string check_types(const ir::OpDef& op, const OpCase& test) {
  for (const bool integers : {true, false}) {
    std::vector<TypedCase> cases = typed_cases(op, test, integers);
    // Kernels of all types read and write the same places, so sanitizers see two of integers and
    // one of floating-point numbers.
    const size_t seen = integers ? 2 : 1;
    if (THIMBLE_SANITIZED && cases.size() > seen) {
      cases.erase(cases.begin() + 1, cases.end() - static_cast<std::ptrdiff_t>(seen - 1));
    }
    for (const TypedCase& typed : cases) {
      std::string error = compare_with_usual(op, test, typed);
      if (error.empty()) error = check_shapes(op, typed.test);
      if (error.empty()) error = check_fast(op, typed.test);
      if (error.empty() && !THIMBLE_SANITIZED) error = check_in_place(op, typed.test);
      if (!error.empty()) return typed.types + ": " + error;
    }
  }
  return "";
}

}  // namespace thimble::test
