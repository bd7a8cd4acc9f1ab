#include "train/runner.h"

#include <fmt/format.h>

#include <algorithm>

namespace thimble::train {
namespace {

int checked_threads(int threads) {
  if (threads >= 0) return threads;
  throw Error("threads",
              fmt::format("expected 1 or more, or 0 for one a processor, got {}", threads));
}

}  // namespace

Runner::Runner(int threads) : pool_(checked_threads(threads)) {}

void Runner::add(const ProgramKey& key, const ir::Graph& graph, int64_t arena_budget) {
  const exec::CompileOptions options{.threads = pool_.threads(), .arena_budget = arena_budget};
  runnables_[key].program = std::make_unique<exec::Program>(graph, options);
}

void Runner::seal() {
  std::vector<const ir::Graph*> graphs;
  for (const auto& [key, runnable] : runnables_) graphs.push_back(&runnable.program->graph());
  store_ = std::make_unique<exec::Store>(graphs);
  bind();
}

// What serves the program that needs most.
int64_t Runner::arena_bytes() const {
  int64_t bytes = 0;
  for (const auto& [key, runnable] : runnables_) {
    bytes = std::max(bytes, runnable.program->plan().arena_bytes);
  }
  return bytes;
}

void Runner::bind() {
  const int64_t bytes = arena_bytes();
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

Runnable* Runner::find(const ProgramKey& key) {
  const auto found = runnables_.find(key);
  return found == runnables_.end() ? nullptr : &found->second;
}

Runnable& Runner::extend(const ProgramKey& key, const ir::Graph& graph, int64_t arena_budget) {
  add(key, graph, arena_budget);
  bind();
  return runnables_.at(key);
}

Plan Runner::plan(const ProgramKey& key) const {
  Plan plan = runnables_.at(key).program->plan();
  const int64_t bytes = std::max(arena_bytes(), arena_.bytes());
  int64_t beside = bytes - plan.arena_bytes;
  plan.arena_bytes = bytes;
  for (const auto& [other, runnable] : runnables_) {
    if (other == key) continue;
    const Plan& constants = runnable.program->plan();
    plan.constant_bytes += constants.constant_bytes;
    plan.padding_bytes += constants.constant_padding_bytes;
    beside += constants.constant_bytes + constants.constant_padding_bytes;
  }
  plan.planned_peak_bytes += beside;
  plan.lower_bound_bytes += beside;
  return plan;
}

}  // namespace thimble::train
