#include "import/onnx/item.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "ir/element.h"

namespace thimble::importer::onnx {

Order plain_order(int rank) {
  Order order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Order channels_last(int rank) {
  Order order = plain_order(rank);
  if (rank > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

Order inverse(const Order& order) {
  Order made(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    made[static_cast<size_t>(order[i])] = static_cast<int>(i);
  }
  return made;
}

Shape ordered(const Shape& shape, const Order& order) {
  std::vector<int64_t> dims;
  for (const int axis : order) dims.push_back(shape[axis]);
  return Shape(std::move(dims));
}

Array transposed(const Array& values, const Order& order) {
  if (order == plain_order(values.shape().rank())) return values;
  const Shape shape = ordered(values.shape(), order);
  const auto rank = static_cast<size_t>(shape.rank());
  std::vector<int64_t> strides(rank, 1);
  for (size_t i = rank; i-- > 1;) {
    strides[i - 1] = strides[i] * values.shape()[static_cast<int>(i)];
  }
  std::vector<std::byte> bytes(static_cast<size_t>(size_bytes(values.dtype(), shape)));
  std::vector<int64_t> index(rank, 0);
  const int64_t elements = shape.elements();
  const int type = static_cast<int>(values.dtype());
  const auto width = static_cast<size_t>(bits(values.dtype()) / 8);
  int64_t from = 0;
  for (int64_t to = 0; to < elements; ++to) {
    if (width == 0) {
      element_store_int(bytes.data(), type, to,
                        element_load_int(values.bytes().data(), type, from));
    } else {
      std::memcpy(bytes.data() + static_cast<size_t>(to) * width,
                  values.bytes().data() + static_cast<size_t>(from) * width, width);
    }
    for (size_t axis = rank; axis-- > 0;) {
      const int64_t stride = strides[static_cast<size_t>(order[axis])];
      from += stride;
      if (++index[axis] < shape[static_cast<int>(axis)]) break;
      from -= index[axis] * stride;
      index[axis] = 0;
    }
  }
  return Array::of_bytes(values.dtype(), shape, std::move(bytes));
}

int Item::rank() const { return value ? static_cast<int>(order.size()) : shape().rank(); }

Shape Item::shape() const {
  if (value) return ordered(value.shape(), inverse(order));
  return weight ? ordered(known->shape(), order) : known->shape();
}

}  // namespace thimble::importer::onnx
