// What the importer knows of a tensor of an ONNX graph.
#pragma once

#include <thimble/graph.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "import/onnx/model.h"

namespace thimble::importer::onnx {

// For each axis as it is stored, the axis of the ONNX tensor: {0, 2, 3, 1} for images, which ONNX
// has as [N, C, H, W] and thimble as [N, H, W, C].
using Order = std::vector<int>;

[[nodiscard]] Order plain_order(int rank);
[[nodiscard]] Order channels_last(int rank);
[[nodiscard]] Order inverse(const Order& order);
// dims[order[i]] for every i.
[[nodiscard]] Shape ordered(const Shape& shape, const Order& order);
// The elements with their axes in another order.
[[nodiscard]] Array transposed(const Array& values, const Order& order);

// An initializer. It becomes a parameter of the graph where it is first read, in the order that the
// reader wants; another order or shape is then computed from the parameter.
struct Weight {
  std::string name;
  Value made;   // none: not yet
  Shape full;   // of `values` when it was made
  Order order;  // of the axes of full
};

// Of an image under another shape, such as [N, C * H * W]: its elements lie as those of the image.
struct Flattened {
  Shape image;  // [N, C, H, W] as ONNX has it
  Order order;
};

// Steps of int8, which numbers are rounded to: scale * (integer - zero_point). uint8 is int8 with a
// zero point that is 128 less.
struct Steps {
  std::vector<float> scales;  // one, or one for each index of `axis`
  int64_t zero_point = 0;
  int axis = 0;  // of `shape`
  Shape shape;   // of weights
  bool is_unsigned = false;
  bool operator==(const Steps&) const = default;
};

struct Item {
  // One of: numbers that are known when importing, an initializer, a value of the graph.
  std::optional<Array> known;  // in ONNX order; of an initializer, too
  std::shared_ptr<Weight> weight;
  Value value;
  Order order;  // of value, or of the axes of known where weight is set
  std::optional<Flattened> flattened;
  // Of a weight: what it is rounded to where it is read. Of a value: the tensor has the integers of
  // these steps, the value their numbers in f32.
  std::shared_ptr<const Steps> steps;
  bool is_bool = false;   // held as u8
  bool of_shape = false;  // known numbers that may hold the open batch size

  [[nodiscard]] bool is_value() const { return bool(value); }
  [[nodiscard]] int rank() const;
  // The shape of the ONNX tensor.
  [[nodiscard]] Shape shape() const;
  [[nodiscard]] DType dtype() const { return value ? value.dtype() : known->dtype(); }
};

}  // namespace thimble::importer::onnx
