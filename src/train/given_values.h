// Values that a graph brings along for its parameters and states, in place of initial ones.
#pragma once

#include <thimble/array.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exec/memory.h"
#include "ir/graph.h"

namespace thimble::train {

class GivenValues {
 public:
  // Values in a file, one after another.
  struct InFile {
    std::string path;
    int64_t offset = 0;
    uint64_t checksum = 0;                               // program::checksum of all of them
    std::vector<std::pair<std::string, int64_t>> bytes;  // of each, by name
  };

  GivenValues() = default;
  // They stay in the file until they are written to a store.
  explicit GivenValues(InFile file) : file_(std::move(file)) {}
  // Takes them out of a graph: they shall not lie in memory beside the store's for long.
  explicit GivenValues(ir::Graph& graph);

  // Throws Error where they lie in a file that was changed or cannot be read.
  void write_to(exec::Store& store) const;
  // All of them; the bytes are valid during the call.
  void for_each(
      const std::function<void(const std::string& name, std::span<const std::byte>)>& visit) const;
  // Throws Error where one in memory has an element that is not finite.
  void require_finite() const;
  // Throws Error where a parameter or state of the graph has none.
  void require_all(const ir::Graph& graph) const;

 private:
  std::vector<std::pair<std::string, Array>> values_;
  InFile file_;
};

}  // namespace thimble::train
