// A program: the planned step as data. Whoever has one needs no graph, no autodiff and no planner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "plan/arena.h"
#include "plan/tiled_loop.h"

namespace thimble::program {

// Where the bytes of a tensor lie.
enum class Place : uint8_t {
  nowhere,   // nothing reads or writes it
  arena,     // `at` is the offset in bytes
  stored,    // a parameter or state: `at` is its number in Program::stored
  constant,  // `at` is its number in Program::constants
};

struct Tensor {
  ir::Name name;
  ir::TensorType type;
  ir::Role role = ir::Role::activation;
  ir::Storage storage = ir::Storage::full;
  bool recomputed = false;
  bool fetched = false;
  bool is_source = false;  // no call writes it before others read it
  Place place = Place::nowhere;
  int64_t at = 0;

  [[nodiscard]] int64_t bytes() const { return size_bytes(type.dtype, type.shape); }
};

// Role and label (ir/graph.h), for messages: "gradient conv2d_1 (recomputed)".
[[nodiscard]] std::string described(const Tensor& tensor);

// The gradient of a tiled update, which the update's call runs tile by tile.
struct Tiles {
  const ir::OpDef* op = nullptr;
  ir::Attrs attrs;
  ir::KernelFn kernel = nullptr;
  int64_t rows = 0;      // of a tile
  plan::TiledLoop loop;  // its kernels' parameters and sizes
};

// One kernel of the step, or a loop over two (ir::TiledGradient says which inputs are whose).
struct Call {
  const ir::OpDef* op = nullptr;
  ir::Attrs attrs;
  ir::KernelFn kernel = nullptr;  // of the op, by the types of its inputs
  ir::Params params;              // of the kernel, from attributes and types
  std::vector<int> inputs;        // tensors; -1: left out
  std::vector<int> outputs;
  int64_t workspace = -1;  // offset in the arena; -1: none
  int64_t workspace_bytes = 0;
  std::shared_ptr<const Tiles> tiled;  // null: one kernel

  // Inputs of the op itself, and those of a tiled update's gradient.
  [[nodiscard]] std::span<const int> own_inputs() const {
    return tiled ? std::span(inputs).first(op->signature.inputs.size()) : std::span(inputs);
  }
  [[nodiscard]] std::span<const int> gradient_inputs() const {
    return tiled ? std::span(inputs).subspan(op->signature.inputs.size()) : std::span<const int>();
  }
};

// Weights of a call that a session keeps in another form.
struct PreparedCall {
  int call = 0;
  plan::PreparedNode weights;
};

// A parameter or state that the step reads or changes.
struct Stored {
  ir::Name name;
  ir::Role role = ir::Role::parameter;
  ir::TensorType type;
  ir::Shared<Initializer> init;
  bool sums_gradients = false;  // as ir::ValueData says
  ir::Name average_of;          // likewise
};

struct Program {
  int threads = 1;  // that it was planned for; workspaces grow with them
  bool fast = true;
  int64_t arena_bytes = 0;
  int64_t staging_bytes = 0;  // of the swap file
  std::vector<Tensor> tensors;
  std::vector<Call> calls;             // in the order in which they run
  std::vector<PreparedCall> prepared;  // in that order; none of programs from files
  std::vector<Stored> stored;
  // Contents of constants, 64-byte aligned, as long as their tensors say. Programs may share them.
  std::vector<std::shared_ptr<const std::byte>> constants;
  std::optional<int> loss;
  std::vector<std::pair<std::string, int>> outputs;
  std::vector<std::pair<std::string, int>> metrics;
  // The swap file's places and the parameters and state that lie there between steps.
  std::vector<int64_t> slot_bytes;
  std::set<std::string> in_file;

  [[nodiscard]] const Tensor& tensor(int id) const { return tensors[static_cast<size_t>(id)]; }
  // Loss, outputs and metrics: what is read after the step.
  [[nodiscard]] std::vector<int> results() const;
  // Calls that start or await a transfer to or from the swap file.
  [[nodiscard]] int transfers() const;
};

// The kernel of a call, and its parameters.
struct Resolved {
  ir::KernelFn kernel = nullptr;
  ir::Params params;
  std::shared_ptr<const Tiles> tiled;  // null: one kernel
  int64_t workspace_bytes = 0;         // at least, on so many threads
  plan::PreparedNode prepared = {};
};

// From a node of a planned graph. Throws Error where its op has no kernel.
[[nodiscard]] Resolved resolve(const ir::Graph& graph, const ir::Node& node,
                               const plan::ArenaOptions& options);
// From the attributes of a call and the types of its tensors. Throws Error where the op's shape
// rule refuses these.
[[nodiscard]] Resolved resolve(const Program& program, const Call& call);

}  // namespace thimble::program
