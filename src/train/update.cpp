#include "train/update.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <optional>

#include "autodiff/trained_slices.h"
#include "autodiff/type_change.h"
#include "ir/optimizer_value.h"
#include "ir/own_constant.h"
#include "ir/wildcard.h"
#include "ops/families/update/gradients.h"
#include "train/compile.h"
#include "train/integer_updates.h"
#include "train/parameter_update.h"

namespace thimble::train {
namespace {

// The layer of the first node that reads the value, -1 for none.
int layer_of_reader(const ir::Graph& graph, const std::vector<std::vector<int>>& consumers,
                    int id) {
  const std::vector<int>& readers = consumers[static_cast<size_t>(id)];
  return readers.empty() ? -1 : graph.nodes[static_cast<size_t>(readers.front())].layer;
}

// The terms of a sum of gradients if each is given by some rows; returns false otherwise.
bool row_parts(ir::Graph& graph, int gradient, std::vector<RowGradient>& parts) {
  const ir::Node* const producer = graph.producer_of(gradient);
  if (producer == nullptr) return false;
  const ir::Node& node = *producer;
  if (node.op->gradient.adds_gradients) {
    return row_parts(graph, node.inputs[0], parts) && row_parts(graph, node.inputs[1], parts);
  }
  const ir::GivenRows given = node.op->flow.given_rows;
  if (given.rows < 0) return false;
  parts.push_back({graph.value(node.input(given.sums)), graph.value(node.input(given.rows))});
  return true;
}

// Replaces a gradient that is given by some rows by these rows, so that the whole gradient is never
// computed.
void take_rows(ir::Graph& graph, Trained& trained) {
  std::vector<RowGradient> parts;
  if (!row_parts(graph, trained.grad.id(), parts)) return;
  const GradientScope scope(graph, trained.layer);
  const RowGradient all = ops::sum_of_rows(parts, trained.param.shape()[0]);
  trained.grad = all.sums;
  trained.rows = all.rows;
}

std::vector<Trained> trained_of(ir::Graph& graph, std::span<const autodiff::Gradient> gradients) {
  const auto consumers = graph.consumers();
  std::vector<Trained> all;
  for (const autodiff::Gradient& gradient : gradients) {
    if (gradient.gradient < 0) continue;
    all.push_back({graph.value(graph.updated(gradient.value)), graph.value(gradient.gradient),
                   Value(), layer_of_reader(graph, consumers, gradient.value), gradient.value});
    take_rows(graph, all.back());
  }
  return all;
}

Value average(const Value& param) {
  const Value average = state_of(param, {kAverageName, {DType::f32, param.shape()}});
  param.graph().values[static_cast<size_t>(average.id())].average_of = param.name();
  return average;
}

Value gradient_sum(const Trained& trained) {
  const Value& param = trained.param;
  const Value sum = state_of(param, {kGradientSumName, {DType::f32, trained.grad.shape()}});
  param.graph().values[static_cast<size_t>(sum.id())].sums_gradients = true;
  return sum;
}

const ParamGroup* group_of(const std::vector<ParamGroup>& groups, const std::string& name) {
  for (const ParamGroup& group : groups) {
    if (ir::matches(group.pattern, name)) return &group;
  }
  return nullptr;
}

void check_groups(const ir::Graph& graph, std::span<const autodiff::Gradient> gradients,
                  const UpdateOptions& options) {
  for (const ParamGroup& group : options.groups) {
    const auto where = "parameter group " + group.pattern;
    if (!(group.lr_scale >= 0.0) || !std::isfinite(group.lr_scale)) {
      throw Error(where, fmt::format("lr_scale must not be negative, got {}", group.lr_scale));
    }
    for (const double penalty : {group.l1, group.l2}) {
      if (penalty >= 0.0 && std::isfinite(penalty)) continue;
      throw Error(where, fmt::format("l1 and l2 must not be negative, got {}", penalty));
    }
    if (group.clip_limit) {
      if (!(*group.clip_limit >= 0.0) || !std::isfinite(*group.clip_limit)) {
        throw Error(where,
                    fmt::format("clip_limit must not be negative, got {}", *group.clip_limit));
      }
      if (options.clip.kind == GradientClip::Kind::none) {
        throw Error(where, "has a clip_limit, but gradients are not clipped; say how in clip");
      }
    }
    bool matches = false;
    for (const autodiff::Gradient& gradient : gradients) {
      matches = matches || ir::matches(group.pattern, graph.data(gradient.value).name);
    }
    if (!matches && !group.frozen) throw Error(where, "matches no trained parameter");
  }
}

void regularize(ir::Graph& graph, std::vector<Trained>& all,
                const std::vector<ParamGroup>& groups) {
  for (Trained& t : all) {
    const ParamGroup* group = group_of(groups, t.param.name());
    if (group == nullptr || (group->l1 == 0.0 && group->l2 == 0.0)) continue;
    if (t.rows) refuse_rows(t, "l1 and l2 pull at every row", "set both to 0 in its group");
    const GradientScope scope(graph, t.layer);
    const bool in_part = !t.part().indices.empty();
    const Value trained = in_part ? autodiff::trained_slices(graph, t.param, t.source) : t.param;
    t.grad = ops::with_penalties(t.grad, trained, group->l1, group->l2);
  }
}

// Of a parameter's gradient; 0: none.
double limit_of(const Value& param, const UpdateOptions& options) {
  const ParamGroup* const group = group_of(options.groups, param.name());
  return group == nullptr ? options.clip.limit : group->clip_limit.value_or(options.clip.limit);
}

void limit(ir::Graph& graph, std::vector<Trained>& all, const UpdateOptions& options) {
  const GradientClip& clip = options.clip;
  if (clip.kind == GradientClip::Kind::none) return;
  if (!(clip.limit > 0.0)) {
    throw Error("gradient clip", fmt::format("the limit must be above 0, got {}", clip.limit));
  }
  Value squares;
  if (clip.kind == GradientClip::Kind::global_norm) {
    for (const Trained& t : all) {
      if (limit_of(t.param, options) == 0.0) continue;
      const GradientScope scope(graph, t.layer);
      squares = ops::squared_norm(t.grad, squares);
    }
  }
  for (Trained& t : all) {
    const double most = limit_of(t.param, options);
    if (most == 0.0) continue;
    const GradientScope scope(graph, t.layer);
    if (clip.kind == GradientClip::Kind::value) {
      t.grad = ops::within_limit(t.grad, most);
      continue;
    }
    if (clip.kind == GradientClip::Kind::tensor_norm) squares = ops::squared_norm(t.grad);
    t.grad = ops::within_norm(t.grad, squares, most);
  }
}

// The learning rate of each group, as the graph computes it.
class Rates {
 public:
  explicit Rates(ir::Graph& graph) : graph_(graph) {}
  Value scaled(double scale) {
    const Value lr = graph_.scalar(kLearningRateName, DType::f32);
    if (scale == 1.0) return lr;
    const auto [known, is_new] = scaled_.try_emplace(scale);
    if (is_new) {
      const Value factor = ir::own_constant(graph_, fmt::format("@lr_scale_{}", scale),
                                            Array(std::vector{static_cast<float>(scale)}, {}));
      known->second = ops::times(lr, factor);
    }
    return known->second;
  }

 private:
  ir::Graph& graph_;
  std::map<double, Value> scaled_;
};

// A gradient before it was brought from 16 bits to f32, to keep it small until it is used.
Value as_computed(ir::Graph& graph, Value gradient) {
  const ir::Node* const node = graph.producer_of(gradient.id());
  if (node == nullptr || node->op->gradient.to_type == nullptr) return gradient;
  const Value narrow = graph.value(node->input(0));
  const bool is_narrow = narrow.dtype() == DType::f16 || narrow.dtype() == DType::bf16;
  return is_narrow ? narrow : gradient;
}

// The gradient, computed in f32 from f32 copies of 16-bit operands where these copies take less
// than it does: then it can be computed and used up in tiles. Else as it is.
Value from_copies(ir::Graph& graph, Value gradient) {
  const ir::Node* const producer = graph.producer_of(as_computed(graph, gradient).id());
  if (producer == nullptr) return gradient;
  const ir::Node node = *producer;  // adding nodes moves it
  if (node.op->memory.part.rows == nullptr || node.outputs.size() != 1) return gradient;
  int64_t copied = 0;  // elements
  for (const int id : node.inputs) {
    if (id >= 0 && graph.type(id).dtype != DType::f32) copied += graph.type(id).shape.elements();
  }
  if (copied == 0 || copied >= gradient.shape().elements()) return gradient;
  std::vector<Value> inputs;
  for (const int id : node.inputs) {
    const Value input = graph.value(id);
    inputs.push_back(id < 0 ? input : autodiff::with_type(graph, input, DType::f32));
  }
  const Value wide = graph.add(*node.op, node.attrs, inputs)[0];
  graph.values[static_cast<size_t>(wide.id())].name = graph.data(gradient.id()).name;
  return wide;
}

void avoid_16_bits(ir::Graph& graph, std::vector<Trained>& all) {
  for (Trained& t : all) {
    if (t.rows) continue;
    const GradientScope scope(graph, t.layer);
    t.grad = from_copies(graph, t.grad);
  }
}

Value counter(ir::Graph& graph, const char* name) {
  return graph.own_source(name, {DType::i32, {}}, ir::Role::state, init::constant(0.0));
}

// An update of scaled gradients.
struct ScaledUpdate {
  ops::LossScale state;
  Value found;   // whether a gradient is not finite
  Value number;  // of the update, 0 if one is not
};

// Divides all gradients by the loss scale.
ScaledUpdate unscale(ir::Graph& graph, std::vector<Trained>& all, const UpdateOptions& options) {
  Value found;
  for (size_t i = all.size(); i-- > 0;) {  // as they are computed, the last layer's first
    Trained& t = all[i];
    const GradientScope scope(graph, t.layer);
    t.grad = as_computed(graph, t.grad);
    found = ops::overflow(t.grad, found);
  }
  const ops::LossScale state{options.loss_scale, counter(graph, kGoodStepsName),
                             counter(graph, kSkippedName)};
  const GradientScope no_layer(graph, -1);
  const Value number =
      ops::number_of_update(graph.scalar(kUpdateNumberName, DType::i32), state.skipped, found);
  for (Trained& t : all) {
    const GradientScope scope(graph, t.layer);
    t.grad = ops::unscaled(t.grad, state.scale);
  }
  return {state, found, number};
}

// After all updates, which may divide their gradients by the scale in tiles.
void adapt_scale(ir::Graph& graph, const ScaledUpdate& scaled, const LossScaling& scaling) {
  const GradientScope no_layer(graph, -1);
  ops::adapt(scaled.state, scaled.found, {scaling.growth, scaling.backoff, scaling.interval});
}

// The learning rate of an objective's optimizer, divided by the trainer's.
double own_scale(const Objective& objective, const Optimizer& optimizer) {
  if (optimizer.learning_rate() > 0.0) {
    return objective.optimizer->learning_rate() / optimizer.learning_rate();
  }
  throw Error(
      "objective of " + objective.parameters,
      "has an optimizer, whose learning rate is kept in proportion to that of the trainer's "
      "optimizer; give that one a rate above 0");
}

void update(ir::Graph& graph, std::vector<Trained> all, const UpdateOptions& options) {
  if (!(options.ema_decay >= 0.0) || options.ema_decay >= 1.0) {
    throw Error("ema_decay",
                fmt::format("must be at least 0 and below 1, got {}", options.ema_decay));
  }
  if (options.scheduled_momentum && options.optimizer.momentum() == 0.0) {
    throw Error("schedule",
                fmt::format("cycles the momentum, which {} has not; give it one above 0, "
                            "or take one of {}",
                            options.optimizer.name(), names_of([](const ir::OpDef& op) {
                              return op.optimizer.momentum != nullptr;
                            })));
  }
  std::optional<ScaledUpdate> scaled;
  if (options.loss_scale) scaled = unscale(graph, all, options);
  const Value number = scaled ? scaled->number : graph.scalar(kUpdateNumberName, DType::i32);
  // Gradients that wait for the norm of all take less in 16 bits.
  if (!options.loss_scale && options.clip.kind != GradientClip::Kind::global_norm) {
    avoid_16_bits(graph, all);
  }
  for (const Trained& t : all) {
    if (is_whole(t.param)) check_whole(t.param, group_of(options.groups, t.param.name()), options);
  }
  regularize(graph, all, options.groups);
  limit(graph, all, options);
  Rates rates(graph);
  for (const Trained& t : all) {
    const ParamGroup* group = group_of(options.groups, t.param.name());
    const Objective* const objective = objective_of(options.objectives, t.param.name());
    Optimizer optimizer = options.optimizer;
    double lr_scale = 1.0;
    if (objective != nullptr && objective->optimizer) {
      optimizer = *objective->optimizer;
      lr_scale = own_scale(*objective, options.optimizer);
    }
    if (group != nullptr) lr_scale *= group->lr_scale;
    if (group != nullptr && group->weight_decay) {
      optimizer = optimizer.with_weight_decay(*group->weight_decay);
    }
    const GradientScope scope(graph, t.layer);
    if (is_whole(t.param)) {
      append_integer_update(graph, t, optimizer.value(), rates.scaled(lr_scale), number, options);
      continue;
    }
    const Value updated = append_update(graph, t, optimizer.value(), rates.scaled(lr_scale), number,
                                        options.scheduled_momentum && optimizer.momentum() != 0.0);
    if (options.ema_decay == 0.0) continue;
    ops::update_average(average(t.param), updated, number, options.ema_decay);
  }
  if (scaled) adapt_scale(graph, *scaled, options.scaling);
}

void check_weight(double weight) {
  if (!(weight > 0.0) || !std::isfinite(weight)) {
    throw Error("gradient accumulation", fmt::format("a weight must be above 0, got {}", weight));
  }
}

void refuse_accumulated_rows(const Trained& trained) {
  if (!trained.rows) return;
  refuse_rows(trained, "accumulation keeps sums of whole gradients",
              "set accumulate and micro_batches to 1");
}

}  // namespace

Value loss_scale_source(ir::Graph& graph, const LossScaling& scaling) {
  return graph.own_source(kLossScaleName, {DType::f32, {}}, ir::Role::state,
                          init::constant(scaling.initial));
}

void append_unscaling(ir::Graph& graph, std::span<autodiff::Gradient> gradients, Value scale) {
  const auto consumers = graph.consumers();
  for (autodiff::Gradient& gradient : gradients) {
    if (gradient.gradient < 0) continue;
    const GradientScope scope(graph, layer_of_reader(graph, consumers, gradient.value));
    const Value scaled = as_computed(graph, graph.value(gradient.gradient));
    gradient.gradient = ops::unscaled(scaled, scale).id();
  }
}

void freeze_groups(ir::Graph& graph, const std::vector<ParamGroup>& groups) {
  std::vector<char> used(groups.size(), 0);
  for (ir::ValueData& data : graph.values) {
    if (data.role != ir::Role::parameter || data.producer >= 0) continue;
    for (size_t i = 0; i < groups.size(); ++i) {
      used[i] = ir::matches(groups[i].pattern, data.name) ? 1 : used[i];
    }
    const ParamGroup* group = group_of(groups, data.name);
    if (group != nullptr && group->frozen) data.trainable = false;
  }
  for (size_t i = 0; i < groups.size(); ++i) {
    if (!groups[i].frozen || used[i] != 0) continue;
    throw Error("parameter group " + groups[i].pattern,
                "is to be frozen, but matches no parameter");
  }
}

void append_updates(ir::Graph& graph, std::span<const autodiff::Gradient> gradients,
                    const UpdateOptions& options) {
  check_groups(graph, gradients, options);
  update(graph, trained_of(graph, gradients), options);
}

void append_accumulation(ir::Graph& graph, std::span<const autodiff::Gradient> gradients,
                         double weight) {
  check_weight(weight);
  for (const Trained& t : trained_of(graph, gradients)) {
    refuse_accumulated_rows(t);
    const GradientScope scope(graph, t.layer);
    ops::add_to_sum(gradient_sum(t), t.grad, weight);
  }
}

void append_accumulated_updates(ir::Graph& graph, std::span<const autodiff::Gradient> gradients,
                                const UpdateOptions& options, double weight) {
  check_weight(weight);
  check_groups(graph, gradients, options);
  const Value total = graph.scalar(kTotalWeightName, DType::f32);
  std::vector<Trained> all = trained_of(graph, gradients);
  for (Trained& t : all) {
    refuse_accumulated_rows(t);
    const GradientScope scope(graph, t.layer);
    t.grad = ops::mean_of_sum(gradient_sum(t), t.grad, total, weight);
  }
  update(graph, std::move(all), options);
}

}  // namespace thimble::train
