// Times forward and backward of the ops and functions in ops.json by their definitions, and prints
// one JSON object with microseconds: {"name": {"forward": 1.5, "backward": 2.5}, ...}. Each is the
// fastest of many runs, because other work on the machine only makes them slower. Usage:
// layers_bench [name]     Environment: THIMBLE_BENCH_THREADS (1).
#include <thimble/error.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "autodiff/autodiff.h"
#include "exec/memory.h"
#include "io/json/attrs.h"
#include "ir/graph.h"
#include "ops/functions.h"
#include "parallel/thread_pool.h"
#include "plan/arena.h"

namespace {

using namespace thimble;
using nlohmann::json;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

DType dtype_of(const json& spec) {
  const std::string name = spec.value("dtype", "f32");
  return name == "i32" ? DType::i32 : name == "u8" ? DType::u8 : DType::f32;
}

// Uniform numbers of [low, high), or integers of [low, high].
void fill(std::byte* to, const ir::TensorType& type, double low, double high) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> real(low, high);
  std::uniform_int_distribution<int> whole(static_cast<int>(low), static_cast<int>(high));
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    if (type.dtype == DType::u8) {
      to[i] = static_cast<std::byte>(whole(random));
      continue;
    }
    const float number = static_cast<float>(real(random));
    const int32_t integer = whole(random);
    const void* from = type.dtype == DType::f32 ? static_cast<const void*>(&number) : &integer;
    std::memcpy(to + 4 * i, from, 4);
  }
}

// The call of a node's kernel, with all that it points to.
class Call {
 public:
  Call(const ir::Graph& graph, const ir::Node& node, const std::vector<void*>& values,
       parallel::ThreadPool& pool)
      : node_(node),
        pool_(pool),
        inputs_(std::max(node.inputs.size(), node.op->signature.inputs.size()), nullptr),
        params_(plan::kernel_params(graph, node)),
        workspace_(ir::kernels_of(graph, node).workspace(params_, pool.threads(), true)),
        kernel_(ir::kernels_of(graph, node).kernel(true)) {
    for (int id : node.outputs) outputs_.push_back(values[static_cast<size_t>(id)]);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] >= 0) inputs_[i] = values[static_cast<size_t>(node.inputs[i])];
    }
  }
  void run() const {
    kernel_({const_cast<void**>(outputs_.data()), const_cast<const void**>(inputs_.data()),
             workspace_.data(), params_.bytes().data(), static_cast<int>(node_.inputs.size()),
             static_cast<int>(node_.outputs.size()), &pool_});
  }

 private:
  const ir::Node& node_;
  parallel::ThreadPool& pool_;
  std::vector<void*> outputs_;
  std::vector<const void*> inputs_;
  ir::Params params_;
  exec::Block workspace_;
  ir::KernelFn kernel_;
};

// The fastest of many runs of all calls, in microseconds.
double time_calls(const std::vector<Call>& calls) {
  constexpr double kSeconds = 0.5;
  double best = 1e9;
  const double begin = seconds();
  for (int run = 0; run < 5 || seconds() - begin < kSeconds; ++run) {
    const double start = seconds();
    for (const Call& call : calls) call.run();
    best = std::min(best, seconds() - start);
  }
  return best * 1e6;
}

// Which nodes these values need.
std::vector<char> needed_nodes(const ir::Graph& graph, const std::vector<int>& results) {
  std::vector<char> values(graph.values.size(), 0);
  std::vector<char> nodes(graph.nodes.size(), 0);
  for (const int id : results) values[static_cast<size_t>(id)] = 1;
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    for (const int id : graph.nodes[n].outputs) {
      if (values[static_cast<size_t>(id)] != 0) nodes[n] = 1;
    }
    if (nodes[n] == 0) continue;
    for (const int id : graph.nodes[n].inputs) {
      if (id >= 0) values[static_cast<size_t>(id)] = 1;
    }
  }
  return nodes;
}

Value result_of(ir::Graph& graph, const json& layer, const std::vector<Value>& inputs) {
  const json attrs = layer.value("attrs", json::object());
  if (layer.contains("function")) {
    return bench::call_function(layer.at("function").get<std::string>(), attrs, inputs);
  }
  const ir::OpDef* op = ir::find_op(layer.at("op").get<std::string>());
  if (op == nullptr) throw Error("layers_bench", "no such op");
  return graph.add(*op, io::attrs_from_json(op->signature.attrs, attrs, op->name), inputs)[0];
}

bool is_view(const ir::Node& node) { return !node.op->memory.views.empty(); }

// Memory of all values of a graph; a view has the memory of what it shows. Sources are filled, the
// first ones as the layer's inputs say.
std::vector<void*> allocate(const ir::Graph& graph, const json& inputs,
                            std::vector<exec::Block>& blocks) {
  std::vector<void*> values;
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const ir::TensorType& type = graph.values[id].type;
    const int producer = graph.values[id].producer;
    if (producer >= 0 && is_view(graph.nodes[static_cast<size_t>(producer)])) {
      const int shown = graph.nodes[static_cast<size_t>(producer)].inputs[0];
      values.push_back(values[static_cast<size_t>(shown)]);
      continue;
    }
    blocks.emplace_back(plan::aligned(size_bytes(type.dtype, type.shape)));
    values.push_back(blocks.back().data());
    if (producer >= 0) continue;
    const json spec = id < inputs.size() ? json(inputs[id]) : json(json::value_t::object);
    fill(blocks.back().data(), type, spec.value("low", -1.0), spec.value("high", 1.0));
  }
  return values;
}

json time_op(const json& layer, parallel::ThreadPool& pool) {
  ir::Graph graph;
  std::vector<Value> inputs;
  std::vector<int> wanted;
  for (const json& spec : layer.at("inputs")) {
    const Shape shape(spec.at("shape").get<std::vector<int64_t>>());
    inputs.push_back(graph.source("input_" + std::to_string(inputs.size()), {dtype_of(spec), shape},
                                  ir::Role::input));
    if (dtype_of(spec) == DType::f32) wanted.push_back(inputs.back().id());
  }
  const Value y = result_of(graph, layer, inputs);
  const size_t forward_nodes = graph.nodes.size();
  std::vector<int> results = {y.id()};
  if (graph.nodes[forward_nodes - 1].op->gradient.vjp != nullptr) {
    const Value dy = graph.source("dy", {DType::f32, y.shape()}, ir::Role::input);
    const autodiff::Cotangent seed{y, dy};
    for (const auto& gradient : autodiff::append_gradients(graph, {&seed, 1}, wanted)) {
      if (gradient.gradient >= 0) results.push_back(gradient.gradient);
    }
  }
  std::vector<exec::Block> blocks;
  const std::vector<void*> values = allocate(graph, layer.at("inputs"), blocks);
  const std::vector<char> needed = needed_nodes(graph, results);
  std::vector<Call> forward;
  std::vector<Call> backward;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (needed[n] == 0 || is_view(graph.nodes[n])) continue;
    (n < forward_nodes ? forward : backward).emplace_back(graph, graph.nodes[n], values, pool);
  }
  json times = {{"forward", time_calls(forward)}};
  if (!backward.empty()) times["backward"] = time_calls(backward);
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const threads = std::getenv("THIMBLE_BENCH_THREADS");
  parallel::ThreadPool pool(threads != nullptr ? std::atoi(threads) : 1);
  json times = json::object();
  try {
    const json layers = json::parse(std::ifstream(THIMBLE_BENCH_DIR "/ops/ops.json"));
    for (const json& layer : layers) {
      const std::string name = layer.at("name");
      if (argc < 2 || name == argv[1]) times[name] = time_op(layer, pool);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::printf("%s\n", times.dump(2).c_str());
  return 0;
}
