#include "train/scheme.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <thimble/error.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

#include "exec/memory.h"
#include "io/safetensors/safetensors.h"
#include "train/scheme_layers.h"

namespace thimble::train {
namespace {

constexpr const char* kWhere = "scheme";

// A parameter that a name stands for; axis: of its input channels, none: it has none.
struct Named {
  int id;
  std::optional<int> axis;
};

// The layers of a model by what schemes call them.
class Names {
 public:
  explicit Names(const ir::Graph& model) : model_(model), layers_(layers_of(model)) {}

  // The weights of a layer, or the parameter of that name. Throws Error.
  [[nodiscard]] std::vector<Named> find(const std::string& name) const {
    for (const SchemeLayer& layer : layers_) {
      if (layer.name != name || name.empty()) continue;
      if (layer.weights.empty()) {
        throw Error(kWhere, fmt::format("the layer \"{}\" has no weights; bias_last trains biases, "
                                        "or name its bias, \"{}\"",
                                        name, model_.data(layer.biases[0]).name));
      }
      std::vector<Named> found;
      for (const int id : layer.weights) found.push_back(named(layer, id));
      return found;
    }
    for (const SchemeLayer& layer : layers_) {
      for (const auto* const ids : {&layer.weights, &layer.biases}) {
        for (const int id : *ids) {
          if (model_.data(id).name == name) return {named(layer, id)};
        }
      }
    }
    refuse(name);
  }

  // The biases of the last layers that have any. Throws Error where there are not so many.
  [[nodiscard]] std::vector<int> last_biases(int64_t count) const {
    std::vector<int> found;
    int64_t left = count;
    for (auto layer = layers_.rbegin(); layer != layers_.rend() && left > 0; ++layer) {
      if (layer->biases.empty()) continue;
      found.insert(found.end(), layer->biases.begin(), layer->biases.end());
      --left;
    }
    if (left <= 0) return found;
    throw Error(kWhere, fmt::format("bias_last is {}, but only {} layers of the model have a bias; "
                                    "write {} for all of them",
                                    count, count - left, count - left));
  }

 private:
  static Named named(const SchemeLayer& layer, int id) {
    const auto axis = layer.axes.find(id);
    return {id, axis == layer.axes.end() ? std::nullopt : std::optional(axis->second)};
  }

  [[noreturn]] void refuse(const std::string& name) const {
    for (const ir::Layer& layer : model_.layers) {
      if (layer.name != name) continue;
      throw Error(kWhere, fmt::format("the layer \"{}\" ({}) has no weights that can be trained; "
                                      "leave it out",
                                      name, layer.type));
    }
    std::vector<std::string> known;
    for (const SchemeLayer& layer : layers_) {
      if (!layer.name.empty()) known.push_back(layer.name);
      for (const auto* const ids : {&layer.weights, &layer.biases}) {
        for (const int id : *ids) known.push_back(*model_.data(id).name);
      }
    }
    const std::string nearest = nearest_name(name, known);
    if (nearest.empty()) throw Error(kWhere, "the model has no parameters that can be trained");
    throw Error(kWhere, fmt::format("the model has no layer \"{}\"; the nearest is \"{}\" (thimble "
                                    "summary lists all)",
                                    name, nearest));
  }

  const ir::Graph& model_;
  std::vector<SchemeLayer> layers_;
};

bool has_all_channels(const UpdateScheme::Part& part) {
  return part.channels.empty() && part.ratio == 1.0;
}

// The axis of the input channels of what a name stands for, of which some are to be trained.
int axis_of(const ir::Graph& model, const std::string& name, const Named& weight) {
  if (weight.axis) return *weight.axis;
  throw Error(kWhere,
              fmt::format("\"{}\" is to be trained in part, but {} has no input channels to "
                          "choose from; write 1 to train all of it",
                          name, model.data(weight.id).name));
}

ir::TrainedPart part_of(const ir::Graph& model, const std::string& name, const Named& weight,
                        const UpdateScheme::Part& wanted) {
  if (has_all_channels(wanted)) return {};
  const int axis = axis_of(model, name, weight);
  const int64_t count = model.type(weight.id).shape[axis];
  if (wanted.channels.empty()) {
    throw Error(kWhere,
                fmt::format("the channels of \"{}\" are not chosen yet (choose_channels)", name));
  }
  ir::TrainedPart part{axis, wanted.channels};
  std::sort(part.indices.begin(), part.indices.end());
  const auto twice = std::adjacent_find(part.indices.begin(), part.indices.end());
  if (twice != part.indices.end()) {
    throw Error(kWhere, fmt::format("\"{}\" names the channel {} twice", name, *twice));
  }
  for (const int64_t channel : {part.indices.front(), part.indices.back()}) {
    if (channel >= 0 && channel < count) continue;
    throw Error(kWhere, fmt::format("\"{}\" has {} input channels, 0 to {}, and no channel {}",
                                    name, count, count - 1, channel));
  }
  if (static_cast<int64_t>(part.indices.size()) == count) part.indices.clear();
  return part;
}

// The channels of the largest scores, rising. Of equal ones the first.
std::vector<int64_t> largest(const std::vector<double>& scores, int64_t count) {
  std::vector<int64_t> channels(scores.size());
  std::iota(channels.begin(), channels.end(), int64_t{0});
  std::stable_sort(channels.begin(), channels.end(), [&](int64_t a, int64_t b) {
    return scores[static_cast<size_t>(a)] > scores[static_cast<size_t>(b)];
  });
  channels.resize(static_cast<size_t>(count));
  std::sort(channels.begin(), channels.end());
  return channels;
}

int64_t count_of(const std::string& name, double ratio, int64_t channels) {
  // 1/3 of 3 channels is one, though 1/3 is a little less in binary.
  constexpr double kRounding = 1e-9;
  const auto count = static_cast<int64_t>(ratio * static_cast<double>(channels) + kRounding);
  if (count >= 1) return count;
  throw Error(kWhere, fmt::format("the ratio {} of \"{}\" gives no channel: it has {} input "
                                  "channels; write {} or more, or leave it out",
                                  ratio, name, channels, 1.0 / static_cast<double>(channels)));
}

}  // namespace

TrainedParameters trained_parameters(const ir::Graph& model, const UpdateScheme& scheme) {
  const Names names(model);
  TrainedParameters trained;
  for (const auto& [name, wanted] : scheme.weights) {
    const std::vector<Named> found = names.find(name);
    if (!wanted.channels.empty() && found.size() > 1) {
      std::vector<std::string> each;
      for (const Named& weight : found) each.push_back(*model.data(weight.id).name);
      throw Error(kWhere,
                  fmt::format("\"{}\" has several weights; list channels for one of them: {}", name,
                              fmt::join(each, ", ")));
    }
    for (const Named& weight : found) {
      const std::string& parameter = *model.data(weight.id).name;
      if (trained.emplace(parameter, part_of(model, name, weight, wanted)).second) continue;
      throw Error(kWhere,
                  fmt::format("{} stands there twice, by itself and in its layer", parameter));
    }
  }
  for (const int id : names.last_biases(scheme.bias_last))
    trained.try_emplace(*model.data(id).name);
  if (!trained.empty()) return trained;
  throw Error(kWhere, "names nothing to train; give it bias_last, weights or both");
}

bool has_ratios(const UpdateScheme& scheme) {
  return std::any_of(scheme.weights.begin(), scheme.weights.end(), [](const auto& each) {
    return each.second.channels.empty() && !has_all_channels(each.second);
  });
}

void mark_trained(const TrainedParameters& trained, ir::Graph& graph) {
  for (ir::ValueData& data : graph.values) {
    if (data.role != ir::Role::parameter || data.producer >= 0) continue;
    const auto found = trained.find(data.name);
    data.trainable = found != trained.end();
    if (data.trainable) data.trained_part = found->second;
  }
}

UpdateScheme with_channels(const ir::Graph& model, const UpdateScheme& scheme,
                           const ChannelScores& scores) {
  const Names names(model);
  UpdateScheme chosen;
  chosen.bias_last = scheme.bias_last;
  for (const auto& [name, wanted] : scheme.weights) {
    if (has_all_channels(wanted) || !wanted.channels.empty()) {
      chosen.weights.emplace(name, wanted);
      continue;
    }
    for (const Named& weight : names.find(name)) {
      const ir::ValueData& data = model.data(weight.id);
      const int axis = axis_of(model, name, weight);
      const int64_t count = count_of(name, wanted.ratio, data.type.shape[axis]);
      if (chosen.weights
              .emplace(data.name, UpdateScheme::Part{1.0, largest(scores(data, axis), count)})
              .second) {
        continue;
      }
      throw Error(kWhere,
                  fmt::format("{} stands there twice, by itself and in its layer", data.name));
    }
  }
  static_cast<void>(trained_parameters(model, chosen));
  return chosen;
}

namespace {

// The model's values of a weight, or its initial ones, as integers where it has a scale.
std::vector<float> values_of(const ir::ValueData& weight, uint64_t seed) {
  if (weight.data->elements() > 0) return weight.data->floats();
  std::vector<float> values(static_cast<size_t>(weight.type.shape.elements()));
  exec::fill_initial(weight.init, weight.name, seed, weight.type.shape, values.data());
  return values;
}

}  // namespace

ChannelScores magnitudes(uint64_t seed) {
  return [seed](const ir::ValueData& weight, int axis) {
    const std::vector<float> values = values_of(weight, seed);
    const Places along(weight.type.shape, axis);
    const Quantization* const q = weight.type.quantization.get();
    const bool by_channel = q != nullptr && q->axis;
    const Places scaled(weight.type.shape, by_channel ? *q->axis : axis);
    std::vector<double> sums(static_cast<size_t>(weight.type.shape[axis]));
    for (size_t i = 0; i < values.size(); ++i) {
      const double scale = by_channel ? static_cast<double>(q->scales[scaled.at(i)]) : 1.0;
      sums[along.at(i)] += std::abs(scale * static_cast<double>(values[i]));
    }
    return sums;
  };
}

UpdateScheme continued(const ir::Graph& model, const UpdateScheme& scheme,
                       const std::string& checkpoint) {
  const io::Safetensors file = io::Safetensors::open(checkpoint);
  const auto text = file.metadata().find(kSchemeKey);
  if (text == file.metadata().end() || text->second == kNoScheme) return scheme;
  const UpdateScheme saved = UpdateScheme::parse(text->second, checkpoint);
  const TrainedParameters there = trained_parameters(model, saved);
  const TrainedParameters here = trained_parameters(
      model, with_channels(model, scheme, [](const ir::ValueData& weight, int axis) {
        return std::vector<double>(static_cast<size_t>(weight.type.shape[axis]));
      }));
  std::set<std::string> listed;  // parameters whose channels the scheme itself names
  for (const auto& [name, part] : scheme.weights) {
    if (part.channels.empty()) continue;
    for (const auto& [parameter, indices] :
         trained_parameters(model, {.weights = {{name, part}}})) {
      listed.insert(parameter);
    }
  }
  const auto is_same = [&](const auto& a, const auto& b) {
    return a.first == b.first && a.second.axis == b.second.axis &&
           (listed.count(a.first) > 0 ? a.second.indices == b.second.indices
                                      : a.second.indices.size() == b.second.indices.size());
  };
  return std::equal(here.begin(), here.end(), there.begin(), there.end(), is_same) ? saved : scheme;
}

}  // namespace thimble::train
