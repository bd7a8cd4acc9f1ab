// The C functions that a program calls, with all that they need, as one text.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emit/c_text.h"
#include "emit/kernel_texts.h"

namespace thimble::emit {

// The C function of a kernel: where it stands and what `real` is.
struct KernelName {
  std::string folder;  // below src/ops; empty: in a file that several ops share
  std::string real;    // "float", "int8_t"
  std::string symbol;
};
// From the name as the compiler spells it (ir::KernelFn::name). Throws Error where it is no
// function of a reference kernel.
[[nodiscard]] KernelName kernel_name_of(std::string_view spelled);

// How names of files end, in ops' folders, whose functions are for this target; those that are
// preferred last. Empty: there is no such target.
[[nodiscard]] std::vector<std::string> overlays_of(std::string_view target);

// Collects definitions. Not thread-safe.
class CLibrary {
 public:
  // target: as of Model. Functions of its overlays take the place of those of the same name.
  explicit CLibrary(std::string_view target = "c99");

  // A function that is called, with its name in the text and its parameters: "const float* x".
  struct Function {
    std::string name;
    std::vector<std::string> parameters;
  };
  // Adds the function and what it needs. Throws Error where there is no such function.
  Function add(const KernelName& kernel);
  // A type by its name, without its comment; empty: there is none. It is added.
  std::string add_type(const std::string& name);
  // The value of a macro without parameters, or of an enumerator; empty: there is none.
  [[nodiscard]] std::string constant_value(const std::string& name);
  // What the parameters of a function are followed by: the type of the elements; empty: nothing.
  [[nodiscard]] std::string tail_of(const KernelName& kernel);

  // Whether a definition calls a function of <math.h> by its generic name (<tgmath.h>).
  [[nodiscard]] bool uses_c_math() const { return uses_c_math_; }

  // All definitions in the order in which a compiler needs them.
  [[nodiscard]] std::string text() const;

 private:
  struct File {
    std::string_view path;
    std::string_view text;
    std::string folder;  // of a ref.h
  };
  // A file with a certain `real`.
  using Scope = std::pair<size_t, std::string>;
  struct Key {
    Scope scope;
    size_t item = 0;
    auto operator<=>(const Key&) const = default;
  };

  const std::vector<CItem>& items(const Scope& scope);
  void expand_invocations(const Scope& scope, std::vector<CItem>& all);
  [[nodiscard]] const CItem& item(const Key& key) { return items(key.scope)[key.item]; }
  // The item that a name means within a scope. Returns false where there is none.
  bool find(const Scope& scope, const CIdentifier& name, Key& found);
  bool find_in(const Scope& scope, const CIdentifier& name, Key& found);
  bool find_function(const KernelName& kernel, Key& found);
  // The function that takes the place of another one.
  bool find_overlay(const CIdentifier& name, Key& found) const;
  // The same item for this `real`, if its text depends on it.
  void choose_real(Key& key, const std::string& real);
  const std::string& need(const Key& key);
  std::string text_of(const Key& key);
  std::string unused_name(const Key& key, const std::string& name);

  std::vector<File> files_;
  std::map<Scope, std::vector<CItem>> items_;
  std::map<std::string, std::vector<Key>, std::less<>> shared_;  // names in files that ops share
  std::map<std::string, Key, std::less<>> overlays_;             // functions by name
  std::map<Key, std::string> names_;                             // that needed items have
  std::set<std::string> used_names_;
  std::vector<std::string> texts_;
  bool has_own_math_ = false;  // kernels call it by the generic names of <math.h>
  bool uses_c_math_ = false;
};

}  // namespace thimble::emit
