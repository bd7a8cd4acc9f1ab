// Programs of one model over shared memory: one store of parameters, one arena.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exec/program.h"

namespace thimble::train {

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
  // arena_budget: see exec::CompileOptions.
  void add(const ProgramKey& key, const ir::Graph& graph, int64_t arena_budget = 0);
  // Allocates the store and an arena large enough for all programs so far.
  void seal();
  // The program of a key or null. Allocates nothing.
  [[nodiscard]] Runnable* find(const ProgramKey& key);
  // Compiles a further program whose parameters and state are all in the store; the arena grows
  // where it must.
  Runnable& extend(const ProgramKey& key, const ir::Graph& graph, int64_t arena_budget = 0);
  // The plan of a program with all that lies beside it: the constants of the other programs, and
  // an arena that serves the largest.
  [[nodiscard]] Plan plan(const ProgramKey& key) const;

  [[nodiscard]] Runnable& at(const ProgramKey& key) { return runnables_.at(key); }
  [[nodiscard]] const Runnable& at(const ProgramKey& key) const { return runnables_.at(key); }
  [[nodiscard]] exec::Store& store() { return *store_; }
  [[nodiscard]] const exec::Store& store() const { return *store_; }
  [[nodiscard]] int threads() const { return pool_.threads(); }

 private:
  [[nodiscard]] int64_t arena_bytes() const;
  void bind();

  exec::ThreadPool pool_;
  std::map<ProgramKey, Runnable> runnables_;
  std::unique_ptr<exec::Store> store_;
  exec::Block arena_;
};

}  // namespace thimble::train
