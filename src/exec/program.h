// A compiled step, and its execution over memory.
#pragma once

#include <thimble/plan.h>

#include <cstddef>
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
#include "program/program.h"

namespace thimble::exec {

struct CompileOptions {
  int threads = 1;
  bool fast = true;       // fast kernels where there are any, else the reference kernels
  bool optimize = true;   // fusion, folding, dead code elimination, order, buffers shared in place
  bool prepared = false;  // keep weights as kernels read them (ir::PreparedWeights)
  plan::Budget budget;    // used only with optimize
};

// A step ready to run. Immutable. Thread-safe.
class Program {
 public:
  // The graph must have its batch fixed and its phase settled. A step that was compiled before from
  // equal contents comes from the cache of the process (compile_cache.h). Constants with equal
  // contents are shared with a sibling program. Throws Error.
  Program(ir::Graph graph, const CompileOptions& options,
          const std::vector<const Program*>& siblings = {});
  // A program that was compiled elsewhere: it has no graph.
  explicit Program(program::Program data);

  // The step as data, which runs.
  [[nodiscard]] const program::Program& data() const { return data_; }
  // The memory plan; of a program that was compiled elsewhere its totals alone.
  [[nodiscard]] const Plan& plan() const { return *plan_; }
  // Parameters and state that it fetches from the swap file, and the slots it needs there.
  [[nodiscard]] const std::set<std::string>& in_file() const { return data_.in_file; }
  [[nodiscard]] const std::vector<int64_t>& slot_bytes() const { return data_.slot_bytes; }

  // The rest is of a program that was compiled here.
  // The compiled step, as the cache of the process has it.
  [[nodiscard]] const Compiled& compiled() const { return *compiled_; }
  // The planned graph, without the contents of constants.
  [[nodiscard]] const ir::Graph& graph() const { return compiled_->step.graph; }
  [[nodiscard]] const plan::Arena& arena() const { return compiled_->step.arena; }

 private:
  [[nodiscard]] static std::shared_ptr<const Compiled> compile(
      ir::Graph graph, const CompileOptions& options, const std::vector<const Program*>& siblings);

  std::shared_ptr<const Compiled> compiled_;  // null: it was compiled elsewhere
  std::shared_ptr<const Plan> plan_;
  program::Program data_;
};

// Runs a program over a store and an arena that others may use between steps. A step neither throws
// nor allocates. Thread safety: one step at a time.
class Session {
 public:
  // arena: at least program.arena_bytes, 64-byte aligned. swap: with the program's slots, if it has
  // any. All must outlive the session. Throws Error if the store lacks a value.
  Session(const program::Program& program, const Store& store, std::span<std::byte> arena,
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

  [[nodiscard]] const program::Program& program() const { return program_; }

 private:
  // Brings weights of a call into the form that its kernel reads.
  struct Prepare {
    const ir::PreparedWeights* rule;
    ir::KernelCall call;
  };
  struct Prepared {
    const Store& store;
    Block forms;  // that weights are brought into
    std::vector<Prepare> calls;
    int64_t version = -1;  // of the store; -1: nothing is prepared yet
  };
  struct Call {
    const ir::KernelFn* kernel;  // the program's
    ir::KernelCall call;
    bool waits;       // whether the call waits for the swap file
    bool reads_file;  // whether inputs lie in a mapped file
    int tiled;        // index into tiled_; -1: a single kernel
  };
  void place(const Store& store, std::span<std::byte> arena);
  void add_call(const program::Call& from, std::span<std::byte> arena, parallel::ThreadPool& pool);
  [[nodiscard]] int call_that_writes(int id) const;
  void add_prepared(const Store& store);
  void add_prepare(const program::PreparedCall& from, std::byte* form);
  // Brings weights into their forms again if they may have changed.
  void prepare();
  void run_call(const Call& call);
  // Appends the inputs of a call, padded with nulls to the number that its op declares.
  void add_inputs(std::span<const int> ids, size_t declared);
  [[nodiscard]] bool stop_early();
  void clear_sources();
  // May leave transfers in progress.
  [[nodiscard]] std::string forward_non_finite();
  [[nodiscard]] std::span<std::byte> contents(int id) const;
  [[nodiscard]] bool is_in_file(int id) const;
  [[nodiscard]] bool is_finite(int id) const;

  const program::Program& program_;
  std::vector<std::byte*> data_;  // of each tensor
  std::vector<int> in_file_;      // tensors in a mapped file, ascending
  std::vector<void*> pointers_;
  std::vector<Call> calls_;
  std::vector<TiledCall> tiled_;
  std::unique_ptr<Prepared> prepared_;  // null: no call has prepared weights
  SwapFile* swap_;
  int loss_call_ = -1;
};

}  // namespace thimble::exec
