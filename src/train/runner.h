// The programs of a model, which share one store of parameters and one arena.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exec/program.h"
#include "exec/rates.h"
#include "exec/swap_file.h"
#include "plan/budget/training_programs.h"

namespace thimble::train {

// Staging buffers are multiples of it.
inline constexpr int64_t kSwapPage = 4096;

// A program with its session.
struct Runnable {
  std::unique_ptr<exec::Program> program;
  std::unique_ptr<exec::Session> session;
};

// The kind of a program and its batch size.
using ProgramKey = plan::ProgramKey;

// Holds programs by key. All programs share the arena, so the values of only one step exist at a
// time.
//
// If memory or the disk fails while it grows, it keeps its previous state. If even that memory
// cannot be had, it holds none: the next call that needs memory tries again and throws on failure.
class Runner {
 public:
  // fast: with fast kernels where there are any, else with the reference kernels.
  explicit Runner(int threads, bool fast = true);

  // Compiles a program under a key and replaces one that was there. Only before seal.
  void add(const ProgramKey& key, ir::Graph graph, const plan::Budget& budget = {});
  // The same of a program that changes no weights: it keeps them as its kernels read them
  // (ir::PreparedWeights).
  void add_inference(const ProgramKey& key, ir::Graph graph);
  // Takes a program that was compiled elsewhere, for as many threads as there are.
  void add(const ProgramKey& key, program::Program program);
  // Allocates the store, an arena for the largest program so far, and the swap file in the folder
  // if a program needs one. Frozen weights that are in no model file go to files there, too, and
  // must where needs_folder is true (exec::Store::set_folder).
  void seal(const std::string& folder = {}, bool needs_folder = false);
  // Makes the sessions anew, after entries of the store were mapped.
  void rebind();
  // Drops a program that needs no memory beside another one: its arena fits into the other's, the
  // other has its constants, and neither needs a swap file. extend compiles it again. Only before
  // seal.
  void drop_if_covered(const ProgramKey& key, const ProgramKey& by);
  // Frees everything that seal allocated, and all programs.
  void clear();
  // The program of a key, or null. Allocates nothing, except to restore memory after a failure.
  [[nodiscard]] Runnable* find(const ProgramKey& key);
  // Compiles a program under a new key. Its parameters and state must be in the store; the arena
  // grows if it must. refuse: called before memory is taken, when at(key) and plan know the new
  // program; throws to reject it. After any exception the program does not exist.
  Runnable& extend(const ProgramKey& key, ir::Graph graph, const plan::Budget& budget = {},
                   const std::function<void()>& refuse = {});
  // The plan of a program, including the constants of the other programs and an arena for the
  // largest.
  [[nodiscard]] Plan plan(const ProgramKey& key) const;

  [[nodiscard]] Runnable& at(const ProgramKey& key) { return runnables_.at(key); }
  [[nodiscard]] const Runnable& at(const ProgramKey& key) const { return runnables_.at(key); }
  [[nodiscard]] exec::Store& store();
  [[nodiscard]] const exec::Store& store() const { return *store_; }
  // By their keys.
  [[nodiscard]] const std::map<ProgramKey, Runnable>& programs() const { return runnables_; }
  [[nodiscard]] int threads() const { return pool_.threads(); }
  // Times of nodes at this machine's rates.
  [[nodiscard]] plan::NodeTimes rates() { return exec::measured_rates(pool_, fast_); }
  // Null if no program needs one. May be replaced when a program is added.
  [[nodiscard]] const exec::SwapFile* swap_file() const { return swap_.get(); }
  // Sums over all swap files so far.
  [[nodiscard]] exec::SwapCounters swap_counters() const;

  // Bytes of the swap file that the programs so far need, if the present file is too small; else 0.
  [[nodiscard]] int64_t missing_file_bytes() const;
  // Bytes of the constants of all programs.
  [[nodiscard]] int64_t constant_bytes() const;
  // Bytes of a program's constants that may differ with the batch: scalars and the like, a cache
  // line each.
  [[nodiscard]] int64_t small_constant_bytes(const ProgramKey& key) const;
  // Options of the swap file with staging buffers of this size.
  [[nodiscard]] static exec::SwapOptions swap_options(int64_t buffer_bytes);

 private:
  static constexpr int kStagingBuffers = 2;
  [[nodiscard]] int64_t arena_bytes() const;
  [[nodiscard]] int64_t staging_bytes() const;
  [[nodiscard]] int most_transfers() const;
  // Bytes by slot: the most that any program stores there.
  [[nodiscard]] std::vector<int64_t> slot_bytes() const;
  void compile(const ProgramKey& key, ir::Graph graph, exec::CompileOptions options);
  // Creates arena, swap file and sessions that are missing or too small.
  void bind();
  // Frees the arena and the sessions.
  void unbind();
  void require_bound();
  void fit_swap_file();
  void copy_to(exec::SwapFile& file);
  [[nodiscard]] std::span<std::byte> arena() const {
    return {arena_.data(), static_cast<size_t>(arena_.bytes())};
  }

  parallel::ThreadPool pool_;
  bool fast_;
  std::map<ProgramKey, Runnable> runnables_;
  std::unique_ptr<exec::Store> store_;
  exec::Block arena_;
  std::string swap_dir_;
  std::vector<int64_t> slots_;  // sizes of the swap file's slots
  int capacity_ = 0;            // queue capacity of the swap file
  std::unique_ptr<exec::SwapFile> swap_;
  exec::SwapCounters before_;  // counters of earlier swap files
  bool is_bound_ = false;
};

}  // namespace thimble::train
