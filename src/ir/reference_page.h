// The reference of ops and functions, made from the definitions.
#pragma once

#include <string>
#include <vector>

#include "ir/function_def.h"
#include "ir/op_def.h"

namespace thimble::ir {

// One attribute, or one option of a function, as a user sees it.
struct AttrDoc {
  std::string name;
  std::string type;
  std::string default_value;
  std::string doc;
};

// The attributes of an op, in their order.
[[nodiscard]] std::vector<AttrDoc> attribute_docs(const OpDef& op);
// The options of a function, in their order.
[[nodiscard]] std::vector<AttrDoc> attribute_docs(const FunctionDef& function);

// What has a name: an op, a function of several ops (a layer, say), or both, where users call an op
// by a function of other inputs or options.
struct ReferenceEntry {
  const char* name;
  const OpDef* op;              // or null
  const FunctionDef* function;  // or null
};

// Every op and every function, sorted by name, no name twice.
[[nodiscard]] std::vector<ReferenceEntry> reference_entries();

// "function": of several ops; "op": one that users call. What the library alone builds: "update",
// an op that changes an input; "gradient", one named *_grad; "internal", what is left.
[[nodiscard]] const char* kind_of(const ReferenceEntry& entry);

// What it does, one paragraph.
[[nodiscard]] const char* doc_of(const ReferenceEntry& entry);

// Markdown: every op and function with formula, inputs, outputs, attributes, example.
[[nodiscard]] std::string reference_page();

}  // namespace thimble::ir
