// Aligned memory blocks and the store of everything that outlives a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace thimble::exec {

// A zeroed, 64-byte aligned block.
class Block {
 public:
  Block() = default;
  explicit Block(int64_t bytes);
  [[nodiscard]] std::byte* data() const { return data_.get(); }
  [[nodiscard]] int64_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  int64_t bytes_ = 0;
};

// Parameters and state of a model by name, shared by all its programs. Constants belong to each
// program: two of them may fold different ones under one name.
class Store {
 public:
  struct Entry {
    std::string name;
    ir::Role role;
    ir::TensorType type;
    Initializer init;
    std::byte* data;
  };

  // Holds every parameter and state of the graphs, zero until initialize; equal names must have
  // equal types.
  explicit Store(const std::vector<const ir::Graph*>& graphs);

  // First values by each entry's rule. Depends on the seed and the names alone.
  void initialize(uint64_t seed);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  // Null where there is none of that name.
  [[nodiscard]] const Entry* find(const std::string& name) const;
  [[nodiscard]] int64_t bytes() const { return block_.bytes(); }

 private:
  std::vector<Entry> entries_;
  std::map<std::string, size_t> index_;
  Block block_;
};

// Writes first values of shape by the rule. out: [elements]. Philox keyed by seed and name.
void fill_initial(const Initializer& init, const std::string& name, uint64_t seed,
                  const Shape& shape, float* out);

}  // namespace thimble::exec
