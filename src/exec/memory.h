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
  // Where the contents of a mapped entry lie (ir/mapped.h).
  enum class Mapping : uint8_t {
    none,        // the entry is not mapped
    zeros,       // nowhere: they are zeros yet
    own,         // in a file without a name; in memory where none can be made
    model_file,  // in the model file, read-only
  };
  struct Entry {
    std::string name;
    ir::Role role;
    ir::TensorType type;
    Initializer init;
    std::byte* data;              // null if in the swap file
    int slot;                     // in the swap file
    bool sums_gradients = false;  // see ir::ValueData
    Mapping mapping = Mapping::none;
    ir::Name average_of;  // see ir::ValueData

    [[nodiscard]] bool is_mapped() const { return mapping != Mapping::none; }
    [[nodiscard]] size_t bytes() const {
      return static_cast<size_t>(size_bytes(type.dtype, type.shape));
    }
  };

  // Holds every parameter and state of the programs, zero until initialize; equal names must have
  // equal types. in_file: names that lie in the swap file, in the order of its slots.
  explicit Store(const std::vector<const program::Program*>& programs,
                 const std::set<std::string>& in_file = {});
  // The same of graphs, before they are planned; all entries are held in memory.
  explicit Store(const std::vector<const ir::Graph*>& graphs);

  // bounce: the bounce buffer, as large as the largest entry in the file. Both must outlive the
  // store's use of them; every read and change of such an entry overwrites the buffer.
  void attach(SwapFile* file, std::span<std::byte> bounce);
  // Where files of mapped entries are made, and whether they must be.
  void set_folder(std::string folder, bool required) {
    folder_ = std::move(folder);
    needs_folder_ = required;
  }

  // The contents of an entry, valid until the next read or change.
  [[nodiscard]] std::span<const std::byte> read(const Entry& entry) const;
  // Overwrites an entry: write(std::span<std::byte>) must fill the whole span. Throws Error for an
  // entry in the model file, and where a mapped one needs a file that cannot be made.
  template <class F>
  void overwrite(const Entry& entry, F&& write) {
    make_writable(entry);
    write(room(entry));
    put(entry);
    changed();
  }
  // Says that contents have changed otherwise than by a step or by functions of this class.
  void changed() { ++version_; }
  // Rises with every change that is not made by a step.
  [[nodiscard]] int64_t version() const { return version_; }

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
  void hold(const std::vector<program::Stored>& wanted, const std::set<std::string>& in_file,
            bool maps);
  // Memory of an entry: its own, or the bounce buffer for an entry in the swap file.
  [[nodiscard]] std::span<std::byte> room(const Entry& entry) const;
  // Stores an entry after its memory was changed: writes it to the swap file if it lies there.
  void put(const Entry& entry);
  void require_done(const Entry& entry) const;
  // Gives a mapped entry a file of its own.
  void make_writable(const Entry& entry);

  std::map<size_t, std::shared_ptr<const void>> owners_;  // of mapped entries, by index
  std::vector<Held> held_;                                // those that no file could be made for
  std::string folder_;
  bool needs_folder_ = false;
  int64_t version_ = 0;
  mutable const Entry* last_read_ = nullptr;  // a mapped one
  std::vector<Entry> entries_;
  std::vector<uint32_t> by_name_;  // indices of entries in the order of their names
  SwapFile* file_ = nullptr;
  std::span<std::byte> bounce_;
  Block block_;
};

// Writes a number into all elements of a tensor of any type, converted as by cast.
void fill_constant(const ir::TensorType& type, double value, std::span<std::byte> out);

// Writes initial values of the shape by the initializer. out: [elements]. Philox keyed by seed and
// name.
void fill_initial(const Initializer& init, const std::string& name, uint64_t seed,
                  const Shape& shape, float* out);

}  // namespace thimble::exec
