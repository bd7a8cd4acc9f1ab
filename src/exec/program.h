// A compiled step, and its execution over memory.
#pragma once

#include <thimble/plan.h>

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exec/compile_cache.h"
#include "exec/memory.h"
#include "exec/tiled_call.h"
#include "ir/graph.h"
#include "parallel/thread_pool.h"
#include "plan/arena.h"
#include "plan/budget/search.h"

namespace thimble::exec {

struct CompileOptions {
  int threads = 1;
  bool fast = true;      // fast kernels where there are any, else the reference kernels
  bool optimize = true;  // fusion, folding, dead code elimination, order, buffers shared in place
  plan::Budget budget;   // used only with optimize
};

// A step ready to run: the graph in its final order, its memory plan and kernel parameters.
// Immutable. Thread-safe.
class Program {
 public:
  // The graph must have its batch fixed and its phase settled. A step that was compiled before from
  // equal contents comes from the cache of the process (compile_cache.h). Constants with equal
  // contents are shared with a sibling program. Throws Error.
  Program(ir::Graph graph, const CompileOptions& options,
          const std::vector<const Program*>& siblings = {});

  // The compiled step, as the cache of the process holds it.
  [[nodiscard]] const Compiled& compiled() const { return *compiled_; }
  // Without the contents of constants; see constant().
  [[nodiscard]] const ir::Graph& graph() const { return compiled_->step.graph; }
  [[nodiscard]] const Plan& plan() const { return compiled_->step.arena.plan; }
  [[nodiscard]] const plan::Arena& arena() const { return compiled_->step.arena; }
  // Parameters and state that are kept in the swap file, and the slots needed there.
  [[nodiscard]] const std::set<std::string>& in_file() const { return compiled_->step.in_file; }
  [[nodiscard]] const std::vector<int64_t>& slot_bytes() const {
    return compiled_->step.slot_bytes;
  }
  [[nodiscard]] const ir::Params& params(size_t node) const { return params_[node]; }
  // Null if the node is no tiled update.
  [[nodiscard]] const plan::TiledLoop* tiled_loop(size_t node) const {
    const auto found = tiled_.find(node);
    return found == tiled_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const CompileOptions& options() const { return options_; }
  // The contents of a constant.
  [[nodiscard]] const std::byte* constant(int id) const {
    return constants_[static_cast<size_t>(id)]->data();
  }
  // By value; null where the value is no constant.
  [[nodiscard]] const std::vector<std::shared_ptr<const Block>>& constants() const {
    return constants_;
  }

 private:
  [[nodiscard]] static std::shared_ptr<const Compiled> compile(
      ir::Graph graph, const CompileOptions& options, const std::vector<const Program*>& siblings);

  CompileOptions options_;
  std::shared_ptr<const Compiled> compiled_;
  std::vector<ir::Params> params_;
  std::map<size_t, plan::TiledLoop> tiled_;
  std::vector<std::shared_ptr<const Block>> constants_;
};

// Runs a program over a store and an arena that others may use between steps. A step neither throws
// nor allocates. Thread safety: one step at a time.
class Session {
 public:
  // arena: at least plan().arena_bytes, 64-byte aligned. swap: with the program's slots, if it has
  // any. All must outlive the session. Throws Error if the store lacks a value.
  Session(const Program& program, const Store& store, std::span<std::byte> arena,
          parallel::ThreadPool& pool, SwapFile* swap = nullptr);

  // The contents of a source (input, label, scalar), valid from when it is set until the step, or
  // of a result (loss, output, metric), valid from one step to the next. Empty if there is no such
  // value or the program does not use it.
  [[nodiscard]] std::span<std::byte> source(const std::string& name) const;
  [[nodiscard]] std::span<const std::byte> loss() const;
  [[nodiscard]] std::span<const std::byte> output(const std::string& name) const;
  [[nodiscard]] std::span<const std::byte> metric(const std::string& name) const;

  // Runs the step. Returns false if the loss is not finite: then the step stopped right after the
  // loss, before any parameter changed. Also returns false if the swap file failed (see its
  // error()): then parameters and state are lost.
  [[nodiscard]] bool run();

  // Runs the step with sources of zeros and arbitrary contents in other memory, which are lost.
  // Returns the milliseconds of every node. Values that the step fetches must be in the swap file;
  // ends early if the file fails.
  [[nodiscard]] std::vector<double> measure();

  // After a failed run, with the sources set again: runs the forward part once more and returns the
  // name of the first value that is not finite ("conv2d_1", "parameter dense_2.weight"), or "".
  [[nodiscard]] std::string first_non_finite();

  [[nodiscard]] const Program& program() const { return program_; }

 private:
  struct Call {
    ir::KernelFn kernel;
    ir::KernelCall call;
    bool waits;  // whether the call waits for the swap file
    int tiled;   // index into tiled_; -1: a single kernel
  };
  void run_call(const Call& call);
  // Appends the inputs of a call, padded with nulls to the number that its op declares.
  void add_inputs(std::span<const int> ids, size_t declared);
  [[nodiscard]] bool stop_early();
  void clear_sources();
  // May leave transfers in progress.
  [[nodiscard]] std::string forward_non_finite();
  [[nodiscard]] std::span<std::byte> contents(int id) const;
  [[nodiscard]] bool is_finite(int id) const;

  const Program& program_;
  std::vector<std::byte*> value_data_;
  std::vector<void*> pointers_;
  std::vector<Call> calls_;
  std::vector<TiledCall> tiled_;
  SwapFile* swap_;
  int loss_node_ = -1;
};

}  // namespace thimble::exec
