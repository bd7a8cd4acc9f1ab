#include "data/named_arrays.h"

#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "data/file.h"

namespace thimble::data {
namespace {

constexpr std::string_view kInputNames[] = {"x",      "features", "data",   "image",
                                            "images", "input",    "inputs", "samples"};
constexpr std::string_view kLabelNames[] = {"y",       "label", "labels", "target",
                                            "targets", "class", "classes"};

// Without dimensions of 1.
std::vector<int64_t> squeezed(std::vector<int64_t> dims) {
  dims.erase(std::remove(dims.begin(), dims.end(), int64_t{1}), dims.end());
  return dims;
}

// Whether samples [C, H, W] stand where [H, W, C] is asked for.
bool has_channels_first(const Shape& sample, const Shape& wanted) {
  return sample.rank() == 3 && wanted.rank() == 3 && sample[0] == wanted[2] &&
         sample[1] == wanted[0] && sample[2] == wanted[1];
}

void check_sample_shape(const std::string& file, const Field& field, const StoredArray& array) {
  const Shape sample(std::vector(array.shape.dims().begin() + 1, array.shape.dims().end()));
  const bool same = squeezed(sample.dims()) == squeezed(field.shape.dims());
  const bool is_row = sample.rank() == 1 && sample[0] == field.shape.elements();
  if (same || is_row) return;
  throw Error(file,
              fmt::format("holds samples of {}, but the {} \"{}\" takes {}{}", to_string(sample),
                          field.is_label ? "label" : "input", field.name, to_string(field.shape),
                          has_channels_first(sample, field.shape)
                              ? "; put the channels last, with a.transpose(0, 2, 3, 1)"
                              : ""));
}

std::string names_of(const std::vector<NamedArray>& arrays) {
  std::string names;
  for (const NamedArray& known : arrays) {
    names += fmt::format("{}{}{}{}", names.empty() ? "" : ", ", shown(known.name),
                         known.type.empty() ? "" : " ", known.type);
  }
  return names;
}

// Which array feeds which field.
class Matching {
 public:
  Matching(const std::vector<NamedArray>& arrays, std::span<const Field> wanted)
      : arrays_(arrays), wanted_(wanted), taken_(arrays.size()), chosen_(wanted.size(), -1) {}

  // One number an array, -1 where a field has none.
  std::vector<int> match() {
    for (size_t f = 0; f < wanted_.size(); ++f) {
      for (size_t a = 0; a < arrays_.size(); ++a) {
        if (arrays_[a].name == wanted_[f].name) take(f, a);
      }
    }
    match_usual_name(false);
    match_usual_name(true);
    if (std::count(chosen_.begin(), chosen_.end(), -1) == 1 &&
        std::count(taken_.begin(), taken_.end(), false) == 1) {
      take(first_open(),
           static_cast<size_t>(std::find(taken_.begin(), taken_.end(), false) - taken_.begin()));
    }
    return chosen_;
  }

 private:
  void take(size_t field, size_t array) {
    chosen_[field] = static_cast<int>(array);
    taken_[array] = true;
  }
  [[nodiscard]] size_t first_open() const {
    return static_cast<size_t>(std::find(chosen_.begin(), chosen_.end(), -1) - chosen_.begin());
  }
  void match_usual_name(bool is_label) {
    std::vector<size_t> open;
    for (size_t f = 0; f < wanted_.size(); ++f) {
      if (chosen_[f] < 0 && wanted_[f].is_label == is_label) open.push_back(f);
    }
    std::vector<size_t> named;
    for (size_t a = 0; a < arrays_.size(); ++a) {
      if (!taken_[a] && is_usual_name(arrays_[a].name, is_label)) named.push_back(a);
    }
    if (open.size() == 1 && named.size() == 1) take(open[0], named[0]);
  }

  const std::vector<NamedArray>& arrays_;
  std::span<const Field> wanted_;
  std::vector<bool> taken_;
  std::vector<int> chosen_;
};

}  // namespace

bool is_usual_name(std::string name, bool is_label) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto names = is_label ? std::span<const std::string_view>(kLabelNames)
                              : std::span<const std::string_view>(kInputNames);
  return std::find(names.begin(), names.end(), name) != names.end();
}

namespace {

// What to do about floating-point numbers for a field of another type.
const char* without_fraction(const Field& field) {
  if (field.dtype == DType::boolean) return "convert it with a.astype(bool)";
  if (field.dtype == DType::i8 && !field.is_label) {
    return "quantize it by the input's scale and zero point, or give the model inputs of f32 with "
           "--f32-inputs of thimble import or adapt";
  }
  return "convert it with a.astype(numpy.int64)";
}

}  // namespace

Column column_for(const std::string& file, const Field& field, StoredArray array) {
  check_sample_shape(file, field, array);
  check_booleans(file, array);
  const bool is_floating_field = thimble::is_floating(field.dtype);
  if (is_floating_field) {
    check_finite(file, array, field.dtype);
  } else if (is_floating(array.element)) {
    throw Error(file, fmt::format("holds {}, but the {} \"{}\" takes {}; {}",
                                  to_string(array.element), field.is_label ? "label" : "input",
                                  field.name, to_string(field.dtype), without_fraction(field)));
  } else {
    check_integers(file, array, field.dtype);
  }
  const bool are_pixels = is_floating_field && array.element == Element::u8 && !field.is_label;
  return {field, std::move(array), are_pixels ? 255.0F : 1.0F};
}

Dataset matched(const std::string& where, std::vector<NamedArray> arrays,
                std::span<const Field> wanted) {
  const std::vector<int> chosen = Matching(arrays, wanted).match();
  std::vector<Column> columns;
  for (size_t f = 0; f < wanted.size(); ++f) {
    if (chosen[f] < 0) {
      throw Error(where, fmt::format("has no array for the {} \"{}\" {}{}; it has {}. Name the "
                                     "arrays as the model names its inputs and labels",
                                     wanted[f].is_label ? "label" : "input", wanted[f].name,
                                     to_string(wanted[f].dtype), to_string(wanted[f].shape),
                                     arrays.empty() ? "none" : names_of(arrays)));
    }
    NamedArray& found = arrays[static_cast<size_t>(chosen[f])];
    columns.push_back(
        column_for(fmt::format("{}: {}", where, found.name), wanted[f], found.read()));
    const int64_t rows = columns.back().array.rows();
    if (rows != columns.front().array.rows()) {
      throw Error(where,
                  fmt::format("\"{}\" holds {} samples, but \"{}\" holds {}; give arrays that "
                              "belong together",
                              found.name, rows, arrays[static_cast<size_t>(chosen[0])].name,
                              columns.front().array.rows()));
    }
  }
  return array_dataset(std::move(columns));
}

}  // namespace thimble::data
