// Any bytes as an INI model of NNTrainer: a network in order, or std::invalid_argument. A small one
// becomes a graph; its training is planned, and takes a step on zeros.
#include <thimble/data.h>
#include <thimble/error.h>
#include <thimble/trainer.h>

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ml_train/ini_model.h"
#include "ml_train/network.h"

namespace {

using namespace thimble;
using namespace thimble::ml_train;

constexpr int64_t kBatch = 2;

// Whether all whole numbers of the text are small.
bool has_small_numbers(std::string_view text) {
  constexpr int kMost = 16;
  int number = 0;
  for (const char c : text) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    number = is_digit ? 10 * number + (c - '0') : 0;
    if (number > kMost) return false;
  }
  return true;
}

// Whether sizes stay small from layer to layer.
bool is_small(const std::vector<Node>& nodes) {
  constexpr size_t kMostLayers = 16;
  int growing = 0;
  for (const Node& node : nodes) {
    const std::string type = node.layer->getType();
    if (type == "upsample2d" || type == "conv2dtranspose") ++growing;
    for (const auto& [key, value] : node.layer->props().given()) {
      if (key != "name" && key != "input_layers" && !has_small_numbers(value)) return false;
    }
  }
  return nodes.size() <= kMostLayers && growing <= 1;
}

data::Dataset zeros_for(const BuiltNetwork& network) {
  std::vector<data::Field> fields;
  std::vector<data::Values> values;
  const auto add = [&](const std::vector<Port>& ports, bool is_label) {
    for (const Port& port : ports) {
      const auto& [c, h, w] = port.dim;
      fields.push_back({port.name, {c, h, w}, DType::f32, is_label});
      values.push_back(Array(DType::f32, {kBatch, c, h, w}));
    }
  };
  add(network.inputs, false);
  add(network.labels, true);
  return data::in_memory(std::move(fields), std::move(values));
}

// Throws Error as a training does, such as of a network without parameters.
void take_step(const IniModel& model, const BuiltNetwork& network) {
  constexpr int64_t kMostBytes = int64_t{1} << 22;
  TrainerOptions options{.batch = kBatch, .threads = 1};
  options.swap = Swap::never;
  if (model.optimizer) options.optimizer = model.optimizer->optimizer();
  const Plan plan = plan_training(network.graph, options);
  if (!plan.fits || plan.planned_peak_bytes > kMostBytes) return;
  static_cast<void>(Trainer(network.graph, options).step(zeros_for(network)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 4096) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    IniModel model = read_ini_model(text, "m.ini", "/nowhere");
    for (const auto& layer : model.layers) layer->set_name(layer->props().choice("name"));
    const NetworkSettings settings{.loss = "mse"};
    const std::vector<Node> nodes = make_network(model.layers, settings);
    if (!is_small(nodes)) return 0;
    const BuiltNetwork network = build_network(nodes, settings, std::make_shared<WeightStore>());
    if (network.has_loss) take_step(model, network);
  } catch (const std::invalid_argument&) {
  } catch (const Error&) {
  }
  return 0;
}
