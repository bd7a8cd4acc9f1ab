// The op reference, made from the definitions.
#pragma once

#include <string>

#include "ir/op_def.h"

namespace thimble::ir {

// One attribute as a user sees it.
struct AttrDoc {
  std::string name;
  std::string type;
  std::string default_value;
  std::string doc;
};

// The attributes of an op, in their order.
[[nodiscard]] std::vector<AttrDoc> attribute_docs(const OpDef& op);

// Markdown: every op with formula, inputs, outputs, attributes, example.
[[nodiscard]] std::string reference_page();

}  // namespace thimble::ir
