#include "train/setting_texts.h"

#include <fmt/format.h>

#include <cstdlib>

#include "train/checked_tensors.h"
#include "train/scheme.h"

namespace thimble::train {
namespace {

std::string text_of(const GradientClip& clip) {
  switch (clip.kind) {
    case GradientClip::Kind::none:
      break;
    case GradientClip::Kind::value:
      return fmt::format("value {}", clip.limit);
    case GradientClip::Kind::tensor_norm:
      return fmt::format("tensor_norm {}", clip.limit);
    case GradientClip::Kind::global_norm:
      return fmt::format("global_norm {}", clip.limit);
  }
  return "none";
}

std::string text_of(const std::vector<ParamGroup>& groups) {
  std::string text;
  for (const ParamGroup& group : groups) {
    text += fmt::format("{}{}", text.empty() ? "" : "; ", group.pattern);
    if (group.frozen) text += " frozen";
    if (group.lr_scale != 1.0) text += fmt::format(" lr_scale={}", group.lr_scale);
    if (group.weight_decay) text += fmt::format(" weight_decay={}", *group.weight_decay);
    if (group.l1 != 0.0) text += fmt::format(" l1={}", group.l1);
    if (group.l2 != 0.0) text += fmt::format(" l2={}", group.l2);
    if (group.clip_limit) text += fmt::format(" clip_limit={}", *group.clip_limit);
  }
  return text.empty() ? "none" : text;
}

std::string text_of(const std::vector<Objective>& objectives) {
  std::string text;
  for (const Objective& objective : objectives) {
    text +=
        fmt::format("{}{} by {}", text.empty() ? "" : "; ", objective.parameters, objective.loss);
    if (objective.optimizer) text += " with " + objective.optimizer->text();
  }
  return text.empty() ? "none" : text;
}

// The present scale is state; its first value does not matter any more.
std::string text_of(const LossScaling& scaling) {
  return fmt::format("times {} after {} updates, {} after a skipped one", scaling.growth,
                     scaling.interval, scaling.backoff);
}

}  // namespace

std::map<std::string, std::string> setting_texts(const TrainerOptions& options,
                                                 const Schedule& schedule) {
  return {{"batch_size", std::to_string(options.batch)},
          {"accumulate", std::to_string(options.accumulate)},
          {"optimizer", options.optimizer.text()},
          {"schedule", schedule.text()},
          {kAverageDecayKey, fmt::format("{:a}", options.ema_decay)},
          {"clip", text_of(options.clip)},
          {"groups", text_of(options.groups)},
          {"precision", to_string(options.precision)},
          {"loss_scaling",
           options.precision == DType::f16 ? text_of(options.loss_scaling) : std::string("none")},
          {"objectives", text_of(options.objectives)},
          {"saved_activations", to_string(options.saved_activations)},
          {kScalingKey, options.quantization_aware_scaling ? "on" : "off"},
          {kRoundingKey,
           options.integer_rounding == IntegerRounding::residual ? "residual" : "stochastic"},
          {kErrorTypeKey, to_string(options.error_type)}};
}

std::string name_of_setting(const std::string& key) {
  if (key == "batch_size") return "batch";
  if (key == "clip") return "clip (on the command line --clip-norm)";
  if (key == "groups") return "groups (on the command line --freeze)";
  if (key == kScalingKey) return "quantization_aware_scaling (on the command line --qas)";
  if (key == kSchemeKey) return "scheme (on the command line --scheme)";
  return key;
}

std::string readable_setting(const std::string& key, const std::string& text) {
  // Files have every bit of a number.
  return key == kAverageDecayKey ? fmt::format("{}", std::strtod(text.c_str(), nullptr)) : text;
}

}  // namespace thimble::train
