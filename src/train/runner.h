// Programs of one model over shared memory: one store of parameters, one arena.
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
//
// Where memory or the disk fails while it grows, it stands as before. Where even that cannot be had
// back, it is empty of memory: the next call that needs some tries again, and throws what is wrong.
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
  // The program of a key or null. Allocates nothing, but for what a failure took away.
  [[nodiscard]] Runnable* find(const ProgramKey& key);
  // Compiles a program under a new key, whose parameters and state are all in the store; the arena
  // grows where it must. refuse: asked before memory is taken, when at(key) and plan know the new
  // program; it throws what speaks against it. Whatever throws, the program is not there then.
  Runnable& extend(const ProgramKey& key, ir::Graph graph, const plan::Budget& budget = {},
                   const std::function<void()>& refuse = {});
  // The plan of a program with all that lies beside it: the constants of the other programs, and
  // an arena that serves the largest.
  [[nodiscard]] Plan plan(const ProgramKey& key) const;

  [[nodiscard]] Runnable& at(const ProgramKey& key) { return runnables_.at(key); }
  [[nodiscard]] const Runnable& at(const ProgramKey& key) const { return runnables_.at(key); }
  [[nodiscard]] exec::Store& store();
  [[nodiscard]] const exec::Store& store() const { return *store_; }
  [[nodiscard]] int threads() const { return pool_.threads(); }
  // Times of nodes at this machine's rates.
  [[nodiscard]] plan::NodeTimes rates() { return exec::measured_rates(pool_); }
  // Null where no program needs one. Another one may take its place whenever a program is added.
  [[nodiscard]] const exec::SwapFile* swap_file() const { return swap_.get(); }
  // Of all swap files so far, from the first seal on.
  [[nodiscard]] exec::SwapCounters swap_counters() const;

  // Of the swap file that the programs so far ask for, where there is none that serves them yet;
  // else 0.
  [[nodiscard]] int64_t missing_file_bytes() const;
  // Of the constants of all programs.
  [[nodiscard]] int64_t constant_bytes() const;
  // Of the constants of a program, those that another batch may change: scalars and the like, in a
  // cache line each.
  [[nodiscard]] int64_t small_constant_bytes(const ProgramKey& key) const;
  // Of the swap file, with staging buffers of so many bytes.
  [[nodiscard]] static exec::SwapOptions swap_options(int64_t buffer_bytes);

 private:
  static constexpr int kStagingBuffers = 2;
  [[nodiscard]] int64_t arena_bytes() const;
  [[nodiscard]] int64_t staging_bytes() const;
  [[nodiscard]] int most_transfers() const;
  // By slot, the most that a program puts there.
  [[nodiscard]] std::vector<int64_t> slot_bytes() const;
  // Takes arena, swap file and sessions as far as they are missing or too small.
  void bind();
  // Gives up the arena and the sessions.
  void unbind();
  void require_bound();
  void fit_swap_file();
  void copy_to(exec::SwapFile& file);
  [[nodiscard]] std::span<std::byte> arena() const {
    return {arena_.data(), static_cast<size_t>(arena_.bytes())};
  }

  parallel::ThreadPool pool_;
  std::map<ProgramKey, Runnable> runnables_;
  std::unique_ptr<exec::Store> store_;
  exec::Block arena_;
  std::string swap_dir_;
  std::vector<int64_t> slots_;  // as the swap file has them
  int capacity_ = 0;            // of the swap file
  std::unique_ptr<exec::SwapFile> swap_;
  exec::SwapCounters before_;  // of the swap files before this one
  bool is_bound_ = false;
};

}  // namespace thimble::train
