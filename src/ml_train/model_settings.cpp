// The properties of models, and the options of a training that they are.
#include <nntrainer_error.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "ml_train/model_node.h"

namespace thimble::ml_train {
namespace {

constexpr Property kModel[] = {
    {"loss", Kind::choice, nullptr, "cross mse kld"},
    {"input_layers", Kind::connections},
    {"label_layers", Kind::names},
    {"clip_grad_by_norm", Kind::real},
    {"loss_scale", Kind::real, "1"},
    {"threads", Kind::count, "0"},
};

constexpr Property kTrain[] = {
    {"epochs", Kind::positive, "1"},
    {"batch_size", Kind::positive, "1"},
    {"save_path", Kind::text},
    {"save_best_path", Kind::text},
    {"continue_train", Kind::boolean, "false"},
    {"memory_optimization", Kind::boolean, "true"},
    {"memory_budget", Kind::text},
    {"micro_batches", Kind::text, "1"},
    {"memory_swap", Kind::boolean, "false"},
    {"memory_swap_path", Kind::text},
    {"memory_swap_lookahead", Kind::count, "0"},
    {"fsu", Kind::boolean, "false"},
    {"fsu_path", Kind::text},
    {"fsu_lookahead", Kind::count, "0"},
    {"tensor_format", Kind::choice, "nchw", "nchw nhwc", 0, false,
     "tensors at this interface are NCHW"},
    {"model_tensor_type", Kind::text, "FP32-FP32"},
};

// Which tensors have 16 bits.
struct HalfTensors {
  bool weights = false;
  bool activations = false;  // and gradients
};

// Of "FP16-FP32": weights, then activations. None: another type.
std::optional<HalfTensors> half_tensors(const std::string& text) {
  const std::string type = lower(without_blanks(text));
  for (const bool weights : {false, true}) {
    for (const bool activations : {false, true}) {
      const std::string name =
          std::string(weights ? "fp16" : "fp32") + (activations ? "-fp16" : "-fp32");
      if (type == name) return HalfTensors{weights, activations};
    }
  }
  return std::nullopt;
}

// "65536", "2MiB", "1.5 GiB".
int64_t bytes_of(const std::string& text) {
  const std::string plain = lower(without_blanks(text));
  const size_t digits = std::min(plain.find_first_not_of("0123456789."), plain.size());
  static const std::map<std::string, double> units = {
      {"", 1.0},   {"b", 1.0},  {"kib", 1024.0}, {"mib", 1048576.0}, {"gib", 1073741824.0},
      {"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}};
  const auto unit = units.find(plain.substr(digits));
  const bool is_number = digits > 0 && digits < 16 && plain[0] != '.' &&
                         std::count(plain.begin(), plain.end(), '.') <= 1;
  const double bytes =
      is_number && unit != units.end() ? std::stod(plain.substr(0, digits)) * unit->second : 0.0;
  if (bytes < 1.0 || bytes > 1e18) {
    throw std::invalid_argument("[model] memory_budget=" + text +
                                ": expected bytes, such as 65536 or 2MiB");
  }
  return static_cast<int64_t>(bytes);
}

// clip_grad_by_norm of layers: the limit of each of their weights.
using Limits = std::map<const Weight*, double>;

double limit_of(const PropertySet& props) {
  const double limit = props.real("clip_grad_by_norm");
  if (limit < 0.0) {
    throw std::invalid_argument("[" + props.owner() + "] clip_grad_by_norm is 0 or more, got " +
                                props.choice("clip_grad_by_norm"));
  }
  return limit;
}

Limits limits_of(const std::vector<Node>& nodes) {
  Limits limits;
  for (const Node& node : nodes) {
    const double limit = limit_of(node.layer->props());
    if (!(limit > 0.0)) continue;
    for (const Weight* weight : node.layer->weights()) {
      if (weight->trainable) limits[weight] = limit;
    }
  }
  return limits;
}

// "auto" is 0.
int64_t micro_batches_of(const std::string& text) {
  if (lower(text) == "auto") return 0;
  constexpr size_t kMostDigits = 9;
  const bool is_count = !text.empty() && text.size() <= kMostDigits && text[0] != '0' &&
                        text.find_first_not_of("0123456789") == std::string::npos;
  if (!is_count) {
    throw std::invalid_argument("[model] micro_batches=" + text +
                                ": expected a whole number from 1, or auto");
  }
  return std::stoll(text);
}

// Weight decay per weight: in the gradient, or for AdamW apart from it. With limits, weights that
// have none are not limited.
std::vector<ParamGroup> groups_of(const WeightStore& weights, bool decouples,
                                  const Limits& limits) {
  std::vector<ParamGroup> groups;
  for (const auto& weight : weights.all()) {
    const auto limit = limits.find(weight.get());
    if (!weight->trainable || (weight->decay == 0.0 && limit == limits.end())) continue;
    ParamGroup group{.pattern = weight->name};
    if (weight->decay != 0.0 && decouples) group.weight_decay = weight->decay;
    if (!decouples) group.l2 = weight->decay;
    if (!limits.empty()) group.clip_limit = limit == limits.end() ? 0.0 : limit->second;
    groups.push_back(group);
  }
  if (!limits.empty()) groups.push_back({.pattern = "*", .clip_limit = 0.0});
  return groups;
}

// The folder of the swap file, or nothing without one. NNTrainer's keys and ours are two names of
// one setting.
std::optional<std::string> swap_dir_of(const PropertySet& props) {
  const auto text = [&](const std::string& key) { return key + "=" + props.choice(key); };
  for (const auto& [ours, other] :
       {std::pair("memory_swap", "fsu"), std::pair("memory_swap_path", "fsu_path")}) {
    if (props.given(ours) && props.given(other) && props.choice(ours) != props.choice(other)) {
      throw std::invalid_argument("[model] " + text(ours) + " and " + text(other) +
                                  ": one setting, under two names; give one");
    }
  }
  if (!props.boolean("memory_swap") && !props.boolean("fsu")) return {};
  const std::string key = props.given("fsu_path") ? "fsu_path" : "memory_swap_path";
  const std::string folder = props.choice(key);
  std::error_code unknown;
  if (!folder.empty() && !std::filesystem::is_directory(folder, unknown)) {
    throw std::invalid_argument("[model] " + text(key) +
                                ": no such folder; make it, or name another one");
  }
  return folder;
}

}  // namespace

void ModelNode::set_property(const std::string& key, const std::string& value) {
  if (key == "memory_budget") static_cast<void>(bytes_of(value));
  if (key == "micro_batches") static_cast<void>(micro_batches_of(value));
  if (key == "model_tensor_type") {
    if (!half_tensors(value)) {
      throw nntrainer::exception::not_supported(
          "[model] model_tensor_type=" + value +
          ": weights and activations are FP32 or FP16, such as FP32-FP32 or FP16-FP16");
    }
  }
  if (key == "loss_scale") {
    PropertySet checked(props_.owner(), {kModel});
    checked.set(key, value);
    if (!(checked.real(key) > 0.0)) {
      throw std::invalid_argument("[model] loss_scale=" + value + ": expected a number above 0");
    }
  }
  props_.set(key, value);
}

std::span<const Property> model_properties() { return kModel; }
std::span<const Property> train_properties() { return kTrain; }

bool ModelNode::stores_half_weights() const {
  return half_tensors(props_.choice("model_tensor_type"))->weights;
}

NetworkSettings ModelNode::settings() const {
  NetworkSettings settings;
  settings.training = mode_ == ml::train::ExecutionMode::TRAIN;
  settings.loss = props_.choice("loss");
  for (const Connection& from : props_.connections("input_layers"))
    settings.input_layers.push_back(from.layer);
  settings.label_layers = props_.names("label_layers");
  return settings;
}

std::vector<std::string> ModelNode::training_settings() const {
  std::vector<std::string> values;
  for (const char* key : {"batch_size", "threads", "memory_budget", "micro_batches", "memory_swap",
                          "memory_swap_path", "fsu", "fsu_path", "model_tensor_type", "loss_scale",
                          "clip_grad_by_norm"})
    values.push_back(props_.choice(key));
  return values;
}

TrainerOptions ModelNode::trainer_options() const {
  TrainerOptions options;
  if (optimizer_) {
    options.optimizer = optimizer_->optimizer();
    options.schedule = optimizer_->schedule();
    const bool is_limited = props_.given("clip_grad_by_norm");
    const Limits limits = is_limited ? Limits() : limits_of(nodes_);
    options.groups = groups_of(*weights_, optimizer_->decouples_decay(), limits);
    // With limits of layers, each group says its own.
    const double limit = limits.empty() ? limit_of(props_) : 1.0;
    if (limit > 0.0) options.clip = GradientClip::by_global_norm(limit);
  }
  if (half_tensors(props_.choice("model_tensor_type"))->activations) {
    options.precision = DType::f16;
    if (props_.given("loss_scale")) options.loss_scaling.initial = props_.real("loss_scale");
  } else if (props_.real("loss_scale") != 1.0) {
    throw std::invalid_argument(
        "[model] loss_scale is for activations of FP16: model_tensor_type=FP32-FP16");
  }
  options.batch = batch_size();
  options.threads = static_cast<int>(props_.count("threads"));
  if (props_.given("memory_budget"))
    options.memory_budget = bytes_of(props_.choice("memory_budget"));
  options.micro_batches = micro_batches_of(props_.choice("micro_batches"));
  options.swap = Swap::never;
  if (const auto folder = swap_dir_of(props_)) {
    options.swap = Swap::automatic;
    options.swap_dir = *folder;
    if (options.memory_budget == 0) {
      // What can be had with a swap file at the least.
      options.swap = Swap::always;
      options.memory_budget = 1;
      options.memory_budget = plan_training(network_.graph, options).nearest_feasible_bytes;
    }
  }
  return options;
}

}  // namespace thimble::ml_train
