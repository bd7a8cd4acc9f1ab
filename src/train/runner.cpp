#include "train/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "exec/compile_cache.h"
#include "exec/heap.h"
#include "exec/swap_pipe.h"
#include "train/compile.h"

namespace thimble::train {
namespace {

int checked_threads(int threads) {
  if (threads >= 0) return threads;
  throw Error("threads",
              fmt::format("expected 1 or more, or 0 for one a processor, got {}", threads));
}

}  // namespace

Runner::Runner(int threads, bool fast) : pool_(checked_threads(threads)), fast_(fast) {}

exec::SwapOptions Runner::swap_options(int64_t buffer_bytes) {
  return {.buffer_bytes = buffer_bytes, .buffers = kStagingBuffers};
}

void Runner::add(const ProgramKey& key, ir::Graph graph, const plan::Budget& budget) {
  compile(key, std::move(graph), {.budget = budget});
}

void Runner::add_inference(const ProgramKey& key, ir::Graph graph) {
  compile(key, std::move(graph), {.prepared = true});
}

void Runner::compile(const ProgramKey& key, ir::Graph graph, exec::CompileOptions options) {
  options.threads = pool_.threads();
  options.fast = fast_;
  graph = graph_of_kernels(graph, fast_);
  std::vector<const exec::Program*> siblings;
  for (const auto& [other, runnable] : runnables_) {
    if (other != key) siblings.push_back(runnable.program.get());
  }
  runnables_[key].program = std::make_unique<exec::Program>(std::move(graph), options, siblings);
}

void Runner::add(const ProgramKey& key, program::Program program) {
  runnables_[key].program = std::make_unique<exec::Program>(std::move(program));
}

void Runner::drop_if_covered(const ProgramKey& key, const ProgramKey& by) {
  const exec::Program& program = *runnables_.at(key).program;
  const exec::Program& other = *runnables_.at(by).program;
  if (!program.slot_bytes().empty() || !other.slot_bytes().empty()) return;
  if (program.plan().arena_bytes > other.plan().arena_bytes) return;
  const auto& known = other.data().constants;
  for (const auto& constant : program.data().constants) {
    if (std::find(known.begin(), known.end(), constant) == known.end()) return;
  }
  exec::compile_cache().let_go(program.compiled());
  runnables_.erase(key);
}

void Runner::seal(const std::string& folder, bool needs_folder) {
  std::vector<const program::Program*> programs;
  std::set<std::string> in_file;
  for (const auto& [key, runnable] : runnables_) {
    programs.push_back(&runnable.program->data());
    in_file.insert(runnable.program->in_file().begin(), runnable.program->in_file().end());
  }
  swap_dir_ = folder;
  store_ = std::make_unique<exec::Store>(programs, in_file);
  store_->set_folder(folder, needs_folder);
  bind();
}

void Runner::clear() {
  runnables_.clear();
  store_.reset();
  swap_.reset();
  before_ = {};
  slots_.clear();
  capacity_ = 0;
  arena_ = {};
  is_bound_ = false;
}

std::vector<int64_t> Runner::slot_bytes() const {
  std::vector<int64_t> bytes = slots_;
  for (const auto& [key, runnable] : runnables_) {
    const std::vector<int64_t>& wanted = runnable.program->slot_bytes();
    bytes.resize(std::max(bytes.size(), wanted.size()), 0);
    for (size_t i = 0; i < wanted.size(); ++i) bytes[i] = std::max(bytes[i], wanted[i]);
  }
  return bytes;
}

int64_t Runner::staging_bytes() const {
  int64_t bytes = 0;
  for (const auto& [key, runnable] : runnables_) {
    bytes = std::max(bytes, runnable.program->plan().staging_bytes);
  }
  return bytes;
}

// The most transfers that a step can have queued.
int Runner::most_transfers() const {
  int most = 1;
  for (const auto& [key, runnable] : runnables_) {
    most = std::max(most, runnable.program->data().transfers());
  }
  return most;
}

int64_t Runner::missing_file_bytes() const {
  const std::vector<int64_t> wanted = slot_bytes();
  if (wanted.empty() || (wanted == slots_ && most_transfers() <= capacity_)) return 0;
  return exec::SwapLayout(wanted, kSwapPage).file_bytes;
}

// A larger file takes over the contents of the old one.
void Runner::fit_swap_file() {
  if (missing_file_bytes() == 0) return;
  const std::vector<int64_t> wanted = slot_bytes();
  const int capacity = most_transfers();
  // Staging is the buffers plus alignment.
  exec::SwapOptions options =
      swap_options(staging_bytes() / kStagingBuffers / kSwapPage * kSwapPage);
  options.capacity = capacity;
  // Both files exist for a while, but they share staging of the same size.
  if (swap_ != nullptr && swap_->staging()->bytes() == exec::SwapFile::staging_bytes(options)) {
    options.staging = swap_->staging();
  }
  auto file = std::make_unique<exec::SwapFile>(swap_dir_, wanted, options);
  if (swap_ != nullptr) copy_to(*file);
  // Nothing below can fail.
  for (auto& [key, runnable] : runnables_) runnable.session.reset();
  before_ = swap_counters();
  swap_ = std::move(file);
  slots_ = wanted;
  capacity_ = capacity;
  store_->attach(swap_.get(), arena());
}

// Between two steps the arena is unused, so all contents of the file pass through it.
void Runner::copy_to(exec::SwapFile& file) {
  try {
    for (const exec::Store::Entry& entry : store_->entries()) {
      if (entry.slot < 0) continue;
      store_->attach(swap_.get(), arena());
      static_cast<void>(store_->read(entry));
      store_->attach(&file, arena());
      store_->overwrite(entry, [](std::span<std::byte>) {});  // the bounce buffer holds them
    }
  } catch (...) {
    store_->attach(swap_.get(), arena());
    throw;
  }
}

exec::SwapCounters Runner::swap_counters() const {
  return swap_ == nullptr ? before_ : before_ + swap_->counters();
}

// The arena of the largest program.
int64_t Runner::arena_bytes() const {
  int64_t bytes = 0;
  for (const auto& [key, runnable] : runnables_) {
    bytes = std::max(bytes, runnable.program->plan().arena_bytes);
  }
  return bytes;
}

void Runner::unbind() {
  is_bound_ = false;
  for (auto& [key, runnable] : runnables_) runnable.session.reset();
  store_->attach(swap_.get(), {});
  arena_ = {};
  exec::trim_heap();
}

void Runner::bind() {
  const int64_t bytes = arena_bytes();
  if (bytes > arena_.bytes()) {
    // Frees the old arena first, so that the two never exist side by side.
    unbind();
    arena_ = exec::Block(bytes);
  }
  store_->attach(swap_.get(), arena());
  fit_swap_file();
  for (auto& [key, runnable] : runnables_) {
    if (runnable.session) continue;
    runnable.session = std::make_unique<exec::Session>(runnable.program->data(), *store_, arena(),
                                                       pool_, swap_.get());
  }
  is_bound_ = true;
}

void Runner::rebind() {
  for (auto& [key, runnable] : runnables_) runnable.session.reset();
  bind();
}

void Runner::require_bound() {
  if (store_ != nullptr && !is_bound_) bind();
}

exec::Store& Runner::store() {
  require_bound();
  return *store_;
}

Runnable* Runner::find(const ProgramKey& key) {
  const auto found = runnables_.find(key);
  if (found == runnables_.end()) return nullptr;
  require_bound();
  return &found->second;
}

Runnable& Runner::extend(const ProgramKey& key, ir::Graph graph, const plan::Budget& budget,
                         const std::function<void()>& refuse) {
  // Between two steps the arena holds nothing, so its memory can be used for compiling.
  unbind();
  try {
    add(key, std::move(graph), budget);
    if (refuse) refuse();
    bind();
  } catch (...) {
    runnables_.erase(key);
    unbind();
    try {
      bind();
    } catch (...) {
      // The first error is reported; the next call that needs the memory reports this one.
    }
    throw;
  }
  return runnables_.at(key);
}

namespace {

// Sums up the bytes of constants and of weights that are kept in another form. Shared ones count
// once.
class Constants {
 public:
  int64_t bytes = 0;
  int64_t padding = 0;

  void add(const program::Program& program) {
    for (const program::Tensor& tensor : program.tensors) {
      if (tensor.place != program::Place::constant) continue;
      const std::byte* const contents = program.constants[static_cast<size_t>(tensor.at)].get();
      if (!seen_.insert(contents).second) continue;
      bytes += tensor.bytes();
      padding += plan::aligned(tensor.bytes()) - tensor.bytes();
    }
    for (const program::PreparedCall& call : program.prepared) {
      bytes += plan::aligned(call.weights.bytes);
    }
  }

 private:
  std::set<const std::byte*> seen_;
};

}  // namespace

int64_t Runner::constant_bytes() const {
  Constants all;
  for (const auto& [key, runnable] : runnables_) all.add(runnable.program->data());
  return all.bytes + all.padding;
}

int64_t Runner::small_constant_bytes(const ProgramKey& key) const {
  int64_t bytes = 0;
  for (const program::Tensor& tensor : runnables_.at(key).program->data().tensors) {
    const bool is_constant = tensor.place == program::Place::constant;
    if (is_constant && tensor.bytes() <= plan::kAlignment) bytes += plan::kAlignment;
  }
  return bytes;
}

Plan Runner::plan(const ProgramKey& key) const {
  Plan plan = runnables_.at(key).program->plan();
  const int64_t bytes = std::max(arena_bytes(), arena_.bytes());
  int64_t beside = bytes - plan.arena_bytes + staging_bytes() - plan.staging_bytes;
  plan.arena_bytes = bytes;
  plan.staging_bytes = staging_bytes();
  Constants all;
  for (const auto& [other, runnable] : runnables_) all.add(runnable.program->data());
  beside += all.bytes - plan.constant_bytes + all.padding - plan.constant_padding_bytes;
  plan.padding_bytes += all.padding - plan.constant_padding_bytes;
  plan.constant_bytes = all.bytes;
  plan.constant_padding_bytes = all.padding;
  plan.swap_file_bytes = exec::SwapLayout(slot_bytes(), kSwapPage).file_bytes;
  plan.planned_peak_bytes += beside;
  plan.lower_bound_bytes += beside;
  return plan;
}

}  // namespace thimble::train
