// A compiled step, and a run of it over memory.
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
  bool fast = true;      // the fast kernels where there are any, else the reference kernels
  bool optimize = true;  // fusion, folding, dead code, order, buffers shared in place
  plan::Budget budget;   // where it optimizes
};

// A step ready to run: the graph in its final order, its memory plan and kernel parameters.
// Immutable. Thread-safe.
class Program {
 public:
  // The graph must have its batch fixed and its phase settled. What was compiled before from the
  // same contents is taken from the cache of the process (compile_cache.h). Constants that a
  // sibling has, too, are shared with it. Throws Error.
  Program(ir::Graph graph, const CompileOptions& options,
          const std::vector<const Program*>& siblings = {});

  // What was compiled, as the cache of the process has it.
  [[nodiscard]] const Compiled& compiled() const { return *compiled_; }
  // Without the contents of constants, which constant has.
  [[nodiscard]] const ir::Graph& graph() const { return compiled_->step.graph; }
  [[nodiscard]] const Plan& plan() const { return compiled_->step.arena.plan; }
  [[nodiscard]] const plan::Arena& arena() const { return compiled_->step.arena; }
  // Parameters and state that it fetches from the swap file, and the slots it needs there.
  [[nodiscard]] const std::set<std::string>& in_file() const { return compiled_->step.in_file; }
  [[nodiscard]] const std::vector<int64_t>& slot_bytes() const {
    return compiled_->step.slot_bytes;
  }
  [[nodiscard]] const ir::Params& params(size_t node) const { return params_[node]; }
  // Null where the node is no tiled update.
  [[nodiscard]] const plan::TiledLoop* tiled_loop(size_t node) const {
    const auto found = tiled_.find(node);
    return found == tiled_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const CompileOptions& options() const { return options_; }
  // The contents of a constant.
  [[nodiscard]] const std::byte* constant(int id) const {
    return constants_[static_cast<size_t>(id)]->data();
  }
  // By value, null where it is no constant.
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

// Runs a program over a store and an arena that others may use between steps.
// Running neither throws nor allocates. Thread safety: one step at a time.
class Session {
 public:
  // arena: at least plan().arena_bytes, 64-byte aligned. swap: with the program's slots, where it
  // has any. All must outlive the session. Throws Error where the store lacks a value.
  Session(const Program& program, const Store& store, std::span<std::byte> arena,
          parallel::ThreadPool& pool, SwapFile* swap = nullptr);

  // The contents of a source (input, label, scalar) or a result (loss, output, metric), valid from
  // its setting to the step and from the step to the next. Empty where the program has no use for
  // a source of that name, or no such value.
  [[nodiscard]] std::span<std::byte> source(const std::string& name) const;
  [[nodiscard]] std::span<const std::byte> loss() const;
  [[nodiscard]] std::span<const std::byte> output(const std::string& name) const;
  [[nodiscard]] std::span<const std::byte> metric(const std::string& name) const;

  // Runs the step. False where the loss is not finite: the step stopped right after it, before
  // any parameter changed. False, too, where the swap file failed, which says so itself: then
  // parameters and state are lost.
  [[nodiscard]] bool run();

  // Runs the step on sources of zeros and whatever else the memory holds, which is lost. The
  // milliseconds of every node. What it fetches must be in the swap file; ends early where that
  // fails.
  [[nodiscard]] std::vector<double> measure();

  // After a failed run, with the sources set again: runs the forward part once more and names the
  // first value that is not finite ("conv2d_1", "parameter dense_2.weight"), or "".
  [[nodiscard]] std::string first_non_finite();

  [[nodiscard]] const Program& program() const { return program_; }

 private:
  struct Call {
    ir::KernelFn kernel;
    ir::KernelCall call;
    bool waits;  // for the swap file
    int tiled;   // of tiled_; -1: one kernel
  };
  void run_call(const Call& call);
  // Appends what a call reads, filled up with nulls to what its op declares.
  void add_inputs(std::span<const int> ids, size_t declared);
  [[nodiscard]] bool stop_early();
  void clear_sources();
  // Leaves transfers under way.
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
