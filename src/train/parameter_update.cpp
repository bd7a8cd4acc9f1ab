#include "train/parameter_update.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "ops/families/random/random.h"
#include "train/integer_updates.h"
#include "train/update.h"

namespace thimble::train {

namespace {

Value own_state(const Value& param, const std::string& what, const ir::TensorType& type,
                const Initializer& first) {
  ir::Graph& graph = param.graph();
  const std::string name = param.name() + "." + what;
  if (graph.find_source(name)) {  // of the model
    return graph.own_source(ir::kOwnPrefix + name, type, ir::Role::state, first);
  }
  return graph.source(name, type, ir::Role::state, first);
}

}  // namespace

Value state_of(const Value& param, const ir::StateSpec& spec) {
  return own_state(param, spec.name, spec.type, init::constant(spec.first));
}

std::string names_of(bool (*wanted)(const ir::OpDef&)) {
  std::vector<std::string> names;
  for (const ir::OpDef* op : ir::all_ops()) {
    if (op->optimizer.name != nullptr && wanted(*op)) {
      names.emplace_back(op->optimizer.name);
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

void refuse_rows(const Trained& trained, const std::string& what, const std::string& instead) {
  throw Error(trained.param.name(),
              fmt::format("has a sparse gradient, but {}; {}, or leave out the embedding's sparse",
                          what, instead));
}

namespace {

// Throws if a rule cannot be applied to some rows only.
void check_rows(const Trained& trained, const ir::OptimizerRule& rule, const ir::Attrs& settings) {
  if (rule.by_rows == nullptr) {
    refuse_rows(trained, fmt::format("{} updates whole tensors alone", rule.name),
                "take one of " +
                    names_of([](const ir::OpDef& op) { return op.optimizer.by_rows != nullptr; }));
  }
  const std::string reaching = rule.reaches_all_rows(settings);
  if (reaching.empty()) return;
  refuse_rows(
      trained, fmt::format("{} of {} reaches every row", reaching, rule.name),
      "do without it" +
          std::string(reaching == "weight_decay" ? " (in a group for this parameter)" : ""));
}

// Throws for a state of 8 bits.
void require_f32(const Value& param, const ir::StateSpec& spec) {
  if (spec.type.dtype == DType::f32) return;
  throw Error(param.name(),
              fmt::format("is trained in part, for which {} is kept in f32 alone; set "
                          "state_bits to 32",
                          spec.name));
}

// Throws if a rule cannot be applied to a part of a parameter.
void check_part(const Trained& trained, const ir::OptimizerRule& rule) {
  if (rule.by_part != nullptr) return;
  throw Error(
      trained.param.name(),
      fmt::format("is trained in part, but {} updates whole tensors alone; take one of {}, or "
                  "train all of its channels",
                  rule.name,
                  names_of([](const ir::OpDef& op) { return op.optimizer.by_part != nullptr; })));
}

// What rounding to nearest left of the changes of a parameter, in units of 2^-16. The first ones
// are drawn at random, up to half a step: were they 0, all numbers would stand still at first, and
// then those of like gradients would take a whole step in the same update, which disturbs the
// training.
Value residual_of(const Value& param, const Shape& shape) {
  return own_state(param, kResidualName, {DType::i16, shape}, init::uniform(-32768.0, 32767.0));
}

}  // namespace

void append_integer_update(ir::Graph& graph, const Trained& trained,
                           const ir::OptimizerValue& optimizer, Value lr, Value number,
                           const UpdateOptions& options) {
  constexpr int64_t kFirstStream = int64_t{1} << 30;  // those of nodes are below
  const Value& param = trained.param;
  const ir::OptimizerRule& rule = optimizer.op->optimizer;
  const ir::IntegerRule& integers = optimizer.op->integers;
  if (integers.update == nullptr) {
    const auto trains = [](const ir::OpDef& op) { return op.integers.update != nullptr; };
    throw Error(param.name(),
                fmt::format("is of {}, and {} trains f32 parameters alone; take one of {}",
                            to_string(param.dtype()), rule.name, names_of(trains)));
  }
  const Shape shape = trained.grad.shape();
  const bool keeps_rest = options.integer_rounding == IntegerRounding::residual;
  const Value first = keeps_rest ? residual_of(param, shape) : ops::rng_of(graph);
  Value units;
  if (options.quantization_aware_scaling) units = parameter_units(graph, trained.source);
  std::vector<Value> inputs{first, param, trained.grad, lr, number, units};
  for (const ir::StateSpec& spec : rule.states(optimizer.settings, shape)) {
    inputs.push_back(state_of(param, spec));
  }
  graph.add(keeps_rest ? *integers.update->integers.update : *integers.update,
            integers.update_attrs(optimizer.settings, kFirstStream + param.id(), trained.part()),
            inputs);
}

Value append_update(ir::Graph& graph, const Trained& trained, const ir::OptimizerValue& optimizer,
                    Value lr, Value number, bool scheduled_momentum) {
  const ir::OptimizerRule& rule = optimizer.op->optimizer;
  std::vector<Value> inputs{trained.param, trained.grad};
  if (trained.rows) {
    check_rows(trained, rule, optimizer.settings);
    inputs.push_back(trained.rows);
  }
  inputs.push_back(lr);
  inputs.push_back(number);
  const bool in_part = !trained.part().indices.empty();
  if (in_part) check_part(trained, rule);
  for (const ir::StateSpec& spec :
       rule.states(optimizer.settings, in_part ? trained.grad.shape() : trained.param.shape())) {
    if (in_part) require_f32(trained.param, spec);
    inputs.push_back(state_of(trained.param, spec));
  }
  if (scheduled_momentum) {
    if (trained.rows) refuse_rows(trained, "a cycled momentum reaches every row", "do without it");
    inputs.resize(optimizer.op->signature.inputs.size() - 1);  // for states that it does not keep
    inputs.push_back(graph.scalar(kMomentumName, DType::f32));
  }
  if (in_part) {
    return graph.add(*rule.by_part, rule.part_attrs(optimizer.settings, trained.part()), inputs)[0];
  }
  return graph.add(trained.rows ? *rule.by_rows : *optimizer.op, optimizer.settings, inputs)[0];
}

}  // namespace thimble::train
