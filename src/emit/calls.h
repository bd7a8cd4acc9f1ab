// The calls of a program as C statements.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "emit/c_library.h"
#include "emit/c_struct.h"
#include "emit/storage.h"

namespace thimble::emit {

// An op whose output lies where its input does, so that nothing is to be done.
[[nodiscard]] bool is_view(const program::Program& program, const program::Call& call);
// Throws Error naming the call where it has no C source.
void check_has_source(const program::Program& program, const program::Call& call);
// Throws the Error that a call cannot be written.
[[noreturn]] void refuse(const program::Program& program, const program::Call& call,
                         const std::string& why);

// A parameter of a C function: "const float* x".
struct Parameter {
  std::string type;  // without const and *: "float"
  int pointers = 0;
  bool is_const = false;  // what the innermost pointer leads to
};
[[nodiscard]] Parameter parameter_of(const std::string& declaration);

class CallWriter {
 public:
  // All must outlive the writer.
  CallWriter(CLibrary& library, const Storage& storage)
      : library_(library), structs_(library), storage_(storage) {}

  // A block of statements, indented by two spaces, with a comment. Throws Error naming the call.
  [[nodiscard]] std::string statements(const program::Program& program, const program::Call& call);
  // Parameters with a number for each channel, which the statements name.
  [[nodiscard]] const std::string& tables() const { return tables_text_; }
  // See CStructs.
  [[nodiscard]] std::vector<std::string> unneeded() const { return structs_.unneeded(); }
  // C functions that were called so far.
  [[nodiscard]] const std::set<std::string>& kernels() const { return kernels_; }

 private:
  struct Parameters {
    std::string definition;  // of the struct; empty: none
    std::string address;
  };
  [[nodiscard]] Parameters parameters(const program::Call& call, const KernelName& kernel,
                                      const std::string& type);
  [[nodiscard]] std::string arguments(const program::Program& program, const program::Call& call,
                                      const KernelName& kernel, const CLibrary::Function& function,
                                      std::string& definitions);

  CLibrary& library_;
  CStructs structs_;
  const Storage& storage_;
  std::set<std::string> kernels_;
  std::map<std::string, std::string> tables_;  // names by definition
  std::string tables_text_;
};

}  // namespace thimble::emit
