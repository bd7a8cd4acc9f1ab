#include "train/runner.h"

#include <algorithm>

namespace thimble::train {

Runner::Runner(int threads) : pool_(threads) {}

exec::CompileOptions Runner::compile_options() const { return {.threads = pool_.threads()}; }

void Runner::add(const ProgramKey& key, const ir::Graph& graph) {
  runnables_[key].program = std::make_unique<exec::Program>(graph, compile_options());
}

void Runner::seal() {
  std::vector<const ir::Graph*> graphs;
  for (const auto& [key, runnable] : runnables_) graphs.push_back(&runnable.program->graph());
  store_ = std::make_unique<exec::Store>(graphs);
  bind();
}

void Runner::bind() {
  int64_t bytes = 0;
  for (const auto& [key, runnable] : runnables_) {
    bytes = std::max(bytes, runnable.program->plan().arena_bytes);
  }
  if (bytes > arena_.bytes()) {
    // The old arena goes first: the two must not stand side by side.
    for (auto& [key, runnable] : runnables_) runnable.session.reset();
    arena_ = {};
    arena_ = exec::Block(bytes);
  }
  for (auto& [key, runnable] : runnables_) {
    if (runnable.session) continue;
    runnable.session = std::make_unique<exec::Session>(
        *runnable.program, *store_,
        std::span<std::byte>(arena_.data(), static_cast<size_t>(arena_.bytes())), pool_);
  }
}

Runnable& Runner::get(const ProgramKey& key, const std::function<ir::Graph()>& graph) {
  const auto found = runnables_.find(key);
  if (found != runnables_.end()) return found->second;
  add(key, graph());
  bind();
  return runnables_.at(key);
}

}  // namespace thimble::train
