// Runs one op on given contents, for tests that look at what it computes.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "ir/reference.h"

namespace thimble::test {

struct Tensor {
  ir::TensorType type;
  ir::Bytes bytes;
  bool absent = false;  // an optional input left out
};

template <class T>
Tensor tensor(DType dtype, const Shape& shape, const std::vector<T>& values) {
  Tensor made{{dtype, shape}, ir::Bytes(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
  return made;
}
inline Tensor tensor(const Shape& shape, const std::vector<float>& values) {
  return tensor(DType::f32, shape, values);
}

template <class T>
std::vector<T> values_of(const ir::Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// The outputs of an op, by its fast kernel where it has one or by its reference kernel.
enum class Kernel : uint8_t { fast, reference };
std::vector<ir::Bytes> run_op(const ir::OpDef& op, const ir::Attrs& attrs,
                              const std::vector<Tensor>& inputs, Kernel kernel);
// An op of the library.
std::vector<ir::Bytes> run_op(const char* op, const ir::Attrs& attrs,
                              const std::vector<Tensor>& inputs, Kernel kernel);

// The elements of a value that only constants and the random state lead to. rng: the contents of
// the random state, if it is read.
std::vector<float> evaluate(Value value, std::span<const uint32_t> rng = {});

}  // namespace thimble::test
