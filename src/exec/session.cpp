#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "exec/finite.h"
#include "exec/mapped.h"
#include "exec/program.h"
#include "exec/swap_file.h"
#include "plan/transfer_ops.h"

namespace thimble::exec {

Session::Session(const program::Program& program, const Store& store, std::span<std::byte> arena,
                 parallel::ThreadPool& pool, SwapFile* swap)
    : program_(program), swap_(swap) {
  if (static_cast<int64_t>(arena.size()) < program.arena_bytes) {
    throw Error("session", fmt::format("the arena has {} bytes, the plan needs {}", arena.size(),
                                       program.arena_bytes));
  }
  place(store, arena);
  // Calls hold pointers into pointers_: it must not grow once they are made.
  size_t pointers = 0;
  for (const program::Call& call : program.calls) {
    pointers += call.outputs.size() + call.inputs.size() + call.op->signature.inputs.size();
    if (call.tiled) pointers += call.tiled->op->signature.inputs.size();
  }
  for (const program::PreparedCall& prepared : program.prepared) {
    pointers += 1 + program.calls[static_cast<size_t>(prepared.call)].op->signature.inputs.size();
  }
  pointers_.reserve(pointers);
  calls_.reserve(program.calls.size());
  for (const program::Call& call : program.calls) add_call(call, arena, pool);
  if (!program.prepared.empty()) add_prepared(store);
  if (program.loss) loss_call_ = call_that_writes(*program.loss);
}

void Session::place(const Store& store, std::span<std::byte> arena) {
  data_.assign(program_.tensors.size(), nullptr);
  for (size_t id = 0; id < data_.size(); ++id) {
    const program::Tensor& tensor = program_.tensors[id];
    const auto at = static_cast<size_t>(tensor.at);
    switch (tensor.place) {
      case program::Place::nowhere:
        break;
      case program::Place::arena:
        data_[id] = arena.data() + at;
        break;
      case program::Place::stored: {
        const Store::Entry* entry = store.find(tensor.name);
        if (entry == nullptr) throw Error("session", "nothing stored under " + tensor.name);
        data_[id] = entry->data;
        if (entry->is_mapped()) in_file_.push_back(static_cast<int>(id));
        break;
      }
      case program::Place::constant:
        // Kernels read it and nothing else: the verifier lets no op update a constant.
        data_[id] = const_cast<std::byte*>(program_.constants[at].get());
        break;
    }
  }
}

void Session::add_call(const program::Call& from, std::span<std::byte> arena,
                       parallel::ThreadPool& pool) {
  const size_t declared = from.op->signature.inputs.size();
  const size_t outputs = pointers_.size();
  for (const int id : from.outputs) pointers_.push_back(data_[static_cast<size_t>(id)]);
  const size_t inputs = pointers_.size();
  add_inputs(from.own_inputs(), declared);
  Call call;
  call.kernel = &from.kernel;
  call.call.outputs = pointers_.data() + outputs;
  call.call.inputs = pointers_.data() + inputs;
  call.call.workspace = from.workspace < 0 ? nullptr : arena.data() + from.workspace;
  call.call.params = from.params.bytes().data();
  call.call.input_count = static_cast<int>(from.own_inputs().size());
  call.call.output_count = static_cast<int>(from.outputs.size());
  call.call.pool = &pool;
  call.call.swap = swap_;
  call.waits = plan::waits_for_swap(*from.op);
  call.tiled = -1;
  call.reads_file = std::any_of(from.inputs.begin(), from.inputs.end(),
                                [this](int id) { return is_in_file(id); });
  if (from.tiled) {
    TiledCall::prepare();
    call.tiled = static_cast<int>(tiled_.size());
    const std::span<const int> gradient = from.gradient_inputs();
    tiled_.push_back({&from.tiled->loop, from.tiled->op, from.op, from.tiled->kernel, from.kernel,
                      call.call, pointers_.data() + pointers_.size(),
                      static_cast<int>(gradient.size())});
    add_inputs(gradient, from.tiled->op->signature.inputs.size());
  }
  calls_.push_back(call);
}

void Session::add_prepared(const Store& store) {
  int64_t bytes = 0;
  for (const program::PreparedCall& prepared : program_.prepared)
    bytes += plan::aligned(prepared.weights.bytes);
  prepared_ = std::make_unique<Prepared>(Prepared{store, Block(bytes), {}});
  std::byte* form = prepared_->forms.data();
  for (const program::PreparedCall& prepared : program_.prepared) {
    add_prepare(prepared, form);
    form += plan::aligned(prepared.weights.bytes);
  }
}

// The inputs stay those of the op in a copy, and the call gets the form in the place of one.
void Session::add_prepare(const program::PreparedCall& from, std::byte* form) {
  const ir::PreparedWeights& rule = *from.weights.rule;
  Call& call = calls_[static_cast<size_t>(from.call)];
  const void* const* const all = pointers_.data();
  const auto inputs = static_cast<size_t>(call.call.inputs - all);
  Prepare prepare{&rule, call.call};
  prepare.call.outputs = pointers_.data() + pointers_.size();
  pointers_.push_back(form);
  prepare.call.inputs = pointers_.data() + pointers_.size();
  const size_t declared =
      program_.calls[static_cast<size_t>(from.call)].op->signature.inputs.size();
  for (size_t i = 0; i < declared; ++i) pointers_.push_back(pointers_[inputs + i]);
  prepared_->calls.push_back(prepare);
  pointers_[inputs + static_cast<size_t>(rule.inputs[0])] = form;
  call.kernel = &rule.kernel;
}

void Session::prepare() {
  if (!prepared_ || prepared_->version == prepared_->store.version()) return;
  for (const Prepare& prepare : prepared_->calls) prepare.rule->prepare(prepare.call);
  prepared_->version = prepared_->store.version();
}

int Session::call_that_writes(int id) const {
  for (size_t n = 0; n < program_.calls.size(); ++n) {
    const std::vector<int>& outputs = program_.calls[n].outputs;
    if (std::find(outputs.begin(), outputs.end(), id) != outputs.end()) return static_cast<int>(n);
  }
  return -1;
}

void Session::add_inputs(std::span<const int> ids, size_t declared) {
  for (const int id : ids) {
    pointers_.push_back(id < 0 ? nullptr : data_[static_cast<size_t>(id)]);
  }
  for (size_t i = ids.size(); i < declared; ++i) pointers_.push_back(nullptr);
}

void Session::run_call(const Call& call) {
  if (call.tiled >= 0) return tiled_[static_cast<size_t>(call.tiled)].run();
  (*call.kernel)(call.call);
  if (!call.reads_file) return;
  for (const int id : program_.calls[static_cast<size_t>(&call - calls_.data())].inputs) {
    if (is_in_file(id)) drop_pages(contents(id));
  }
}

bool Session::is_in_file(int id) const {
  return std::binary_search(in_file_.begin(), in_file_.end(), id);
}

std::span<std::byte> Session::contents(int id) const {
  std::byte* const data = data_[static_cast<size_t>(id)];
  if (data == nullptr) return {};
  return {data, static_cast<size_t>(program_.tensor(id).bytes())};
}

std::span<std::byte> Session::source(const std::string& name) const {
  const auto& tensors = program_.tensors;
  for (size_t id = 0; id < tensors.size(); ++id) {
    if (tensors[id].is_source && tensors[id].name == name) return contents(static_cast<int>(id));
  }
  return {};
}

std::span<const std::byte> Session::loss() const {
  return program_.loss ? contents(*program_.loss) : std::span<std::byte>();
}

std::span<const std::byte> Session::output(const std::string& name) const {
  for (const auto& [known, id] : program_.outputs) {
    if (known == name) return contents(id);
  }
  return {};
}

std::span<const std::byte> Session::metric(const std::string& name) const {
  for (const auto& [known, id] : program_.metrics) {
    if (known == name) return contents(id);
  }
  return {};
}

bool Session::run() {
  prepare();
  const int count = static_cast<int>(calls_.size());
  for (int n = 0; n < count; ++n) {
    const Call& call = calls_[static_cast<size_t>(n)];
    run_call(call);
    if (call.waits && !swap_->error().empty()) return false;
    if (n == loss_call_ && !is_finite(*program_.loss)) return stop_early();
  }
  return true;
}

// Transfers in progress must not touch the memory of whatever runs next.
bool Session::stop_early() {
  const auto slots = static_cast<int>(program_.slot_bytes.size());
  for (int slot = 0; slot < slots; ++slot) static_cast<void>(swap_->wait(slot));
  return false;
}

// Ops may run longer on invalid indices.
void Session::clear_sources() {
  for (size_t id = 0; id < data_.size(); ++id) {
    const program::Tensor& tensor = program_.tensors[id];
    if (!tensor.is_source || tensor.place != program::Place::arena) continue;
    const std::span<std::byte> bytes = contents(static_cast<int>(id));
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
  }
}

std::vector<double> Session::measure() {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times(calls_.size(), 0.0);
  clear_sources();
  prepare();
  for (size_t n = 0; n < calls_.size(); ++n) {
    const auto start = Clock::now();
    run_call(calls_[n]);
    times[n] = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    if (calls_[n].waits && !swap_->error().empty()) break;
  }
  return times;
}

bool Session::is_finite(int id) const {
  return exec::is_finite(program_.tensor(id).type, contents(id));
}

std::string Session::first_non_finite() {
  std::string name = forward_non_finite();
  static_cast<void>(stop_early());
  return name;
}

std::string Session::forward_non_finite() {
  for (size_t id = 0; id < program_.tensors.size(); ++id) {
    const program::Tensor& tensor = program_.tensors[id];
    if (tensor.is_source && !is_finite(static_cast<int>(id))) return program::described(tensor);
  }
  prepare();
  for (size_t n = 0; n < calls_.size(); ++n) {
    run_call(calls_[n]);
    if (calls_[n].waits && !swap_->error().empty()) return "";
    // Memory that a transfer is still writing must not be read.
    if (plan::is_transfer(*program_.calls[n].op) && !calls_[n].waits) continue;
    for (const int id : program_.calls[n].outputs) {
      if (!is_finite(id)) return program::described(program_.tensor(id));
    }
    if (static_cast<int>(n) == loss_call_) break;
  }
  return "";
}

}  // namespace thimble::exec
