#include "train/checked_tensors.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "ir/element.h"
#include "train/stored_tensor.h"

namespace thimble::train {
namespace {

// Compares the checksum, and rejects weights that are not finite: training must not continue from
// them.
void check_contents(const io::Safetensors& file, const io::TensorView& tensor) {
  std::optional<std::pair<size_t, double>> bad;  // the first element, and what it holds
  const int type = static_cast<int>(tensor.dtype);
  const auto width = static_cast<size_t>(bits(tensor.dtype) / 8);
  file.scan(tensor, [&](size_t offset, std::span<const std::byte> part) {
    if (!is_floating(tensor.dtype) || bad) return;
    for (size_t i = 0; i < part.size() / width; ++i) {
      const double value = element_load_real(part.data(), type, static_cast<std::ptrdiff_t>(i));
      if (std::isfinite(value)) continue;
      bad.emplace(offset / width + i, value);
      return;
    }
  });
  if (!bad) return;
  throw Error(file.name(),
              fmt::format("the tensor {} holds {} at element {}; take an earlier checkpoint",
                          tensor.name, bad->second, bad->first));
}

// Checkpoints without such metadata: where they keep averages, these are the tensors of this
// ending.
Averages averages_by_suffix(const io::Safetensors& file) {
  constexpr std::string_view kSuffix = ".ema";
  Averages averages;
  const auto decay = file.metadata().find(kAverageDecayKey);
  const bool keeps_averages =
      decay != file.metadata().end() && std::strtod(decay->second.c_str(), nullptr) != 0.0;
  if (!keeps_averages) return averages;
  for (const io::TensorView& tensor : file.tensors()) {
    if (!tensor.name.ends_with(kSuffix)) continue;
    const std::string parameter = tensor.name.substr(0, tensor.name.size() - kSuffix.size());
    if (file.find(parameter) != nullptr) averages[parameter] = tensor.name;
  }
  return averages;
}

}  // namespace

Averages averages_in(const io::Safetensors& file) {
  Averages averages;
  for (const auto& [key, parameter] : file.metadata()) {
    if (!key.starts_with(kAverageKey)) continue;
    const std::string tensor = key.substr(std::string_view(kAverageKey).size());
    if (file.find(tensor) == nullptr) {
      throw Error(file.name(), fmt::format("metadata {}: there is no tensor of this name", key));
    }
    averages[parameter] = tensor;
  }
  return averages.empty() ? averages_by_suffix(file) : averages;
}

const std::string& name_in_file(const Averages& averages, const std::string& name) {
  const auto average = averages.find(name);
  return average == averages.end() ? name : average->second;
}

void check_tensor(const io::Safetensors& file, const ir::TensorType& type,
                  const std::string& name) {
  const io::TensorView* tensor = file.find(name);
  if (tensor == nullptr) {
    throw Error(file.name(), "the tensor " + name +
                                 " is missing; the checkpoint is of another model or optimizer, "
                                 "or was made with other parameters frozen");
  }
  if (!is_held(*tensor, type)) {
    throw Error(file.name(), fmt::format("the tensor {} is {}{}, the model has {}", name,
                                         to_string(tensor->dtype), to_string(tensor->shape),
                                         ir::to_string(type)));
  }
  check_contents(file, *tensor);
  if (is_packed(type.dtype) && !is_held_packed(*tensor, type)) {
    static_cast<void>(read_tensor(file, type, name));
  }
}

void check_others(const io::Safetensors& file, const std::set<std::string>& checked) {
  for (const io::TensorView& tensor : file.tensors()) {
    if (checked.count(tensor.name) == 0) file.scan(tensor);
  }
}

std::vector<std::byte> read_tensor(const io::Safetensors& file, const ir::TensorType& type,
                                   const std::string& name) {
  const io::TensorView& tensor = *file.find(name);
  std::vector<std::byte> bytes(static_cast<size_t>(io::file_bytes(tensor.dtype, tensor.shape)));
  file.load(tensor, 0, bytes);
  if (!is_packed(type.dtype) || is_held_packed(tensor, type)) return bytes;
  return io::packed(file.name() + ": " + name, type.dtype, type.shape, bytes);
}

}  // namespace thimble::train
