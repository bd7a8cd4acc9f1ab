#include "train/checked_tensors.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "ir/element.h"
#include "train/update.h"

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

}  // namespace

std::string name_in_file(const io::Safetensors& file, const std::string& name) {
  std::string average = name + kAverageSuffix;
  return file.find(average) == nullptr ? name : average;
}

void check_tensor(const io::Safetensors& file, const ir::TensorType& type,
                  const std::string& name) {
  const io::TensorView* tensor = file.find(name);
  if (tensor == nullptr) {
    throw Error(file.name(), "the tensor " + name +
                                 " is missing; the checkpoint is of another model or optimizer, "
                                 "or was made with other parameters frozen");
  }
  if (tensor->dtype != io::file_dtype(type.dtype) || tensor->shape != type.shape) {
    throw Error(file.name(), fmt::format("the tensor {} is {}{}, the model has {}", name,
                                         to_string(tensor->dtype), to_string(tensor->shape),
                                         ir::to_string(type)));
  }
  check_contents(file, *tensor);
  if (is_packed(type.dtype)) static_cast<void>(read_tensor(file, type, name));
}

void check_others(const io::Safetensors& file, const std::set<std::string>& checked) {
  for (const io::TensorView& tensor : file.tensors()) {
    if (checked.count(tensor.name) == 0) file.scan(tensor);
  }
}

std::vector<std::byte> read_tensor(const io::Safetensors& file, const ir::TensorType& type,
                                   const std::string& name) {
  std::vector<std::byte> bytes(static_cast<size_t>(io::file_bytes(type.dtype, type.shape)));
  file.load(*file.find(name), 0, bytes);
  if (!is_packed(type.dtype)) return bytes;
  return io::packed(file.name() + ": " + name, type.dtype, type.shape, bytes);
}

}  // namespace thimble::train
