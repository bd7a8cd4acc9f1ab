// Stack and code of C sources, as a compiler of this machine reports them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace thimble::cli {

struct CompiledSize {
  int64_t code_bytes = 0;
  // Of the deepest chain of calls. Without value where a function takes an amount that is known
  // only when it runs.
  std::optional<int64_t> stack_bytes;
  std::set<std::string> library;  // functions that are called and whose stack is not known
};

// Compiles folder/thimble_model.c with gcc for this machine. None: there is no gcc, or it cannot.
[[nodiscard]] std::optional<CompiledSize> compiled_size(const std::string& folder);

// The deepest chain in a call graph that gcc wrote (-fcallgraph-info=su). text: of the file.
void read_call_graph(const std::string& text, CompiledSize& size);

}  // namespace thimble::cli
