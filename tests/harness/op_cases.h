// The table that an op's test.cpp fills. The harness derives all checks from it.
#pragma once

#include <thimble/ops.h>
#include <thimble/quantization.h>
#include <thimble/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace thimble::test {

// One input tensor: random values from [low, high), or integers from [low, high].
struct TensorSpec {
  Shape shape;
  DType dtype = DType::f32;
  double low = -1.0;
  double high = 1.0;
  double gap = 0.0;       // values keep this distance from 0, where an op may not be differentiable
  bool distinct = false;  // values differ clearly, as maxima need; integers: no duplicates
  bool absent = false;    // an optional input left out
  bool state = false;     // parameter or state: for ops that update it
  bool any_bits = false;  // f16 and bf16: any bits, NaN and infinities too, and no values
  Quantization quantization = {};  // of integers
};

struct OpCase {
  std::string name;
  std::vector<TensorSpec> inputs;
  ir::Attrs attrs;
  std::vector<Shape> expect;     // shapes of the outputs; empty: not checked
  double tolerance = 1e-5;       // fast against reference, relative to the largest magnitude
  bool codes = false;            // u8 outputs are codes of numbers: see same_codes in op_checks.cpp
  double grad_tolerance = 1e-6;  // gradient against finite differences, in double precision
  std::vector<int> no_grad;      // inputs whose gradient is not checked
  std::vector<int> no_cotangent;  // outputs that the op says no gradient flows through
};

// Inputs the op must refuse, with a part of the message.
struct RejectCase {
  std::string name;
  std::vector<TensorSpec> inputs;
  ir::Attrs attrs;
  std::string error;
};

struct OpCases {
  std::vector<OpCase> cases;
  std::vector<RejectCase> rejects;
};

using OpCasesFn = std::function<OpCases()>;

// Attributes that only the folder of an op knows, from JSON: attrs_of("cast", R"({"dtype":
// "i32"})").
[[nodiscard]] ir::Attrs attrs_of(const char* op, const std::string& json);

// Registers the table of an op; returns true.
bool add_op_cases(const char* op, const OpCasesFn& cases);

// The tables remembered, by op; and those of ops of one tensor without one, which follow from their
// definitions (ir::TestCase).
const std::map<std::string, OpCasesFn>& op_tables();

}  // namespace thimble::test

// Opens the table of an op: THIMBLE_OP_CASES(relu) { return {.cases = {...}, .rejects = {...}}; }
#define THIMBLE_OP_CASES(op)                                                \
  static OpCases op_cases_##op();                                           \
  static const bool op_cases_added_##op = add_op_cases(#op, op_cases_##op); \
  static OpCases op_cases_##op()
