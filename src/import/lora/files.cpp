// The files of PEFT.
#include <fmt/format.h>
#include <thimble/lora.h>

#include <cmath>
#include <filesystem>

#include "import/hugging_face/config.h"
#include "import/lora/adapters.h"
#include "io/atomic_file.h"
#include "io/safetensors/safetensors.h"
#include "ir/element.h"

namespace thimble {
namespace {

constexpr const char* kAdapterWeights = "adapter_model.safetensors";
constexpr const char* kAdapterConfig = "adapter_config.json";
constexpr std::string_view kPeftPrefix = "base_model.model.";
constexpr size_t kMostAdapterConfig = size_t{1} << 24;

std::string in_folder(const std::string& folder, const char* name) {
  return (std::filesystem::path(folder) / name).string();
}

nlohmann::json config_of(const std::map<std::string, importer::lora::Adapter>& adapters,
                         int64_t rank, double alpha) {
  std::vector<std::string> names;
  bool in_out = false;
  for (const auto& [name, adapter] : adapters) {
    names.push_back(name);
    in_out = in_out || adapter.layer.in_out;
  }
  return {{"peft_type", "LORA"},
          {"r", rank},
          {"lora_alpha", alpha},
          {"lora_dropout", 0.0},
          {"target_modules", names},
          {"fan_in_fan_out", in_out},
          {"bias", "none"},
          {"task_type", nullptr},
          {"modules_to_save", nullptr},
          {"base_model_name_or_path", nullptr},
          {"inference_mode", true},
          {"init_lora_weights", true}};
}

// The factor of what adapters add, from the settings of a folder.
LoraOptions options_of(const importer::hugging_face::Config& config) {
  if (config.text({"peft_type"}) != "LORA") {
    config.fail("peft_type", "thimble reads adapters of the kind LORA alone");
  }
  config.only("bias", "none");
  for (const char* const field : {"use_dora", "lora_bias", "use_qalora"}) config.only(field, false);
  for (const char* const field : {"rank_pattern", "alpha_pattern"}) {
    config.only(field, nlohmann::json::object());
  }
  config.only("modules_to_save", nlohmann::json::array());
  LoraOptions options{.rank = config.size({"r"}), .alpha = config.number({"lora_alpha"}, 8.0)};
  if (config.flag("use_rslora", false))
    options.alpha *= std::sqrt(static_cast<double>(options.rank));
  return options;
}

// The layer of a tensor, where its name ends so.
std::string layer_of_tensor(const std::string& tensor, std::string_view end) {
  std::string_view name = tensor;
  if (!name.starts_with(kPeftPrefix) || !name.ends_with(end)) return "";
  name.remove_prefix(kPeftPrefix.size());
  name.remove_suffix(end.size());
  return std::string(name);
}

}  // namespace

void save_lora(const Graph& graph, const std::string& folder) {
  const ir::Graph& model = graph.ir();
  const auto adapters = importer::lora::adapters_of(model);
  std::vector<io::TensorView> views;
  const int64_t rank = model.type(adapters.begin()->second.down).shape[0];
  const float scale = model.data(adapters.begin()->second.scale).data->floats().at(0);
  for (const auto& [name, adapter] : adapters) {
    const bool is_same = model.type(adapter.down).shape[0] == rank &&
                         model.data(adapter.scale).data->floats().at(0) == scale;
    if (!is_same) throw Error("lora", "adapters of several ranks or alphas cannot be one folder");
    for (const int id : {adapter.down, adapter.up}) {
      const Array& values = importer::lora::values_of(model, id);
      views.push_back({.name = std::string(kPeftPrefix) + *model.data(id).name,
                       .dtype = values.dtype(),
                       .shape = values.shape(),
                       .bytes = values.bytes()});
    }
  }
  io::make_directories(folder);
  io::write_safetensors(in_folder(folder, kAdapterWeights), views, {{"format", "pt"}});
  const double alpha = static_cast<double>(scale) * static_cast<double>(rank);
  io::AtomicFile file(in_folder(folder, kAdapterConfig));
  file.write(config_of(adapters, rank, alpha).dump(2) + "\n");
  file.commit();
}

Graph load_lora(const Graph& graph, const std::string& folder) {
  const std::string config_file = in_folder(folder, kAdapterConfig);
  const importer::hugging_face::Config config(config_file,
                                              io::read_file(config_file, kMostAdapterConfig));
  return importer::lora::with_adapters_of(
      graph, config, io::Safetensors::read(in_folder(folder, kAdapterWeights)));
}

Graph importer::lora::with_adapters_of(const Graph& graph, const hugging_face::Config& config,
                                       const io::Safetensors& file) {
  LoraOptions options = options_of(config);
  for (const io::TensorView& tensor : file.tensors()) {
    const std::string layer = layer_of_tensor(tensor.name, importer::lora::kUp);
    const std::string down = layer_of_tensor(tensor.name, importer::lora::kDown);
    if (!layer.empty()) options.targets.push_back(layer);
    const bool has_up = file.find(std::string(kPeftPrefix) + down + importer::lora::kUp) != nullptr;
    if (layer.empty() && (down.empty() || !has_up)) {
      throw Error(file.name(), fmt::format("the tensor {} belongs to no adapter", tensor.name));
    }
  }
  Graph made = add_lora(graph, options);
  for (ir::ValueData& data : made.ir().values) {
    if (data.producer >= 0 || data.role != ir::Role::parameter || !data.trainable) continue;
    const io::TensorView* const tensor = file.find(std::string(kPeftPrefix) + *data.name);
    if (tensor == nullptr || tensor->shape != data.type.shape || !is_floating(tensor->dtype)) {
      throw Error(file.name(), fmt::format("expected a tensor {}{} of floating-point numbers, {}",
                                           kPeftPrefix, *data.name, to_string(data.type.shape)));
    }
    std::vector<float> values(static_cast<size_t>(tensor->shape.elements()));
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(element_load_real(
          tensor->bytes.data(), static_cast<int>(tensor->dtype), static_cast<int64_t>(i)));
    }
    data.data = Array(std::move(values), tensor->shape);
  }
  return made;
}

}  // namespace thimble
