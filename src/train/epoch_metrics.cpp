#include "train/epoch_metrics.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <cstring>

#include "ir/reference.h"

namespace thimble::train {
namespace {

bool is_finish(const ir::Graph& graph, int value) {
  const ir::Node* const producer = graph.producer_of(value);
  return producer != nullptr && producer->op->flow.of_means;
}

}  // namespace

Finishes take_finishes(ir::Graph& model) {
  for (const ir::Node& node : model.nodes) {
    for (const int input : node.inputs) {
      if (input < 0 || !is_finish(model, input)) continue;
      throw Error("metric",
                  fmt::format("{} reads a score that holds for all samples of an epoch together; "
                              "make the score itself a metric, and compute from its result",
                              node.op->name));
    }
  }
  Finishes finishes;
  for (auto& [name, value] : model.metrics) {
    if (!is_finish(model, value)) continue;
    const ir::Node& node = *model.producer_of(value);
    value = node.input(0);
    finishes.emplace(name, Finish{node.op, node.attrs, model.type(value)});
  }
  return finishes;
}

double finished(const Finish& finish, const std::vector<double>& mean) {
  ir::Graph graph;
  const Value input = graph.source("mean", finish.mean, ir::Role::input);
  const Value score = graph.add1(*finish.op, finish.attrs, {input});
  const auto values = ir::run_reference(
      graph, {{input.id(), ir::to_bytes(mean, ir::Precision::f32)}}, ir::Precision::f32);
  float result = 0.0F;
  const ir::Bytes& bytes = values[static_cast<size_t>(score.id())];
  if (bytes.size() == sizeof(result)) std::memcpy(&result, bytes.data(), sizeof(result));
  return static_cast<double>(result);
}

}  // namespace thimble::train
