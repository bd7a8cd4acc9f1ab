#include "train/update.h"

#include <fmt/format.h>
#include <thimble/ops/accumulate_gradient.h>
#include <thimble/ops/adam_update.h>
#include <thimble/ops/adamw_update.h>
#include <thimble/ops/clip_gradient.h>
#include <thimble/ops/rmsprop_update.h>
#include <thimble/ops/sgd_update.h>

#include <cmath>

#include "ir/wildcard.h"

namespace thimble::train {
namespace {

// A parameter that is to be updated.
struct Trained {
  Value param;
  Value grad;
  int layer;  // that its update is booked under
};

// The layer of the first node that reads the value, -1 for none.
int layer_of_reader(const ir::Graph& graph, const std::vector<std::vector<int>>& consumers,
                    int id) {
  const std::vector<int>& readers = consumers[static_cast<size_t>(id)];
  return readers.empty() ? -1 : graph.nodes[static_cast<size_t>(readers.front())].layer;
}

std::vector<Trained> trained_of(ir::Graph& graph, std::span<const autodiff::Gradient> gradients) {
  const auto consumers = graph.consumers();
  std::vector<Trained> all;
  for (const autodiff::Gradient& gradient : gradients) {
    if (gradient.gradient < 0) continue;
    all.push_back({graph.value(gradient.value), graph.value(gradient.gradient),
                   layer_of_reader(graph, consumers, gradient.value)});
  }
  return all;
}

// Nodes added within belong to the layer, and their values are gradients where nothing else.
class GradientScope {
 public:
  GradientScope(ir::Graph& graph, int layer) : graph_(graph), first_(graph.values.size()) {
    graph.reopen_layer(layer);
  }
  ~GradientScope() {
    graph_.end_layer();
    for (size_t id = first_; id < graph_.values.size(); ++id) {
      ir::ValueData& data = graph_.values[id];
      if (data.role == ir::Role::activation) data.role = ir::Role::gradient;
    }
  }
  GradientScope(const GradientScope&) = delete;
  GradientScope& operator=(const GradientScope&) = delete;

 private:
  ir::Graph& graph_;
  size_t first_;
};

Value state(const Value& param, const char* moment) {
  return param.graph().source(param.name() + "." + moment, {DType::f32, param.shape()},
                              ir::Role::state, init::zeros());
}

const ParamGroup* group_of(const std::vector<ParamGroup>& groups, const std::string& name) {
  for (const ParamGroup& group : groups) {
    if (ir::matches(group.pattern, name)) return &group;
  }
  return nullptr;
}

void check_groups(const ir::Graph& graph, std::span<const autodiff::Gradient> gradients,
                  const std::vector<ParamGroup>& groups) {
  for (const ParamGroup& group : groups) {
    const auto where = "parameter group " + group.pattern;
    if (!(group.lr_scale >= 0.0) || !std::isfinite(group.lr_scale)) {
      throw Error(where, fmt::format("lr_scale must not be negative, got {}", group.lr_scale));
    }
    bool matches = false;
    for (const autodiff::Gradient& gradient : gradients) {
      matches = matches || ir::matches(group.pattern, graph.data(gradient.value).name);
    }
    if (!matches) throw Error(where, "matches no trained parameter");
  }
}

void limit(ir::Graph& graph, std::vector<Trained>& all, const GradientClip& clip) {
  if (clip.kind == GradientClip::Kind::none) return;
  if (!(clip.limit > 0.0)) {
    throw Error("gradient clip", fmt::format("the limit must be above 0, got {}", clip.limit));
  }
  Value squares;
  if (clip.kind == GradientClip::Kind::global_norm) {
    for (const Trained& t : all) {
      const GradientScope scope(graph, t.layer);
      squares = sum_squares(t.grad, squares);
    }
  }
  for (Trained& t : all) {
    const GradientScope scope(graph, t.layer);
    if (clip.kind == GradientClip::Kind::value) {
      t.grad = clip_by_value(t.grad, {.limit = clip.limit});
      continue;
    }
    if (clip.kind == GradientClip::Kind::tensor_norm) squares = sum_squares(t.grad);
    t.grad = clip_by_norm(t.grad, squares, {.max_norm = clip.limit});
  }
}

// Appends the update of one parameter, for each kind of optimizer.
class Updater {
 public:
  Updater(ir::Graph& graph, const Trained& trained, double lr_scale)
      : param_(trained.param),
        grad_(trained.grad),
        lr_(graph.scalar(kLearningRateName, DType::f32)),
        step_(graph.scalar(kUpdateNumberName, DType::i32)),
        lr_scale_(lr_scale) {}

  void operator()(const SGD& s) const {
    std::vector<Value> states;
    if (s.momentum != 0.0) states.push_back(state(param_, "momentum_buffer"));
    sgd_update(param_, grad_, lr_, step_, states,
               {.momentum = s.momentum,
                .dampening = s.dampening,
                .nesterov = s.nesterov,
                .weight_decay = s.weight_decay,
                .maximize = s.maximize,
                .lr_scale = lr_scale_});
  }
  void operator()(const Adam& s) const { adam(s, adam_update); }
  void operator()(const AdamW& s) const { adam(s, adamw_update); }
  void operator()(const RMSProp& s) const {
    std::vector<Value> states{state(param_, "square_avg")};
    if (s.centered) states.push_back(state(param_, "grad_avg"));
    if (s.momentum != 0.0) states.push_back(state(param_, "momentum_buffer"));
    rmsprop_update(param_, grad_, lr_, step_, states,
                   {.alpha = s.alpha,
                    .epsilon = s.epsilon,
                    .momentum = s.momentum,
                    .centered = s.centered,
                    .weight_decay = s.weight_decay,
                    .maximize = s.maximize,
                    .epsilon_inside_root = s.epsilon_inside_root,
                    .lr_scale = lr_scale_});
  }

 private:
  template <class S, class Update>
  void adam(const S& s, Update update) const {
    std::vector<Value> states{state(param_, "exp_avg"), state(param_, "exp_avg_sq")};
    if (s.amsgrad) states.push_back(state(param_, "max_exp_avg_sq"));
    update(param_, grad_, lr_, step_, states,
           AdamUpdateOptions{.beta1 = s.beta1,
                             .beta2 = s.beta2,
                             .epsilon = s.epsilon,
                             .weight_decay = s.weight_decay,
                             .amsgrad = s.amsgrad,
                             .maximize = s.maximize,
                             .lr_scale = lr_scale_});
  }

  Value param_;
  Value grad_;
  Value lr_;
  Value step_;
  double lr_scale_;
};

void update(ir::Graph& graph, std::vector<Trained> all, const UpdateOptions& options) {
  limit(graph, all, options.clip);
  for (const Trained& t : all) {
    const ParamGroup* group = group_of(options.groups, t.param.name());
    Optimizer optimizer = options.optimizer;
    if (group != nullptr && group->weight_decay) {
      optimizer = optimizer.with_weight_decay(*group->weight_decay);
    }
    const GradientScope scope(graph, t.layer);
    std::visit(Updater(graph, t, group == nullptr ? 1.0 : group->lr_scale), optimizer.kind());
  }
}

void check_weight(double weight) {
  if (!(weight > 0.0) || !std::isfinite(weight)) {
    throw Error("gradient accumulation", fmt::format("a weight must be above 0, got {}", weight));
  }
}

}  // namespace

void append_updates(ir::Graph& graph, std::span<const autodiff::Gradient> gradients,
                    const UpdateOptions& options) {
  check_groups(graph, gradients, options.groups);
  update(graph, trained_of(graph, gradients), options);
}

void append_accumulation(ir::Graph& graph, std::span<const autodiff::Gradient> gradients,
                         double weight) {
  check_weight(weight);
  for (const Trained& t : trained_of(graph, gradients)) {
    const GradientScope scope(graph, t.layer);
    accumulate_gradient(state(t.param, "grad_sum"), t.grad, {.weight = weight});
  }
}

void append_accumulated_updates(ir::Graph& graph, std::span<const autodiff::Gradient> gradients,
                                const UpdateOptions& options, double weight) {
  check_weight(weight);
  check_groups(graph, gradients, options.groups);
  const Value total = graph.scalar(kTotalWeightName, DType::f32);
  std::vector<Trained> all = trained_of(graph, gradients);
  for (Trained& t : all) {
    const GradientScope scope(graph, t.layer);
    t.grad = mean_gradient(state(t.param, "grad_sum"), t.grad, total, {.weight = weight});
  }
  update(graph, std::move(all), options);
}

}  // namespace thimble::train
