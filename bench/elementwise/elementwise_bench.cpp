// Times the elementwise ops, their gradients, and sums to a broadcast operand's shape; "copy" is
// memcpy. Names: <op>/<elements>, and <op>/<how the second operand broadcasts>/<elements>.
// THIMBLE_BENCH_THREADS sets the threads (default 1).
#include <benchmark/benchmark.h>
#include <thimble/attributes.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <thimble/ops/gelu.h>
#include <thimble/ops/pow.h>
#include "exec/memory.h"
#include "ir/graph.h"
#include "ops/sum_to/attrs.h"
#include "parallel/thread_pool.h"
#include "plan/arena.h"

namespace {

using namespace thimble;

// Tensors of the smaller size fit the second-level cache, those of the larger size fit no cache.
constexpr int64_t kSizes[] = {1 << 16, 1 << 24};
constexpr int64_t kRow = 250;

parallel::ThreadPool& pool() {
  static const char* const threads = std::getenv("THIMBLE_BENCH_THREADS");
  static parallel::ThreadPool the_pool(threads ? std::atoi(threads) : 1);
  return the_pool;
}

struct Case {
  std::string name;
  const ir::OpDef* op;
  ir::Attrs attrs;
  std::vector<Shape> inputs;
};

// A case's tensors and the call of its kernel.
class Prepared {
 public:
  explicit Prepared(const Case& test) : name_(test.name), op_(*test.op) {
    ir::Graph graph;
    std::vector<Value> values;
    for (const Shape& shape : test.inputs) {
      values.push_back(
          graph.source(std::to_string(values.size()), {DType::f32, shape}, ir::Role::input));
      add_block(shape);
    }
    add_block(graph.add(op_, test.attrs, values)[0].shape());
    params_ = plan::kernel_params(graph, graph.nodes.back());
    const int threads = pool().threads();
    workspace_ = exec::Block(op_.kernels.workspace ? op_.kernels.workspace(params_, threads) : 0);
    for (size_t i = 0; i < test.inputs.size(); ++i) sources_.push_back(blocks_[i].data());
  }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] int64_t bytes() const { return bytes_; }
  void call() {
    void* const destination = blocks_.back().data();
    op_.kernels.fast({&destination, sources_.data(), workspace_.data(), params_.bytes().data(),
                      static_cast<int>(sources_.size()), 1, &pool()});
  }

 private:
  void add_block(const Shape& shape) {
    // Both signs where the op accepts both, in equal numbers.
    const std::string_view op = op_.name;
    const bool positive = op.starts_with("log") || op.starts_with("sqrt") ||
                          op.starts_with("rsqrt") || op.starts_with("pow");
    blocks_.emplace_back(shape.elements() * 4);
    bytes_ += shape.elements() * 4;
    auto* floats = reinterpret_cast<float*>(blocks_.back().data());
    for (int64_t i = 0; i < shape.elements(); ++i) {
      const float value = static_cast<float>(random_()) / 1073741824.0F - 2.0F;
      floats[i] = positive ? std::abs(value) + 0.01F : value;
    }
  }

  std::string name_;
  const ir::OpDef& op_;
  std::mt19937 random_{1};
  std::vector<exec::Block> blocks_;
  int64_t bytes_ = 0;
  ir::Params params_;
  exec::Block workspace_{0};
  std::vector<const void*> sources_;
};

void run(benchmark::State& state, const Case& test) {
  // Shared by repetitions.
  static std::unique_ptr<Prepared> prepared;
  if (!prepared || prepared->name() != test.name) {
    prepared.reset();
    prepared = std::make_unique<Prepared>(test);
  }
  for (auto _ : state) {
    prepared->call();
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * prepared->bytes());
}

void run_copy(benchmark::State& state, int64_t n) {
  const std::vector<float> x(static_cast<size_t>(n), 1.0F);
  std::vector<float> y(x.size());
  for (auto _ : state) {
    std::memcpy(y.data(), x.data(), x.size() * 4);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * n * 8);
}

void add(const std::string& name, auto body) {
  benchmark::RegisterBenchmark(name.c_str(), body)
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond)
      ->ComputeStatistics("min", [](const std::vector<double>& v) {
        return *std::min_element(v.begin(), v.end());
      });
}

// Unary ops and their gradients, found by their definitions.
void add_unary(std::vector<Case>& cases, int64_t n) {
  for (const ir::OpDef* op : ir::all_ops()) {
    const bool is_grad = std::string_view(op->name).ends_with("_grad");
    if (!op->flow.elementwise || op->kernels.fast == nullptr ||
        op->signature.inputs.size() != (is_grad ? 2U : 1U)) {
      continue;
    }
    const std::vector<Shape> inputs(op->signature.inputs.size(), Shape{n});
    cases.push_back({op->name, op, {}, inputs});
    const std::string name = op->name;
    if (name.starts_with("gelu")) {
      cases.push_back({name + "_tanh", op, ir::Attrs::of(GeluAttrs{true}), inputs});
    }
    if (name.starts_with("pow")) {
      cases.push_back({name + "_1.7", op, ir::Attrs::of(PowAttrs{1.7}), inputs});
    }
  }
}

void add_binary(std::vector<Case>& cases, int64_t n) {
  const int64_t rows = n / kRow;
  for (const char* name : {"add", "mul", "div", "pow_tensor"}) {
    const ir::OpDef* op = ir::find_op(name);
    const std::string prefix = std::string(name) + "/";
    cases.push_back({prefix + "same", op, {}, {{n}, {n}}});
    if (std::string_view(name) == "pow_tensor") continue;
    cases.push_back({prefix + "number", op, {}, {{n}, {}}});
    cases.push_back({prefix + "row", op, {}, {{rows, kRow}, {kRow}}});
    cases.push_back({prefix + "short_row", op, {}, {{n / 10, 10}, {10}}});
    cases.push_back({prefix + "column", op, {}, {{rows, kRow}, {rows, 1}}});
    cases.push_back({prefix + "short_column", op, {}, {{n / 10, 10}, {n / 10, 1}}});
  }
  const ir::OpDef* sum_to = ir::find_op("sum_to");
  const auto to = [](const Shape& shape) { return ir::Attrs::of(SumToAttrs{shape}); };
  cases.push_back({"sum_to/number", sum_to, to({}), {{n}}});
  cases.push_back({"sum_to/row", sum_to, to({kRow}), {{rows, kRow}}});
  cases.push_back({"sum_to/short_row", sum_to, to({10}), {{n / 10, 10}}});
  cases.push_back({"sum_to/column", sum_to, to({rows, 1}), {{rows, kRow}}});
  cases.push_back({"sum_to/short_column", sum_to, to({n / 10, 1}), {{n / 10, 10}}});
}

}  // namespace

int main(int argc, char** argv) {
  for (const int64_t n : kSizes) {
    std::vector<Case> cases;
    add_unary(cases, n);
    add_binary(cases, n);
    add("copy/" + std::to_string(n), [n](benchmark::State& s) { run_copy(s, n); });
    for (Case& test : cases) {
      test.name += "/" + std::to_string(n);
      add(test.name, [test](benchmark::State& s) { run(s, test); });
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
