// The reference page of ops and functions, generated from the definitions.
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

// A documented name: an op, a function of several ops (such as a layer), or both, if users call an
// op through a function with other inputs or options.
struct ReferenceEntry {
  const char* name;
  const OpDef* op;              // or null
  const FunctionDef* function;  // or null
};

// All ops and functions, sorted by name, each name once.
[[nodiscard]] std::vector<ReferenceEntry> reference_entries();

// "function": several ops. "op": an op that users call. Ops that only the library builds: "update"
// changes an input; "gradient" is built by gradient rules (OpDef::is_gradient); "internal" is the
// rest.
[[nodiscard]] const char* kind_of(const ReferenceEntry& entry);

// The description, one paragraph.
[[nodiscard]] const char* doc_of(const ReferenceEntry& entry);

// Markdown: every op and function with formula, inputs, outputs, attributes, example.
[[nodiscard]] std::string reference_page();

}  // namespace thimble::ir
