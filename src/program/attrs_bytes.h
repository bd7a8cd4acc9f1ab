// Attributes of ops as bytes.
#pragma once

#include <cstdint>

#include "ir/attrs.h"
#include "ir/op_context.h"
#include "program/bytes.h"

namespace thimble::program {

// Every field by its name, so that another version's attributes are told apart. Throws Error for a
// number that readers refuse (ir/attrs.h).
void write_attrs(const ir::Attrs& attrs, ByteWriter& to);

// schema: of the op; null: it has none. Throws Error where fields are not those of the schema or
// a value is out of its range.
[[nodiscard]] ir::Attrs read_attrs(const ir::AttrSchema* schema, ByteReader& from);

// Element type, shape and quantization.
void write_type(const ir::TensorType& type, ByteWriter& to);
// most_elements: by default what kernels count. Throws Error where it has more, or a quantization
// that is none.
[[nodiscard]] ir::TensorType read_type(ByteReader& from, int64_t most_elements = INT32_MAX);
[[nodiscard]] DType read_dtype(const char* field, ByteReader& from);
[[nodiscard]] Shape read_shape(const char* field, ByteReader& from);

}  // namespace thimble::program
