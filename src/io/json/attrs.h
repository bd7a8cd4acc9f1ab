// Attributes of a node as JSON, through their own reflection.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ir/attrs.h"

namespace thimble::io {

// An object with every field: numbers, booleans, names of choices and element types; a pair as
// [h, w]; padding as [top, bottom, left, right] or "same"; shapes and lists as arrays; numbers that
// are not finite as "inf", "-inf" or "nan".
[[nodiscard]] nlohmann::json attrs_to_json(const ir::Attrs& attrs);

// The attributes that an object describes; fields left out keep their defaults. A pair or padding
// may also be one number. schema: null for an op without attributes, which takes an empty object.
// Throws Error(where, ...) naming the field for one that is unknown, of the wrong kind or out of
// range: whole numbers are those that attributes may hold (ir/attrs.h).
[[nodiscard]] ir::Attrs attrs_from_json(const ir::AttrSchema* schema, const nlohmann::json& object,
                                        const std::string& where);

// Sizes of a shape as such numbers, and back. Throws Error(where, ...).
[[nodiscard]] nlohmann::json sizes_to_json(const std::vector<int64_t>& sizes);
[[nodiscard]] std::vector<int64_t> sizes_from_json(const std::string& where,
                                                   const nlohmann::json& sizes);

// The element type that a text names. Throws Error(where, ...).
[[nodiscard]] DType dtype_from_json(const std::string& where, const char* name,
                                    const nlohmann::json& given);

}  // namespace thimble::io
