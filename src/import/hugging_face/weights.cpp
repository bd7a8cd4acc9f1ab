#include "import/hugging_face/weights.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <filesystem>

#include "io/atomic_file.h"
#include "io/json/parse.h"
#include "ir/element.h"

namespace thimble::importer::hugging_face {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMostIndexBytes = size_t{1} << 26;
constexpr const char* kSingle = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

std::string index_of(const std::string& folder) { return (fs::path(folder) / kIndex).string(); }

// A file that the index names. It lies in the same folder; it may be a symbolic link, as folders of
// the hub's cache hold nothing else.
std::string shard_path(const std::string& index, const std::string& name) {
  const bool is_plain =
      !name.empty() && name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
  if (!is_plain || name == "." || name == "..") {
    throw Error(index, fmt::format("weight_map: {} is no name of a file in the folder",
                                   io::printable(name)));
  }
  return (fs::path(index).parent_path() / name).string();
}

bool is_single(const std::string& folder) {
  std::error_code error;
  if (fs::exists(fs::path(folder) / kSingle, error)) return true;
  if (fs::exists(index_of(folder), error)) return false;
  throw Error(folder, fmt::format("has neither {} nor {}: thimble reads no other files with "
                                  "weights; save the model as safetensors",
                                  kSingle, kIndex));
}

// The oldest checkpoints of BERT call weight and bias of a layer norm gamma and beta.
std::string new_name(const std::string& name) {
  for (const auto& [old, now] : {std::pair("LayerNorm.gamma", "LayerNorm.weight"),
                                 std::pair("LayerNorm.beta", "LayerNorm.bias")}) {
    const std::string_view end = old;
    if (name.ends_with(end)) return name.substr(0, name.size() - end.size()) + now;
  }
  return name;
}

// [K, C, R, S] to [K, R, S, C].
std::vector<float> channels_last(const std::vector<float>& from, const Shape& s) {
  std::vector<float> to(from.size());
  const int64_t area = s[2] * s[3];
  size_t next = 0;
  for (int64_t k = 0; k < s[0]; ++k) {
    for (int64_t at = 0; at < area; ++at) {
      for (int64_t c = 0; c < s[1]; ++c) {
        to[next++] = from[static_cast<size_t>((k * s[1] + c) * area + at)];
      }
    }
  }
  return to;
}

}  // namespace

WeightMap read_index(const std::string& file, std::string_view text) {
  const nlohmann::json index = io::parse_json({.file = file}, text, 8);
  const auto map = index.is_object() ? index.find("weight_map") : index.end();
  if (!index.is_object() || map == index.end() || !map->is_object()) {
    throw Error(file, "weight_map: expected an object");
  }
  WeightMap files;
  for (const auto& [tensor, shard] : map->items()) {
    if (!shard.is_string()) {
      throw Error(file, fmt::format("weight_map: expected the name of a file, got {}",
                                    io::printable(shard)));
    }
    files[shard.get<std::string>()].push_back(tensor);
  }
  return files;
}

std::vector<std::string> weight_files(const std::string& folder) {
  if (is_single(folder)) return {(fs::path(folder) / kSingle).string()};
  const std::string index = index_of(folder);
  std::vector<std::string> files;
  for (const auto& [shard, tensors] : read_index(index, io::read_file(index, kMostIndexBytes))) {
    files.push_back(shard_path(index, shard));
  }
  return files;
}

Weights::Weights(std::vector<io::Safetensors> files) : files_(std::move(files)) {
  for (const io::Safetensors& file : files_) {
    place_ = file.name();
    for (const io::TensorView& view : file.tensors()) {
      const auto [known, is_new] = tensors_.emplace(new_name(view.name), Tensor{&file, &view});
      if (!is_new) {
        throw Error(file.name(), fmt::format("the tensor {} stands in {}, too", view.name,
                                             known->second.file->name()));
      }
    }
  }
}

Weights Weights::open(const std::string& folder) {
  std::vector<io::Safetensors> files;
  if (is_single(folder)) {
    files.push_back(io::Safetensors::open((fs::path(folder) / kSingle).string()));
    return Weights(std::move(files));
  }
  const std::string index = index_of(folder);
  const WeightMap map = read_index(index, io::read_file(index, kMostIndexBytes));
  for (const auto& [shard, tensors] : map) {
    files.push_back(io::Safetensors::open(shard_path(index, shard)));
    for (const std::string& tensor : tensors) {
      if (files.back().find(tensor) == nullptr) {
        throw Error(index, fmt::format("the tensor {} is not in {}, where it should be", tensor,
                                       files.back().name()));
      }
    }
  }
  Weights weights(std::move(files));
  weights.place_ = index;
  return weights;
}

Weights::Tensors::const_iterator Weights::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found != tensors_.end() || trunk_.empty()) return found;
  return name.starts_with(trunk_) ? tensors_.find(name.substr(trunk_.size()))
                                  : tensors_.find(trunk_ + name);
}

const Weights::Tensors::value_type& Weights::at(const std::string& name) const {
  const auto found = find(name);
  if (found == tensors_.end()) {
    throw Error(place_, fmt::format("the tensor {} is missing, which config.json asks for", name));
  }
  return *found;
}

const Shape& Weights::shape(const std::string& name) const { return at(name).second.view->shape; }

Array Weights::take(const std::string& name, const Shape& shape) {
  const auto& [name_in_file, tensor] = at(name);
  const auto& [file, view] = tensor;
  if (!is_floating(view->dtype)) {
    throw Error(file->name(), fmt::format("the tensor {} is {}; weights are floating-point numbers",
                                          name, to_string(view->dtype)));
  }
  const Shape& own = view->shape;
  const bool is_image = own.rank() == 4;
  const Shape ours = is_image ? Shape{own[0], own[2], own[3], own[1]} : own;
  if (ours != shape) {
    throw Error(file->name(), fmt::format("the tensor {} is {}, config.json asks for {}", name,
                                          to_string(ours), to_string(shape)));
  }
  std::vector<float> values(static_cast<size_t>(own.elements()));
  const auto type = static_cast<int>(view->dtype);
  size_t next = 0;
  file->scan(*view, [&, dtype = view->dtype](size_t, std::span<const std::byte> part) {
    const auto count = static_cast<int64_t>(8 * part.size()) / bits(dtype);
    for (int64_t i = 0; i < count; ++i) {
      values[next++] = static_cast<float>(element_load_real(part.data(), type, i));
    }
  });
  taken_.insert(name_in_file);
  if (is_image) values = channels_last(values, own);
  return Array(std::move(values), ours);
}

void Weights::require_all_taken(const std::vector<std::string>& ignored) const {
  for (const auto& [name, tensor] : tensors_) {
    const auto ends_name = [&name = name](const std::string& end) { return name.ends_with(end); };
    if (taken_.count(name) > 0 || std::any_of(ignored.begin(), ignored.end(), ends_name)) continue;
    throw Error(tensor.file->name(),
                fmt::format("the tensor {} belongs to nothing that config.json describes and "
                            "thimble knows",
                            name));
  }
}

}  // namespace thimble::importer::hugging_face
