#include <fmt/format.h>
#include <thimble/array.h>
#include <thimble/data_split.h>
#include <thimble/error.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "data/random.h"

namespace thimble::data {
namespace {

size_t class_field(const Dataset& dataset, const std::string& label) {
  const std::vector<Field>& fields = dataset.fields();
  std::string known;
  for (size_t f = 0; f < fields.size(); ++f) {
    const bool is_class = fields[f].shape.elements() == 1 && !is_floating(fields[f].dtype);
    if (is_class && fields[f].name == label) return f;
    if (is_class) known += (known.empty() ? "" : ", ") + std::string(fields[f].name);
  }
  throw Error(label, fmt::format("is no field with one whole number a sample; such fields: {}",
                                 known.empty() ? "none" : known));
}

// The class of every sample.
std::vector<int64_t> classes_of(const Dataset& dataset, size_t field) {
  std::vector<std::vector<std::byte>> buffers;
  std::vector<void*> out;
  for (const Field& each : dataset.fields()) {
    const int64_t bytes = std::max<int64_t>(size_bytes(each.dtype, each.shape), 1);
    out.push_back(buffers.emplace_back(static_cast<size_t>(bytes)).data());
  }
  const DType dtype = dataset.fields()[field].dtype;
  std::vector<int64_t> classes;
  for (int64_t i = 0; i < dataset.size(); ++i) {
    dataset.read(i, out);
    classes.push_back(Array::view(dtype, {1}, buffers[field]).integers()[0]);
  }
  return classes;
}

}  // namespace

std::pair<Dataset, Dataset> stratified_split(const Dataset& dataset, const std::string& label,
                                             double validation_fraction, uint64_t seed) {
  if (!(validation_fraction > 0 && validation_fraction < 1)) {
    throw Error("stratified_split",
                fmt::format("expected a fraction inside 0..1, got {}", validation_fraction));
  }
  const std::vector<int64_t> classes = classes_of(dataset, class_field(dataset, label));
  std::map<int64_t, int64_t> left;  // of each class, the samples still to be drawn for validation
  for (const int64_t kind : classes) ++left[kind];
  for (auto& [kind, count] : left) {
    if (count < 2) {
      throw Error(label,
                  fmt::format("class {} has one sample; two are needed, one for each part", kind));
    }
    const auto wanted = std::llround(validation_fraction * static_cast<double>(count));
    count = std::clamp<int64_t>(wanted, 1, count - 1);
  }
  std::vector<int64_t> order(classes.size());
  std::iota(order.begin(), order.end(), 0);
  constexpr uint64_t kStratifiedStream = 0x57a7;  // independent of the epochs' orders
  shuffle(std::span(order), Random(key_of(kStratifiedStream, seed)));
  std::vector<int64_t> training;
  std::vector<int64_t> validation;
  for (const int64_t index : order) {
    int64_t& wanted = left[classes[static_cast<size_t>(index)]];
    (wanted > 0 ? validation : training).push_back(index);
    if (wanted > 0) --wanted;
  }
  std::sort(training.begin(), training.end());
  std::sort(validation.begin(), validation.end());
  return {dataset.subset(std::move(training)), dataset.subset(std::move(validation))};
}

}  // namespace thimble::data
