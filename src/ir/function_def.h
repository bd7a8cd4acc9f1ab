// Descriptions of functions of more than one op: layers, which create parameters, and other builder
// functions. Other languages offer them from these descriptions. A function that adds one op and
// returns its one output needs none: its OpDef says everything.
#pragma once

#include <thimble/graph.h>
#include <thimble/initializer.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/op_def.h"

namespace thimble::ir {

// Visits the fields of an options struct: those that attributes may have, and those of layers.
class OptionVisitor : public FieldVisitor {
 public:
  using FieldVisitor::field;
  virtual void field(const char* name, std::string& value, const char* doc) = 0;
  virtual void field(const char* name, Initializer& value, const char* doc) = 0;
  virtual void field(const char* name, std::optional<Initializer>& value, const char* doc) = 0;
};

// Functions of an options struct T that generic code needs: `void describe(T&, OptionVisitor&)`, or
// a FieldVisitor, found by argument-dependent lookup.
struct OptionSchema {
  std::shared_ptr<void> (*make)() = nullptr;  // the defaults
  void (*visit)(void* options, OptionVisitor& visitor) = nullptr;

  template <class T>
  static OptionSchema of() {
    return {[] { return std::static_pointer_cast<void>(std::make_shared<T>()); },
            [](void* options, OptionVisitor& visitor) {
              describe(*static_cast<T*>(options), visitor);
            }};
  }
};

// Filled with designated initializers in src/ops/<op>/function.cpp.
struct FunctionDef {
  const char* name = "";
  const char* doc = "";      // one paragraph
  const char* example = "";  // one line of C++; may be empty if an op of the same name has one
  std::vector<ArgDoc> inputs;
  std::vector<ArgDoc> outputs;
  // Parameters and states that a layer creates, named "<layer>.<name>". A layer may share its name
  // with an op: the op is then the same function of given parameters, which are the inputs that the
  // layer does not take. Without such an op, inputs of a parameter's name are given parameters.
  std::vector<ArgDoc> parameters;
  bool many_outputs = false;          // the last declared output may repeat, or be missing
  OptionSchema options;               // empty for none
  std::vector<const char*> required;  // names of options without a useful default
  // Names of options that say only which parameters a layer creates, and how large: without a
  // meaning where parameters are given.
  std::vector<const char*> of_parameters;
  // inputs: one per declared input, none for an optional one that is left out. options: the struct.
  std::vector<Value> (*build)(std::span<const Value> inputs, const void* options) = nullptr;

  [[nodiscard]] bool is_layer() const { return !parameters.empty(); }
};

// All described functions, sorted by name. Built on first use, valid forever. Thread-safe.
[[nodiscard]] std::span<const FunctionDef* const> all_functions();

// The function of that name, or null.
[[nodiscard]] const FunctionDef* find_function(std::string_view name);

// The types that inputs may have together: a set for each declared input. An input takes the types
// that it declares (ArgDoc::types), by default those of the input of its name in the op of the
// function's name, or f32, f16 and bf16.
[[nodiscard]] std::vector<std::vector<TypeSet>> type_rows(const FunctionDef& function);

// Whether users call an op of this name: it has an example, and changes none of its inputs.
// Gradients and updates are built by the library alone.
[[nodiscard]] bool is_for_users(const OpDef& op);

}  // namespace thimble::ir

// Opens the definition of a folder's functions: THIMBLE_FUNCTION_FOLDER(dense) { return ...; }.
// Names of thimble::ops::dense_impl need no qualification in it.
#define THIMBLE_FUNCTION_FOLDER(folder)                        \
  namespace thimble::ops::folder##_impl {                      \
    std::span<const ir::FunctionDef* const> function_folder(); \
  }                                                            \
  std::span<const thimble::ir::FunctionDef* const> thimble::ops::folder##_impl::function_folder()

namespace thimble::ops {
using ir::FunctionDef;

// The options struct behind the pointer that a build function gets.
template <class T>
const T& options_as(const void* options) {
  return *static_cast<const T*>(options);
}
}  // namespace thimble::ops
