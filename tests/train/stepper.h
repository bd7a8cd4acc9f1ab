// Runs step graphs over one store, as the trainer would.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "exec/program.h"

namespace thimble::test {

inline std::vector<float> floats(std::span<const std::byte> bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// The programs of a model by number, sharing parameters and state.
class Stepper {
 public:
  explicit Stepper(const std::vector<const ir::Graph*>& graphs,
                   const exec::CompileOptions& options = {})
      : store_(graphs), pool_(options.threads) {
    for (const ir::Graph* graph : graphs) {
      Step step;
      step.program = std::make_unique<exec::Program>(*graph, options);
      step.arena = exec::Block(step.program->plan().arena_bytes);
      step.session = std::make_unique<exec::Session>(
          step.program->data(), store_,
          std::span(step.arena.data(), static_cast<size_t>(step.arena.bytes())), pool_);
      steps_.push_back(std::move(step));
    }
    store_.initialize(1);
  }

  template <class T>
  void set(const std::string& source, const std::vector<T>& values, size_t graph = 0) {
    const std::span<std::byte> bytes = steps_[graph].session->source(source);
    if (bytes.empty()) return;
    if (bytes.size() != values.size() * sizeof(T)) throw Error(source, "wrong size");
    std::memcpy(bytes.data(), values.data(), bytes.size());
  }

  [[nodiscard]] std::vector<float> stored(const std::string& name) const {
    const exec::Store::Entry* entry = store_.find(name);
    if (entry == nullptr) throw Error(name, "not in the store");
    return floats({entry->data, static_cast<size_t>(size_bytes(DType::f32, entry->type.shape))});
  }

  [[nodiscard]] bool run(size_t graph = 0) { return steps_[graph].session->run(); }
  [[nodiscard]] exec::Session& session(size_t graph = 0) { return *steps_[graph].session; }
  [[nodiscard]] const exec::Store& store() const { return store_; }

 private:
  struct Step {
    std::unique_ptr<exec::Program> program;
    exec::Block arena;
    std::unique_ptr<exec::Session> session;
  };
  exec::Store store_;
  parallel::ThreadPool pool_;
  std::vector<Step> steps_;
};

}  // namespace thimble::test
