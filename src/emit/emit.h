// A program as C99 source: a training step and predictions that allocate nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "program/program.h"

namespace thimble::emit {

// What sets a scalar of a step.
enum class Feed : uint8_t {
  learning_rate,  // f32
  update_number,  // i32, from 1
};

// A model as its programs. They must have been compiled without fast kernels.
struct Model {
  std::string name;
  std::string made_by;                        // "thimble 0.1.0"
  std::string target = "c99";                 // "c99", "cortex-m-dsp", "helium", "riscv"
  const program::Program* train = nullptr;    // null: it does not train
  const program::Program* predict = nullptr;  // null: it does not predict
  std::map<std::string, Feed> feeds;          // of scalars, by name
  int64_t batch = 1;
  uint64_t seed = 0;
  // The contents of parameters and states with which training begins, by name.
  std::function<std::span<const std::byte>(const std::string& name)> initial;
};

// A tensor that the caller of a function gives or gets.
struct Argument {
  std::string name;        // of the value
  std::string identifier;  // in C
  ir::TensorType type;
  ir::Role role = ir::Role::input;
};

// What the header declares.
struct Interface {
  std::vector<Argument> train_inputs;
  std::vector<Argument> predict_inputs;
  std::vector<Argument> results;  // of a step: the loss first
  std::vector<Argument> outputs;  // of a prediction
};

struct Sizes {
  int64_t arena_bytes = 0;
  int64_t state_bytes = 0;     // trained parameters and states, in RAM
  int64_t constant_bytes = 0;  // frozen parameters, constants and initial values, in flash
};

struct Sources {
  std::map<std::string, std::string> files;  // by name
  Interface interface;
  Sizes sizes;
  std::vector<std::string> kernels;  // C functions that are called, sorted
};

// Throws Error naming the call at fault, with what to change: a kernel without C source, a swap
// file, a tiled update, a scalar that nothing sets.
[[nodiscard]] Sources c_sources(const Model& model);

// What the engine computed in some steps from the initial values. Inputs and labels are those of
// test_inputs, drawn by one generator for all steps, in the order of the interface.
struct Golden {
  struct Step {
    float learning_rate = 0.0F;
    std::vector<std::vector<std::byte>> results;  // of the interface
  };
  std::vector<Step> steps;
  std::vector<std::pair<std::string, uint64_t>> outputs;  // checksums after these steps
  uint64_t state = 0;                                     // checksum of all states
  // Of sources of indices: the number of indices.
  std::map<std::string, int64_t> index_sizes;
};
// Fills a tensor with random numbers; the generator goes on from `random`.
[[nodiscard]] std::vector<std::byte> test_input(const Argument& argument, int64_t index_size,
                                                uint32_t& random);
inline constexpr uint32_t kTestSeed = 20221;
// FNV-1a of 64 bits, from `hash` on.
[[nodiscard]] uint64_t checksum(std::span<const std::byte> bytes,
                                uint64_t hash = 0xcbf29ce484222325U);
// The state as it lies in RAM, of contents by name: the golden checksum is of these bytes.
[[nodiscard]] std::vector<std::byte> state_bytes(
    const Model& model,
    const std::function<std::span<const std::byte>(const std::string& name)>& contents);

// A program that compares the C functions with golden values, bit for bit, and its build files.
void add_project(Sources& sources, const Model& model, const Golden& golden);

}  // namespace thimble::emit
