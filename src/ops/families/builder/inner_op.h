// Attributes that are an op with attributes of its own.
#pragma once

#include <string>
#include <vector>

#include "ir/op_def.h"

namespace thimble::ops {

// An op with its attributes, without inputs.
struct InnerOp {
  const OpDef* op = nullptr;
  ir::Attrs attrs;
};

// The names of the ops of a kind; the first stands for none.
[[nodiscard]] std::vector<const char*> names_of_ops(bool (*wanted)(const OpDef&));

// Shows the op, one of those names, as the field `what`, and its attributes as "what.attribute".
void describe_inner(InnerOp& inner, const std::string& what, const std::vector<const char*>& names,
                    const char* doc, ir::FieldVisitor& v);

}  // namespace thimble::ops
