// The checks of an op's kernels for other types than its usual ones, derived from the cases of its
// table: every set of typed kernels, and f16 and bf16 in the place of f32.
#pragma once

#include <string>
#include <vector>

#include "harness/op_cases.h"

namespace thimble::test {

// A case of the table with inputs of other types.
struct TypedCase {
  std::string types;  // "i64", "bf16"
  OpCase test;
};

// A whole number as a type holds it, wrapping as unsigned sums do; of i64 and packed types as it
// is.
[[nodiscard]] double wrapped(double number, DType dtype);

// Those that the op's shape rule takes. `integers`: of the typed kernels, else of f16 and bf16.
std::vector<TypedCase> typed_cases(const ir::OpDef& op, const OpCase& test, bool integers);

// Integer kernels give the numbers that the usual kernels give for the same small ones, wrapped to
// their type, bit for bit; f16 and bf16 give what f32 gives for the same numbers, rounded once, bit
// for bit. All kernels of a case and of its gradient agree, write all and stay in their buffers.
std::string check_types(const ir::OpDef& op, const OpCase& test);

}  // namespace thimble::test
