// What users call that is more than one op: layers, which create parameters, and other builder
// functions. Described so that other languages can offer them as C++ does. A function that adds
// one op and returns its one output needs no description: its OpDef says everything.
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

// Visits the fields of an options struct: those an attribute may have, and those of layers.
class OptionVisitor : public FieldVisitor {
 public:
  using FieldVisitor::field;
  virtual void field(const char* name, std::string& value, const char* doc) = 0;
  virtual void field(const char* name, Initializer& value, const char* doc) = 0;
  virtual void field(const char* name, std::optional<Initializer>& value, const char* doc) = 0;
};

// What generic code must know of an options struct T: `void describe(T&, OptionVisitor&)`, or a
// FieldVisitor, found by argument-dependent lookup.
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
  const char* example = "";  // one line of C++; an op of the same name may have it already
  std::vector<ArgDoc> inputs;
  std::vector<ArgDoc> outputs;
  // A layer's: it creates parameters and states "<layer>.<name>". A layer may share its name with
  // an op: then the op is the same function of given parameters, which are the inputs that the
  // layer does not take. Without such an op, inputs of a parameter's name are given parameters.
  std::vector<ArgDoc> parameters;
  bool many_outputs = false;          // the last declared output may repeat, or be missing
  OptionSchema options;               // empty for none
  std::vector<const char*> required;  // names of the options that have no default of any use
  // inputs: one a declared input, none where an optional one is left out. options: the struct.
  std::vector<Value> (*build)(std::span<const Value> inputs, const void* options) = nullptr;

  [[nodiscard]] bool is_layer() const { return !parameters.empty(); }
};

// Every described function, sorted by name. Built on first use, valid for ever. Thread-safe.
[[nodiscard]] std::span<const FunctionDef* const> all_functions();

// The function of that name, or null.
[[nodiscard]] const FunctionDef* find_function(std::string_view name);

// Whether users call an op of this name: it has an example, and changes none of its inputs.
// Gradients and updates are built by the library alone.
[[nodiscard]] bool is_for_users(const OpDef& op);

}  // namespace thimble::ir

// Opens the definition of the functions of a folder: THIMBLE_FUNCTION_FOLDER(dense) { return ...;
// }. What stands in thimble::ops::dense_impl is found there by its plain name.
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
