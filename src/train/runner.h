// Programs of one model over shared memory: one store of parameters, one arena.
#pragma once

#include <cstdint>
#include <functional>
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

  // Compiles a program under a key. Before seal only.
  void add(const ProgramKey& key, const ir::Graph& graph);
  // Allocates the store and an arena large enough for all programs so far.
  void seal();
  // Compiles a further program whose persistent values are all in the store; the arena grows where
  // it must. Returns it, compiled before or not.
  Runnable& get(const ProgramKey& key, const std::function<ir::Graph()>& graph);

  [[nodiscard]] Runnable& at(const ProgramKey& key) { return runnables_.at(key); }
  [[nodiscard]] const Runnable& at(const ProgramKey& key) const { return runnables_.at(key); }
  [[nodiscard]] exec::Store& store() { return *store_; }
  [[nodiscard]] const exec::Store& store() const { return *store_; }
  [[nodiscard]] int threads() const { return pool_.threads(); }

 private:
  [[nodiscard]] exec::CompileOptions compile_options() const;
  void bind();

  exec::ThreadPool pool_;
  std::map<ProgramKey, Runnable> runnables_;
  std::unique_ptr<exec::Store> store_;
  exec::Block arena_;
};

}  // namespace thimble::train
