// Arrays found in files, and the inputs and labels of a model that they feed.
#pragma once

#include <thimble/data.h>

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/array.h"

namespace thimble::data {

struct NamedArray {
  NamedArray(std::string array_name, StoredArray array)
      : name(std::move(array_name)),
        type(std::string(to_string(array.element)) + to_string(array.shape)),
        read([found = std::move(array)] { return found; }) {}
  // One that is read where it is wanted.
  NamedArray(std::string array_name, std::function<StoredArray()> reads)
      : name(std::move(array_name)), read(std::move(reads)) {}

  std::string name;
  std::string type;  // for messages: "f32[60000, 28, 28]"; empty where it is not known yet
  std::function<StoredArray()> read;
};

// A data set with the wanted fields, in their order. Each takes the array of its name; else, where
// it is the only input (label) that has none, the array of a usual name (x, features, data, image;
// y, label, target, ...); else, where one field and one array are left, that one. Dimensions of 1
// are no difference of shape, and a row of as many numbers as the field has is taken as the field
// in row-major order. Numbers of u8 that feed a floating-point input are divided by 255. `where`
// names the file or folder in errors. Throws Error where a field has no array, or one of another
// shape, of another number of samples, or whose values the field's type cannot hold.
[[nodiscard]] Dataset matched(const std::string& where, std::vector<NamedArray> arrays,
                              std::span<const Field> wanted);

// Whether a name, in any case, is one that inputs (labels) usually have in files.
[[nodiscard]] bool is_usual_name(std::string name, bool is_label);

// The array as the field takes it. file: where it stands, for errors. Throws Error as matched does.
[[nodiscard]] Column column_for(const std::string& file, const Field& field, StoredArray array);

}  // namespace thimble::data
