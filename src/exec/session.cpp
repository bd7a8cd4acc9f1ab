#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "exec/program.h"
#include "exec/swap_file.h"
#include "ir/element.h"
#include "ir/tiling.h"
#include "plan/transfer_ops.h"

namespace thimble::exec {

Session::Session(const Program& program, const Store& store, std::span<std::byte> arena,
                 parallel::ThreadPool& pool, SwapFile* swap)
    : program_(program), swap_(swap) {
  const ir::Graph& graph = program.graph();
  const Plan& plan = program.plan();
  if (static_cast<int64_t>(arena.size()) < plan.arena_bytes) {
    throw Error("session", fmt::format("the arena has {} bytes, the plan needs {}", arena.size(),
                                       plan.arena_bytes));
  }
  value_data_.assign(graph.values.size(), nullptr);
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const ir::ValueData& data = graph.values[id];
    if (data.role == ir::Role::constant) {
      // Kernels only read it: the verifier lets no op update a constant.
      value_data_[id] = const_cast<std::byte*>(program.constant(static_cast<int>(id)));
    } else if (ir::is_persistent(data.role)) {
      const Store::Entry* entry = store.find(data.name);
      if (entry == nullptr) throw Error("session", "nothing stored under " + data.name);
      value_data_[id] = entry->data;
    } else if (const int buffer = program.arena().buffer_of_value[id]; buffer >= 0) {
      value_data_[id] = arena.data() + plan.buffers[static_cast<size_t>(buffer)].offset;
    }
  }
  // Calls point into pointers_, so it must not be reallocated once they are made.
  size_t pointers = 0;
  for (const ir::Node& node : graph.nodes) {
    pointers += node.outputs.size() + node.inputs.size() + node.op->signature.inputs.size();
    if (node.tiled) pointers += node.tiled->op->signature.inputs.size();
  }
  pointers_.reserve(pointers);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    const size_t declared = node.op->signature.inputs.size();
    const size_t outputs = pointers_.size();
    for (int id : node.outputs) pointers_.push_back(value_data_[static_cast<size_t>(id)]);
    const size_t inputs = pointers_.size();
    const auto read = node.tiled ? std::span(node.inputs).first(declared) : std::span(node.inputs);
    add_inputs(read, declared);
    const int workspace = program.arena().workspace_of_node[n];
    Call call;
    call.kernel = ir::kernels_of(graph, node).kernel(program.options().fast);
    call.call.outputs = pointers_.data() + outputs;
    call.call.inputs = pointers_.data() + inputs;
    call.call.workspace = workspace < 0
                              ? nullptr
                              : arena.data() + plan.buffers[static_cast<size_t>(workspace)].offset;
    call.call.params = program.params(n).bytes().data();
    call.call.input_count = static_cast<int>(read.size());
    call.call.output_count = static_cast<int>(node.outputs.size());
    call.call.pool = &pool;
    call.call.swap = swap;
    call.waits = plan::waits_for_swap(*node.op);
    call.tiled = -1;
    if (const plan::TiledLoop* const loop = program.tiled_loop(n)) {
      TiledCall::prepare();
      call.tiled = static_cast<int>(tiled_.size());
      const std::span<const int> gradient = ir::gradient_inputs(node);
      tiled_.push_back({loop, node.tiled->op, node.op, call.call,
                        pointers_.data() + pointers_.size(), static_cast<int>(gradient.size())});
      add_inputs(gradient, node.tiled->op->signature.inputs.size());
    }
    calls_.push_back(call);
  }
  if (graph.loss) loss_node_ = graph.data(*graph.loss).producer;
}

void Session::add_inputs(std::span<const int> ids, size_t declared) {
  for (const int id : ids) {
    pointers_.push_back(id < 0 ? nullptr : value_data_[static_cast<size_t>(id)]);
  }
  for (size_t i = ids.size(); i < declared; ++i) pointers_.push_back(nullptr);
}

void Session::run_call(const Call& call) {
  if (call.tiled < 0) return call.kernel(call.call);
  tiled_[static_cast<size_t>(call.tiled)].run();
}

std::span<std::byte> Session::contents(int id) const {
  const ir::TensorType& type = program_.graph().type(id);
  std::byte* data = value_data_[static_cast<size_t>(id)];
  if (data == nullptr) return {};
  return {data, static_cast<size_t>(size_bytes(type.dtype, type.shape))};
}

std::span<std::byte> Session::source(const std::string& name) const {
  const auto& values = program_.graph().values;
  for (size_t id = 0; id < values.size(); ++id) {
    if (values[id].producer < 0 && values[id].name == name) return contents(static_cast<int>(id));
  }
  return {};
}

std::span<const std::byte> Session::loss() const {
  const auto& loss = program_.graph().loss;
  return loss ? contents(*loss) : std::span<std::byte>();
}

std::span<const std::byte> Session::output(const std::string& name) const {
  for (const auto& [known, id] : program_.graph().outputs) {
    if (known == name) return contents(id);
  }
  return {};
}

std::span<const std::byte> Session::metric(const std::string& name) const {
  for (const auto& [known, id] : program_.graph().metrics) {
    if (known == name) return contents(id);
  }
  return {};
}

bool Session::run() {
  const int count = static_cast<int>(calls_.size());
  for (int n = 0; n < count; ++n) {
    const Call& call = calls_[static_cast<size_t>(n)];
    run_call(call);
    if (call.waits && !swap_->error().empty()) return false;
    if (n == loss_node_ && !is_finite(*program_.graph().loss)) return stop_early();
  }
  return true;
}

// Transfers in progress must not touch the memory of whatever runs next.
bool Session::stop_early() {
  const auto slots = static_cast<int>(program_.slot_bytes().size());
  for (int slot = 0; slot < slots; ++slot) static_cast<void>(swap_->wait(slot));
  return false;
}

// Ops may run longer on invalid indices.
void Session::clear_sources() {
  const ir::Graph& graph = program_.graph();
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const ir::ValueData& data = graph.values[id];
    if (data.producer >= 0 || data.role == ir::Role::constant || ir::is_persistent(data.role)) {
      continue;
    }
    const std::span<std::byte> bytes = contents(static_cast<int>(id));
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
  }
}

std::vector<double> Session::measure() {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times(calls_.size(), 0.0);
  clear_sources();
  for (size_t n = 0; n < calls_.size(); ++n) {
    const auto start = Clock::now();
    run_call(calls_[n]);
    times[n] = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    if (calls_[n].waits && !swap_->error().empty()) break;
  }
  return times;
}

bool Session::is_finite(int id) const {
  const ir::TensorType& type = program_.graph().type(id);
  if (!is_floating(type.dtype)) return true;
  const std::span<std::byte> bytes = contents(id);
  if (type.dtype != DType::f32) {
    const int64_t elements = bytes.empty() ? 0 : type.shape.elements();
    for (int64_t i = 0; i < elements; ++i) {
      if (!std::isfinite(element_load_real(bytes.data(), static_cast<int>(type.dtype), i))) {
        return false;
      }
    }
    return true;
  }
  for (size_t at = 0; at < bytes.size(); at += sizeof(float)) {
    float value = 0.0F;
    std::memcpy(&value, bytes.data() + at, sizeof(float));
    if (!std::isfinite(value)) return false;
  }
  return true;
}

std::string Session::first_non_finite() {
  std::string name = forward_non_finite();
  static_cast<void>(stop_early());
  return name;
}

std::string Session::forward_non_finite() {
  const ir::Graph& graph = program_.graph();
  const auto described = [&graph](int id) {
    const ir::ValueData& data = graph.data(id);
    return fmt::format("{} {}", ir::to_string(data.role), ir::label(data));
  };
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const int number = static_cast<int>(id);
    if (graph.values[id].producer < 0 && !is_finite(number)) return described(number);
  }
  for (size_t n = 0; n < calls_.size(); ++n) {
    run_call(calls_[n]);
    if (calls_[n].waits && !swap_->error().empty()) return "";
    // Memory that a transfer is still writing must not be read.
    if (plan::is_transfer(*graph.nodes[n].op) && !calls_[n].waits) continue;
    for (int id : graph.nodes[n].outputs) {
      if (!is_finite(id)) return described(id);
    }
    if (static_cast<int>(n) == loss_node_) break;
  }
  return "";
}

}  // namespace thimble::exec
