// Times forward and backward of the ops in ops.json by their definitions, and prints one JSON
// object with microseconds: {"name": {"forward": 1.5, "backward": 2.5}, ...}. Each is the fastest
// of many runs, because other work on the machine only makes them slower. Usage: layers_bench
// [name]     Environment: THIMBLE_BENCH_THREADS (1).
#include <thimble/error.h>

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

// The fastest of many runs of one node, in microseconds.
double time_node(const ir::Graph& graph, const ir::Node& node, std::vector<exec::Block>& values,
                 parallel::ThreadPool& pool) {
  constexpr double kSeconds = 0.5;
  std::vector<void*> outputs;
  std::vector<const void*> inputs(std::max(node.inputs.size(), node.op->signature.inputs.size()),
                                  nullptr);
  for (int id : node.outputs) outputs.push_back(values[static_cast<size_t>(id)].data());
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] >= 0) inputs[i] = values[static_cast<size_t>(node.inputs[i])].data();
  }
  const ir::Params params = plan::kernel_params(graph, node);
  const ir::ChosenKernels kernels = ir::kernels_of(graph, node);
  const exec::Block workspace(kernels.workspace(params, pool.threads(), true));
  const ir::KernelFn kernel = ir::kernels_of(graph, node).kernel(true);
  double best = 1e9;
  const double begin = seconds();
  for (int run = 0; run < 5 || seconds() - begin < kSeconds; ++run) {
    const double start = seconds();
    kernel({outputs.data(), inputs.data(), workspace.data(), params.bytes().data(),
            static_cast<int>(node.inputs.size()), static_cast<int>(node.outputs.size()), &pool});
    best = std::min(best, seconds() - start);
  }
  return best * 1e6;
}

json time_op(const json& layer, parallel::ThreadPool& pool) {
  const ir::OpDef* op = ir::find_op(layer.at("op").get<std::string>());
  if (op == nullptr) throw Error("layers_bench", "no such op");
  ir::Graph graph;
  std::vector<Value> inputs;
  std::vector<int> wanted;
  for (const json& spec : layer.at("inputs")) {
    const Shape shape(spec.at("shape").get<std::vector<int64_t>>());
    inputs.push_back(graph.source("input_" + std::to_string(inputs.size()), {dtype_of(spec), shape},
                                  ir::Role::input));
    if (dtype_of(spec) == DType::f32) wanted.push_back(inputs.back().id());
  }
  const json attrs = layer.value("attrs", json::object());
  const Value y =
      graph.add(*op, io::attrs_from_json(op->signature.attrs, attrs, op->name), inputs)[0];
  if (op->gradient.vjp != nullptr) {
    const Value dy = graph.source("dy", {DType::f32, y.shape()}, ir::Role::input);
    const autodiff::Cotangent seed{y, dy};
    autodiff::append_gradients(graph, {&seed, 1}, wanted);
  }
  std::vector<exec::Block> values;
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const ir::TensorType& type = graph.values[id].type;
    values.emplace_back(plan::aligned(size_bytes(type.dtype, type.shape)));
    const json spec =
        id < inputs.size() ? json(layer.at("inputs")[id]) : json(json::value_t::object);
    if (graph.values[id].producer < 0) {
      fill(values.back().data(), type, spec.value("low", -1.0), spec.value("high", 1.0));
    }
  }
  json times = {{"forward", time_node(graph, graph.nodes[0], values, pool)}};
  double backward = 0.0;
  for (size_t n = 1; n < graph.nodes.size(); ++n) {
    backward += time_node(graph, graph.nodes[n], values, pool);
  }
  if (graph.nodes.size() > 1) times["backward"] = backward;
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
