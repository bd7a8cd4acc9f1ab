// Programs of one model over shared memory: one store of parameters, one arena.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exec/program.h"
#include "exec/rates.h"
#include "exec/swap_file.h"

namespace thimble::train {

// Staging buffers are multiples of it.
inline constexpr int64_t kSwapPage = 4096;

// A program with its session.
struct Runnable {
  std::unique_ptr<exec::Program> program;
  std::unique_ptr<exec::Session> session;
};

// The kind of a program and its batch size.
using ProgramKey = std::pair<int, int64_t>;

// Holds programs by key. All programs share the arena, so only one step's values exist at a time.
class Runner {
 public:
  explicit Runner(int threads);

  // Compiles a program under a key, in place of one that was there. Before seal only.
  void add(const ProgramKey& key, ir::Graph graph, const plan::Budget& budget = {});
  // Allocates the store, an arena large enough for all programs so far, and in swap_dir the swap
  // file where one of them needs it.
  void seal(const std::string& swap_dir = {});
  // Forgets a program that takes nothing beside another one: its arena fits into the other's, which
  // has its constants, too, and neither needs a swap file. extend compiles it again. Before seal.
  void drop_if_covered(const ProgramKey& key, const ProgramKey& by);
  // Gives up all that seal allocated and all programs.
  void clear();
  // The program of a key or null. Allocates nothing.
  [[nodiscard]] Runnable* find(const ProgramKey& key);
  // Compiles a further program whose parameters and state are all in the store; the arena grows
  // where it must.
  Runnable& extend(const ProgramKey& key, ir::Graph graph, const plan::Budget& budget = {});
  // The plan of a program with all that lies beside it: the constants of the other programs, and
  // an arena that serves the largest.
  [[nodiscard]] Plan plan(const ProgramKey& key) const;

  [[nodiscard]] Runnable& at(const ProgramKey& key) { return runnables_.at(key); }
  [[nodiscard]] const Runnable& at(const ProgramKey& key) const { return runnables_.at(key); }
  [[nodiscard]] exec::Store& store() { return *store_; }
  [[nodiscard]] const exec::Store& store() const { return *store_; }
  [[nodiscard]] int threads() const { return pool_.threads(); }
  // Times of nodes at this machine's rates.
  [[nodiscard]] plan::NodeTimes rates() { return exec::measured_rates(pool_); }
  // Null where no program needs one.
  [[nodiscard]] exec::SwapFile* swap_file() { return swap_.get(); }
  [[nodiscard]] const exec::SwapFile* swap_file() const { return swap_.get(); }

  // Of the constants of all programs.
  [[nodiscard]] int64_t constant_bytes() const;
  // Of the swap file, with staging buffers of so many bytes.
  [[nodiscard]] static exec::SwapOptions swap_options(int64_t buffer_bytes);

 private:
  static constexpr int kStagingBuffers = 2;
  [[nodiscard]] int64_t arena_bytes() const;
  [[nodiscard]] int64_t staging_bytes() const;
  [[nodiscard]] int most_transfers() const;
  // By slot, the most that a program puts there.
  [[nodiscard]] std::vector<int64_t> slot_bytes() const;
  void bind();
  void fit_swap_file();

  exec::ThreadPool pool_;
  std::map<ProgramKey, Runnable> runnables_;
  std::unique_ptr<exec::Store> store_;
  exec::Block arena_;
  std::string swap_dir_;
  std::vector<int64_t> slots_;  // as the swap file has them
  std::unique_ptr<exec::SwapFile> swap_;
};

}  // namespace thimble::train
