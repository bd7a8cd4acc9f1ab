#include "ml_train/ini_model.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

#include "ml_train/ini.h"

namespace thimble::ml_train {
namespace {

using ml::train::DatasetModeType;

constexpr int kDeepestBackbone = 8;
constexpr size_t kMostLayers = 65536;

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::invalid_argument("[" + path + "] cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string pair_text(const std::string& key, const std::string& value) {
  return key + "=" + value;
}

std::string beside(const std::string& folder, const std::string& path) {
  const std::filesystem::path given(path);
  return given.is_absolute() || folder.empty() ? path
                                               : (std::filesystem::path(folder) / given).string();
}

class IniReader {
 public:
  IniReader(std::string where, std::string folder, int depth)
      : where_(std::move(where)), folder_(std::move(folder)), depth_(depth) {}

  IniModel read(std::string_view text) {
    const std::vector<IniSection> sections = parse_ini(text, where_);
    const auto has_model = [](const IniSection& s) { return lower(s.name) == "model"; };
    if (std::none_of(sections.begin(), sections.end(), has_model) && depth_ == 0) {
      throw std::invalid_argument("[" + where_ + "] the section [Model] is missing");
    }
    for (const IniSection& section : sections) {
      try {
        read_section(section);
      } catch (const std::invalid_argument& error) {
        throw std::invalid_argument("[" + where_ + "] section [" + section.name +
                                    "]: " + error.what());
      }
    }
    if (scheduler_ && model_.optimizer) model_.optimizer->setLearningRateScheduler(scheduler_);
    return std::move(model_);
  }

 private:
  void read_section(const IniSection& section) {
    const std::string name = lower(section.name);
    if (name == "model") {
      read_model(section);
    } else if (name == "optimizer") {
      set_optimizer(type_of(section, "adam"), all_but(section, {"type"}));
    } else if (name == "learningratescheduler") {
      scheduler_ =
          std::make_shared<SchedulerNode>(type_of(section, nullptr), all_but(section, {"type"}));
    } else if (name == "train_set") {
      add_file(DatasetModeType::MODE_TRAIN, section);
    } else if (name == "valid_set" || name == "validation_set") {
      add_file(DatasetModeType::MODE_VALID, section);
    } else if (name == "test_set") {
      add_file(DatasetModeType::MODE_TEST, section);
    } else if (name == "dataset") {
      read_old_dataset(section);
    } else if (const std::string* file = section.find("backbone")) {
      read_backbone(section, *file);
    } else {
      std::shared_ptr<LayerNode> layer =
          make_layer(type_of(section, nullptr), all_but(section, {"type"}));
      layer->props().set("name", section.name);
      model_.layers.push_back(std::move(layer));
    }
  }

  static std::string type_of(const IniSection& section, const char* fallback) {
    const std::string* const type = section.find("type");
    if (type == nullptr && fallback == nullptr) {
      throw std::invalid_argument("the key Type is missing");
    }
    return type == nullptr ? fallback : *type;
  }

  static std::vector<std::string> all_but(const IniSection& section,
                                          const std::set<std::string>& left_out) {
    std::vector<std::string> pairs;
    for (const auto& [key, value] : section.keys) {
      if (!left_out.contains(key)) pairs.push_back(pair_text(key, value));
    }
    return pairs;
  }

  void read_model(const IniSection& section) {
    static const std::set<std::string> of_optimizer = {"learning_rate", "decay_rate", "decay_steps",
                                                       "beta1",         "beta2",      "epsilon"};
    std::vector<std::string> rates;
    for (const auto& [key, value] : section.keys) {
      if (key == "type" || key == "tensor_type" || key == "tensor_format" || key == "optimizer") {
        continue;
      }
      if (of_optimizer.contains(key)) {
        rates.push_back(pair_text(key, value));
      } else {
        model_.properties.emplace_back(key, key == "save_path" ? beside(folder_, value) : value);
      }
    }
    if (const std::string* type = section.find("optimizer")) set_optimizer(*type, rates);
  }

  void set_optimizer(const std::string& type, const std::vector<std::string>& properties) {
    if (model_.optimizer) throw std::invalid_argument("there are two optimizers");
    model_.optimizer = std::make_shared<OptimizerNode>(type, properties);
  }

  void add_file(DatasetModeType mode, const IniSection& section) {
    if (lower(type_of(section, "file")) != "file") {
      throw std::invalid_argument("only type = file is offered in INI files");
    }
    model_.datasets.emplace_back(
        mode, std::make_shared<DatasetNode>(std::string(), all_but(section, {"type"})));
  }

  void read_old_dataset(const IniSection& section) {
    std::string buffers;
    for (const auto& [key, value] : section.keys) {
      if (key == "buffersize" || key == "buffer_size") buffers = "buffer_size=" + value;
    }
    const auto add = [&](const char* key, DatasetModeType mode) {
      const std::string* const path = section.find(key);
      if (path == nullptr) return;
      std::vector<std::string> properties;
      if (!buffers.empty()) properties.push_back(buffers);
      model_.datasets.emplace_back(
          mode, std::make_shared<DatasetNode>(beside(folder_, *path), properties));
    };
    if (section.find("traindata") == nullptr) {
      throw std::invalid_argument("the key TrainData is missing");
    }
    for (const auto& [key, value] : section.keys) {
      static const std::set<std::string> known = {
          "traindata", "validdata", "testdata", "buffersize", "buffer_size", "labeldata", "type"};
      if (!known.contains(key)) throw std::invalid_argument("there is no key " + key);
    }
    add("traindata", DatasetModeType::MODE_TRAIN);
    add("validdata", DatasetModeType::MODE_VALID);
    add("testdata", DatasetModeType::MODE_TEST);
  }

  // The layers of another file, their names unchanged.
  void read_backbone(const IniSection& section, const std::string& file) {
    if (depth_ == kDeepestBackbone) throw std::invalid_argument("backbones are nested too deeply");
    const std::string path = beside(folder_, file);
    for (const char* type : {"tflite", "onnx"}) {
      if (!lower(file).ends_with("." + std::string(type))) continue;
      std::vector<std::string> properties = all_but(section, {"backbone", "trainable"});
      properties.push_back(pair_text("name", section.name));
      properties.push_back(pair_text("model_path", path));
      model_.layers.push_back(make_layer(std::string("backbone_") + type, properties));
      return;
    }
    if (!lower(file).ends_with(".ini")) {
      throw std::invalid_argument("backbone=" + file +
                                  ": only INI, TensorFlow Lite and ONNX files are offered");
    }
    IniModel backbone =
        IniReader(path, std::filesystem::path(path).parent_path().string(), depth_ + 1)
            .read(read_text(path));
    const std::string* const trainable = section.find("trainable");
    for (auto& layer : backbone.layers) {
      if (trainable != nullptr) layer->props().set("trainable", *trainable);
      model_.layers.push_back(std::move(layer));
    }
    if (model_.layers.size() > kMostLayers) {
      throw std::invalid_argument("the backbones have more than " + std::to_string(kMostLayers) +
                                  " layers");
    }
  }

  std::string where_;
  std::string folder_;
  int depth_;
  IniModel model_;
  std::shared_ptr<SchedulerNode> scheduler_;
};

}  // namespace

IniModel read_ini_model(std::string_view text, const std::string& where,
                        const std::string& folder) {
  return IniReader(where, folder, 0).read(text);
}

}  // namespace thimble::ml_train
