// Files of whole models: INI files, and what others read.
#include <nntrainer_error.h>
#include <thimble/error.h>
#include <thimble/export.h>
#include <thimble/import.h>
#include <thimble/insert.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "ml_train/ini.h"
#include "ml_train/ini_model.h"
#include "ml_train/model_node.h"

namespace thimble::ml_train {

using ml::train::DatasetModeType;

void ModelNode::load_ini(const std::string& path) {
  if (compiled_) throw std::runtime_error("[" + path + "] is loaded before compile");
  if (loaded_) throw std::runtime_error("[" + path + "] the model was loaded from a file already");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::invalid_argument("[" + path + "] cannot be read");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  IniModel ini = read_ini_model(text, path, std::filesystem::path(path).parent_path().string());
  for (const auto& [key, value] : ini.properties) set_property(key, value);
  if (ini.optimizer) optimizer_ = ini.optimizer;
  for (auto& [mode, dataset] : ini.datasets) datasets_[mode] = dataset;
  for (auto& layer : ini.layers) add(std::move(layer));
  loaded_ = true;
}

// The inputs of an ONNX model, and the model as one layer.
void ModelNode::load_onnx(const std::string& path) {
  if (compiled_) throw std::runtime_error("[" + path + "] is loaded before compile");
  if (loaded_) throw std::runtime_error("[" + path + "] the model was loaded from a file already");
  try {
    std::vector<Connection> inputs;
    for (const ModelInput& input : model_inputs(import_onnx(path))) {
      std::shared_ptr<LayerNode> layer =
          make_layer("input", {"input_shape=" + to_string(dim_of_sample(input.sample))});
      add(layer);
      inputs.push_back({layer->getName(), 0});
    }
    std::shared_ptr<LayerNode> layer = make_layer("backbone_onnx", {});
    layer->props().set("model_path", path);
    layer->props().set("input_layers", to_string(inputs));
    add(std::move(layer));
    props_.set("input_layers", to_string(inputs));  // in the model's order
  } catch (const Error& error) {
    throw std::invalid_argument(error.what());
  }
  loaded_ = true;
}

int ModelNode::loadFromConfig(const std::string& path) {
  try {
    const std::string ending = lower(std::filesystem::path(path).extension().string());
    if (ending != ".ini" && ending != ".onnx") {
      return failed(ML_ERROR_INVALID_PARAMETER, path + ": only INI and ONNX files are read here");
    }
    ending == ".ini" ? load_ini(path) : load_onnx(path);
    return ML_ERROR_NONE;
  } catch (const std::exception& error) {
    return failed(ML_ERROR_INVALID_PARAMETER, error.what());
  }
}

namespace {

std::vector<std::pair<std::string, std::string>> pairs_of(
    const PropertySet& props, std::initializer_list<const char*> left_out) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& pair : props.given()) {
    if (std::none_of(left_out.begin(), left_out.end(),
                     [&](const char* other) { return pair.first == other; }))
      pairs.emplace_back(pair);
  }
  return pairs;
}

IniSection section_of(const Node& node) {
  IniSection section{node.name(), {{"type", node.layer->getType()}}};
  if (!node.inputs.empty()) section.keys.emplace_back("input_layers", to_string(node.inputs));
  const bool is_activation = node.layer->getType() == "activation";
  for (auto& pair : pairs_of(node.layer->props(), {"name", "input_layers", "flatten"})) {
    // The activation of another layer is a layer of its own by now.
    if (pair.first != "activation" || is_activation) section.keys.push_back(std::move(pair));
  }
  std::sort(section.keys.begin(), section.keys.end());
  return section;
}

}  // namespace

std::string ModelNode::ini_text(const std::string& weights_path) const {
  std::vector<IniSection> sections{{"model", {{"type", "NeuralNetwork"}}}};
  auto& model = sections.back().keys;
  for (auto& pair : pairs_of(props_, {"save_path"})) model.push_back(std::move(pair));
  const std::string own = props_.choice("save_path");
  const std::string saved = !weights_path.empty() ? weights_path
                            : own.empty()         ? own
                                                  : std::filesystem::absolute(own).string();
  if (!saved.empty()) model.emplace_back("save_path", saved);
  std::sort(model.begin(), model.end());
  if (optimizer_) {
    sections.push_back({"optimizer", {{"type", optimizer_->getType()}}});
    for (auto& pair : pairs_of(optimizer_->props(), {})) sections.back().keys.push_back(pair);
    if (const SchedulerNode* schedule = optimizer_->scheduler()) {
      sections.push_back({"learningratescheduler", {{"type", schedule->getType()}}});
      for (auto& pair : pairs_of(schedule->props(), {})) sections.back().keys.push_back(pair);
    }
  }
  constexpr std::pair<DatasetModeType, const char*> kSets[] = {
      {DatasetModeType::MODE_TRAIN, "train_set"},
      {DatasetModeType::MODE_VALID, "valid_set"},
      {DatasetModeType::MODE_TEST, "test_set"}};
  for (const auto& [mode, name] : kSets) {
    const std::shared_ptr<DatasetNode> data = dataset(mode);
    if (!data || !data->is_file()) continue;
    sections.push_back({name, {{"type", "file"}}});
    for (auto& pair : pairs_of(data->props(), {})) sections.back().keys.push_back(pair);
  }
  NetworkSettings plain = settings();
  plain.training = false;  // the loss is a key of the model
  for (const Node& node : make_network(layers_, plain)) sections.push_back(section_of(node));
  return to_text(sections);
}

void ModelNode::save(const std::string& path, ml::train::ModelFormat format) {
  using ml::train::ModelFormat;
  require_initialized("save");
  if (format == ModelFormat::MODEL_FORMAT_BIN) return save_bin(path);
  const bool with_bin = format == ModelFormat::MODEL_FORMAT_INI_WITH_BIN;
  if (format != ModelFormat::MODEL_FORMAT_INI && !with_bin) {
    throw nntrainer::exception::not_supported("[" + path + "] save writes BIN and INI alone");
  }
  if (std::filesystem::exists(path)) {
    throw std::invalid_argument("[" + path + "] is there already");
  }
  const std::string weights =
      with_bin ? std::filesystem::path(path).replace_extension(".bin").string() : std::string();
  if (with_bin) save_bin(weights);
  std::ofstream file(path, std::ios::binary);
  // Paths of an INI file are relative to its folder.
  file << ini_text(std::filesystem::path(weights).filename().string());
  file.close();
  if (!file) throw std::invalid_argument("[" + path + "] cannot be written");
}

void ModelNode::load(const std::string& path, ml::train::ModelFormat format) {
  using ml::train::ModelFormat;
  if (format == ModelFormat::MODEL_FORMAT_BIN) {
    require_initialized("load");
    return load_bin(path);
  }
  if (format == ModelFormat::MODEL_FORMAT_ONNX) return load_onnx(path);
  const bool with_bin = format == ModelFormat::MODEL_FORMAT_INI_WITH_BIN;
  if (format != ModelFormat::MODEL_FORMAT_INI && !with_bin) {
    throw nntrainer::exception::not_supported("[" + path + "] load reads BIN, INI and ONNX alone");
  }
  load_ini(path);
  if (!with_bin || !props_.given("save_path")) return;
  weights_path_ = props_.choice("save_path");
  if (!std::filesystem::exists(weights_path_)) {
    throw std::invalid_argument("[" + path + "] its save_path " + weights_path_ + " is not there");
  }
}

void ModelNode::exports(const ml::train::ExportMethods& method, const std::string path) {
  if (method != ml::train::ExportMethods::METHOD_TFLITE) {
    throw nntrainer::exception::not_supported("[" + path + "] exports writes METHOD_TFLITE alone");
  }
  require_initialized("exports");
  NetworkSettings images = settings();
  images.channels_last = true;
  export_tflite(network_with_weights(images).graph, path);
}

}  // namespace thimble::ml_train
