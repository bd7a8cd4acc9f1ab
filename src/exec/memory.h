// Aligned memory blocks, and the store of all values that outlive a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "exec/accounting.h"
#include "ir/graph.h"
#include "program/program.h"

namespace thimble::exec {

class SwapFile;

// A zeroed, 64-byte aligned block. Counted in the account that is open on the thread.
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
  Held held_;
  std::unique_ptr<std::byte, Free> data_;
  int64_t bytes_ = 0;
};

// Parameters and state of a model by name, shared by all its programs. Constants belong to each
// program, because two programs may fold different constants under one name.
//
// Some entries may lie in a swap file between steps. Reading or changing them needs a bounce
// buffer, and throws Error where the file fails.
class Store {
 public:
  struct Entry {
    std::string name;
    ir::Role role;
    ir::TensorType type;
    Initializer init;
    std::byte* data;              // null if in the swap file
    int slot;                     // in the swap file
    bool sums_gradients = false;  // see ir::ValueData
    bool is_mapped = false;       // see ir/mapped.h
    bool is_in_file = false;      // and its memory is that of a file
    ir::Name average_of;          // see ir::ValueData

    [[nodiscard]] size_t bytes() const {
      return static_cast<size_t>(size_bytes(type.dtype, type.shape));
    }
  };

  // Holds every parameter and state of the programs, zero until initialize; equal names must have
  // equal types. in_file: names that lie in the swap file, in the order of its slots.
  explicit Store(const std::vector<const program::Program*>& programs,
                 const std::set<std::string>& in_file = {});
  // The same of graphs, before they are planned.
  explicit Store(const std::vector<const ir::Graph*>& graphs);

  // bounce: the bounce buffer, as large as the largest entry in the file. Both must outlive the
  // store's use of them; every read and change of such an entry overwrites the buffer.
  void attach(SwapFile* file, std::span<std::byte> bounce);

  // The contents of an entry, valid until the next read or change.
  [[nodiscard]] std::span<const std::byte> read(const Entry& entry) const;
  // Overwrites an entry: write(std::span<std::byte>) must fill the whole span.
  template <class F>
  void overwrite(const Entry& entry, F&& write) {
    require_writable(entry);
    write(room(entry));
    put(entry);
  }

  // Lets a mapped entry be these bytes of a mapped file, which live as long as the owner. Sessions
  // that were made before have the old ones. Throws Error unless they are as many as the entry's.
  void map(const Entry& entry, std::shared_ptr<const void> owner,
           std::span<const std::byte> contents);

  // Sets initial values by each entry's initializer. They depend on the seed and the names alone.
  void initialize(uint64_t seed);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  // Null if there is no entry of that name.
  [[nodiscard]] const Entry* find(const std::string& name) const;
  // The average of the parameter of that name; null if there is none.
  [[nodiscard]] const Entry* find_average(const std::string& parameter) const;
  [[nodiscard]] int64_t bytes() const { return block_.bytes(); }

 private:
  void hold(const std::vector<program::Stored>& wanted, const std::set<std::string>& in_file);
  // Memory of an entry: its own, or the bounce buffer for an entry in the swap file.
  [[nodiscard]] std::span<std::byte> room(const Entry& entry) const;
  // Stores an entry after its memory was changed: writes it to the swap file if it lies there.
  void put(const Entry& entry);
  void require_done(const Entry& entry) const;
  // Throws Error where it lies in a mapped file.
  static void require_writable(const Entry& entry);

  // Where a mapped entry lies: in a file, or in memory of its own until map().
  std::map<size_t, std::shared_ptr<const void>> owners_;  // by index of the entry
  mutable const Entry* last_read_ = nullptr;              // one in a mapped file
  std::vector<Entry> entries_;
  std::vector<uint32_t> by_name_;  // indices of entries in the order of their names
  SwapFile* file_ = nullptr;
  std::span<std::byte> bounce_;
  Block block_;
};

// Tells the system that pages of a mapped file are not needed for a while. They are read again
// where they are.
void drop_pages(std::span<const std::byte> mapped);

// Writes a number into all elements of a tensor of any type, converted as by cast.
void fill_constant(const ir::TensorType& type, double value, std::span<std::byte> out);

// Writes initial values of the shape by the initializer. out: [elements]. Philox keyed by seed and
// name.
void fill_initial(const Initializer& init, const std::string& name, uint64_t seed,
                  const Shape& shape, float* out);

}  // namespace thimble::exec
