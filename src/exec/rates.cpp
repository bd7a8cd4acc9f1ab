#include "exec/rates.h"

#include <thimble/ops/add.h>
#include <thimble/ops/matmul.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>

#include "exec/program.h"
#include "plan/work.h"

namespace thimble::exec {
namespace {

constexpr int kRounds = 20;
// Small enough for a second-level cache, large enough to keep some threads busy.
constexpr int64_t kSide = 160;

// The shortest time of the graph's one node.
double node_ms(const ir::Graph& graph, ThreadPool& pool) {
  const Program program(graph, {.threads = pool.threads(), .optimize = false});
  const Store store({&program.graph()});
  const Block arena(program.plan().arena_bytes);
  Session session(program, store, std::span(arena.data(), static_cast<size_t>(arena.bytes())),
                  pool);
  plan::NodeTimes times;
  session.measure(kRounds, times);
  return times.of(program.graph());
}

plan::NodeTimes measure(ThreadPool& pool) {
  const ir::TensorType type{DType::f32, {kSide, kSide}};
  ir::Graph product;
  const Value a = product.source("a", type, ir::Role::input);
  product.outputs = {{"y", matmul(a, product.source("b", type, ir::Role::input)).id()}};
  ir::Graph sum;
  const Value c = sum.source("c", type, ir::Role::input);
  sum.outputs = {{"y", add(c, sum.source("d", type, ir::Role::input)).id()}};
  constexpr double kLeastMs = 1e-6;  // a clock may be coarse
  const double product_ms = std::max(node_ms(product, pool), kLeastMs);
  const double sum_ms = std::max(node_ms(sum, pool), kLeastMs);
  return plan::NodeTimes(product_ms / plan::flops_of(product, product.nodes[0]),
                         sum_ms / static_cast<double>(plan::bytes_of(sum, sum.nodes[0])));
}

}  // namespace

plan::NodeTimes measured_rates(ThreadPool& pool) {
  static std::mutex mutex;
  static std::map<int, plan::NodeTimes> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(pool.threads());
  return found != known.end() ? found->second
                              : known.emplace(pool.threads(), measure(pool)).first->second;
}

}  // namespace thimble::exec
