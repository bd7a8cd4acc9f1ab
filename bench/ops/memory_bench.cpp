// Times every kernel of the ops whose cost is memory traffic, forward and backward, and counts the
// bytes of inputs and outputs. Compare with the line "copy", which only copies the same number of
// bytes. Environment: THIMBLE_BENCH_THREADS (1).
#include <benchmark/benchmark.h>
#include <thimble/ops.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "autodiff/autodiff.h"
#include "exec/memory.h"
#include "ir/graph.h"
#include "parallel/thread_pool.h"
#include "plan/arena.h"

namespace {

using namespace thimble;

parallel::ThreadPool& pool() {
  static const char* const threads = std::getenv("THIMBLE_BENCH_THREADS");
  static parallel::ThreadPool the_pool(threads ? std::atoi(threads) : 1);
  return the_pool;
}

// The contents of one value. Integers are class indices below 10, floats lie in [0, 1).
exec::Block contents(const ir::TensorType& type) {
  const int64_t bytes = size_bytes(type.dtype, type.shape);
  exec::Block block(plan::aligned(bytes));
  std::mt19937 random(1);
  for (int64_t at = 0; at + 4 <= bytes; at += 4) {
    const uint32_t word = random();
    const float number = static_cast<float>(word >> 8U) * 0x1p-24F;
    const int32_t index = static_cast<int32_t>(word % 10);
    std::memcpy(block.data() + at,
                type.dtype == DType::f32 ? static_cast<const void*>(&number)
                                         : static_cast<const void*>(&index),
                4);
  }
  return block;
}

void run_node(benchmark::State& state, const ir::Graph& graph, const ir::Node& node) {
  std::vector<exec::Block> blocks;
  std::vector<const void*> sources;
  std::vector<void*> destinations;
  int64_t bytes = 0;
  const auto add = [&](int id) {
    bytes += size_bytes(graph.type(id).dtype, graph.type(id).shape);
    blocks.push_back(contents(graph.type(id)));
    return blocks.back().data();
  };
  for (int id : node.inputs) sources.push_back(id < 0 ? nullptr : add(id));
  for (int id : node.outputs) destinations.push_back(add(id));
  sources.resize(std::max(sources.size(), node.op->signature.inputs.size()), nullptr);
  const ir::Params params = plan::kernel_params(graph, node);
  const ir::KernelFn kernel = ir::kernels_of(graph, node).kernel(true);
  const ir::ChosenKernels kernels = ir::kernels_of(graph, node);
  const exec::Block workspace(kernels.workspace(params, pool().threads(), true));
  for (auto _ : state) {
    kernel({destinations.data(), sources.data(), workspace.data(), params.bytes().data(),
            static_cast<int>(node.inputs.size()), static_cast<int>(node.outputs.size()), &pool()});
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * bytes);
  state.SetLabel(node.op->kernels.fast != nullptr ? "fast" : "reference");
}

void copy(benchmark::State& state) {
  const ir::TensorType type{DType::f32, {32, 28, 28, 32}};
  const exec::Block from = contents(type);
  const exec::Block to = contents(type);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), static_cast<size_t>(from.bytes()));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * 2 * from.bytes());
}

// Registers the values that `describe` builds from sources, and their gradients.
using Describe = std::function<std::vector<Value>(ir::Graph&)>;

void add(const std::string& name, const Describe& describe) {
  auto graph = std::make_shared<ir::Graph>();
  const std::vector<Value> results = describe(*graph);
  std::vector<int> wanted;
  for (size_t id = 0; id < graph->values.size(); ++id) {
    if (graph->values[id].role == ir::Role::parameter) wanted.push_back(static_cast<int>(id));
  }
  std::vector<autodiff::Cotangent> seeds;
  for (const Value& result : results) {
    if (result.dtype() != DType::f32 || wanted.empty()) continue;
    const Value cotangent = graph->source("dy" + std::to_string(result.id()),
                                          {DType::f32, result.shape()}, ir::Role::input);
    seeds.push_back({result, cotangent});
  }
  autodiff::append_gradients(*graph, seeds, wanted);
  for (size_t n = 0; n < graph->nodes.size(); ++n) {
    const std::string op = graph->nodes[n].op->name;
    benchmark::RegisterBenchmark(
        (name + "/" + op).c_str(),
        [graph, n](benchmark::State& s) { run_node(s, *graph, graph->nodes[n]); })
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond);
  }
}

// A source with a gradient, or an integer source.
Value source(ir::Graph& g, const char* name, const Shape& shape, DType dtype = DType::f32) {
  const ir::Role role = dtype == DType::f32 ? ir::Role::parameter : ir::Role::input;
  return g.source(name, {dtype, shape}, role);
}

// An op with one input of the given shape.
void add_of_one(const std::string& name, const Shape& shape, Value (*op)(Value)) {
  add(name, [=](ir::Graph& g) { return std::vector<Value>{op(source(g, "x", shape))}; });
}

// Losses of a prediction and a target.
void add_loss(const std::string& name, const Shape& shape, Value (*op)(Value, Value)) {
  add(name, [=](ir::Graph& g) {
    const Value target = g.source("t", {DType::f32, shape}, ir::Role::input);
    return std::vector<Value>{op(source(g, "x", shape), target)};
  });
}

void add_movements(const Shape& images) {
  add_of_one("channels_first", images, [](Value x) { return transpose(x, {0, 3, 1, 2}); });
  add_of_one("heads", {32, 64, 8, 32}, [](Value x) { return transpose(x, {0, 2, 1, 3}); });
  add_of_one("matrix", {896, 896}, [](Value x) { return transpose(x); });
  add("channels", [=](ir::Graph& g) {
    const Value x = source(g, "x", images);
    return std::vector<Value>{concat({x, source(g, "y", images)}, {.axis = -1})};
  });
  add("rows", [=](ir::Graph& g) {
    const Value x = source(g, "x", images);
    return std::vector<Value>{concat({x, source(g, "y", images)}, {.axis = 0})};
  });
  add("channels", [=](ir::Graph& g) { return split(source(g, "x", images), 2, -1); });
  add_of_one("border", images, [](Value x) {
    return pad(x, {.before = {0, 1, 1, 0}, .after = {0, 1, 1, 0}});
  });
  add_of_one("center", images, [](Value x) {
    return slice(x, {.axes = {1, 2}, .starts = {2, 2}, .stops = {-2, -2}});
  });
  add_of_one("every_second_channel", images, [](Value x) { return slice(x, -1, 0, kEnd, 2); });
  add_of_one("images", {32, 1, 1, 32}, [](Value x) { return broadcast_to(x, {32, 28, 28, 32}); });
}

void add_reductions(const Shape& images, const Shape& rows) {
  add_of_one("all", images, [](Value x) { return sum(x); });
  add_of_one("images", images, [](Value x) { return mean(x, {.axes = {1, 2}}); });
  add_of_one("channels", images, [](Value x) { return mean(x, {.axes = {-1}}); });
  add_of_one("images", images, [](Value x) { return max(x, {.axes = {1, 2}}); });
  add_of_one("classes", rows, [](Value x) { return max(x, {.axes = {-1}}); });
  add_of_one("classes", rows, [](Value x) { return softmax(x); });
  add_of_one("ten_classes", {8192, 10}, [](Value x) { return softmax(x); });
  add_of_one("first_axis", rows, [](Value x) { return softmax(x, {.axis = 0}); });
  add_of_one("classes", rows, [](Value x) { return log_softmax(x); });
  add("classes", [=](ir::Graph& g) {
    return std::vector<Value>{argmax(g.source("x", {DType::f32, rows}, ir::Role::input))};
  });
}

void add_losses(const Shape& images, const Shape& rows) {
  add_loss("images", images, [](Value x, Value t) { return mse(x, t); });
  add_loss("images", images, [](Value x, Value t) { return mae(x, t); });
  add_loss("images", images, [](Value x, Value t) { return huber(x, t); });
  add_loss("images", images,
           [](Value x, Value t) { return binary_cross_entropy_with_logits(x, t); });
  add_loss("images", images, [](Value x, Value t) { return kl_divergence(x, t); });
  add("images", [=](ir::Graph& g) {
    return std::vector<Value>{gaussian_kl(source(g, "mean", images), source(g, "logvar", images))};
  });
  add("indices", [=](ir::Graph& g) {
    const Value labels = source(g, "t", {rows[0]}, DType::i32);
    return std::vector<Value>{softmax_cross_entropy(source(g, "x", rows), labels)};
  });
  add_loss("probabilities", rows, [](Value x, Value t) { return softmax_cross_entropy(x, t); });
  add("indices", [=](ir::Graph& g) {
    const Value x = g.source("x", {DType::f32, rows}, ir::Role::input);
    return std::vector<Value>{accuracy(x, source(g, "t", {rows[0]}, DType::i32))};
  });
}

}  // namespace

int main(int argc, char** argv) {
  const Shape images{32, 28, 28, 32};
  const Shape rows{1024, 784};
  benchmark::RegisterBenchmark("copy", copy)->UseRealTime()->Unit(benchmark::kMicrosecond);
  add_movements(images);
  add_reductions(images, rows);
  add_losses(images, rows);
  add_of_one("images", images, [](Value x) { return cast(x, DType::i32); });
  add_of_one("images", images, [](Value x) { return clip(x); });
  add_of_one("images", images, [](Value x) { return max_pool2d(x); });
  add_of_one("images", images, [](Value x) { return average_pool2d(x); });
  add_of_one("images", images, [](Value x) { return dropout(x); });
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
