// Where the tensors of a model lie on a device: in the arena, in the state, or in flash.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "emit/c_names.h"
#include "emit/emit.h"

namespace thimble::emit {

// A parameter or state that a step changes: it lies in RAM.
struct StateEntry {
  std::string name;
  ir::TensorType type;
  int64_t offset = 0;
  std::string initial;  // the identifier of its first contents in flash; empty: zeros
};

class Storage {
 public:
  explicit Storage(const Model& model);

  // A tensor's address as C: "ARENA(const float, 128)"; NULL where nothing reads or writes it.
  [[nodiscard]] std::string address(const program::Program& program, const program::Tensor& tensor,
                                    const std::string& type, bool is_const) const;
  // Whether two tensors begin at one place.
  [[nodiscard]] static bool same_place(const program::Tensor& a, const program::Tensor& b) {
    return a.place == b.place && a.at == b.at && a.place != program::Place::nowhere;
  }
  [[nodiscard]] const std::vector<StateEntry>& state() const { return state_; }
  // The definitions of everything that lies in flash.
  [[nodiscard]] const std::string& constants() const { return constants_; }
  [[nodiscard]] const Sizes& sizes() const { return sizes_; }

 private:
  struct Constant {
    std::string identifier;
    std::string type;
  };
  void add_program(const program::Program& program, const Model& model);
  void add_state(const program::Stored& stored, const Model& model);
  Constant add_constant(const std::string& name, const ir::TensorType& type,
                        std::span<const std::byte> contents);

  CNames names_;
  std::set<std::string> changed_;  // names of stored values that a step changes
  std::map<std::string, size_t> state_of_;
  std::map<std::string, Constant> frozen_;       // by name
  std::map<const std::byte*, Constant> shared_;  // constants by their contents
  std::vector<StateEntry> state_;
  std::string constants_;
  Sizes sizes_;
};

}  // namespace thimble::emit
