#include "import/tflite/node.h"

#include <thimble/error.h>
#include <thimble/ops.h>

#include <cstring>

#include "ir/canonical.h"
#include "ir/graph.h"

namespace thimble::tflite {
namespace {

DType dtype_of(const Node& node, const TensorInfo& info) {
  switch (info.type) {
    case kFloat32:
      return DType::f32;
    case kInt32:
      return DType::i32;
    case kInt64:
      return DType::i64;
    case kInt8:
      return DType::i8;
    case kBool:
      return DType::boolean;
    default:
      node.fail(
          fmt::format("a tensor has the type {}, which it does not compute on; thimble reads "
                      "float32, int8 and integers of 32 and 64 bits",
                      int{info.type}));
  }
}

// Element i of `from` goes to place(i) of the result.
template <class Place>
Array moved(const Array& from, const Shape& shape, const Place& place) {
  const auto size = static_cast<size_t>(bits(from.dtype()) / 8);
  std::vector<std::byte> to(from.bytes().size());
  for (int64_t i = 0; i < from.elements(); ++i) {
    std::memcpy(to.data() + static_cast<size_t>(place(i)) * size,
                from.bytes().data() + static_cast<size_t>(i) * size, size);
  }
  return Array::of_bytes(from.dtype(), shape, std::move(to));
}

}  // namespace

void Node::fail(const std::string& message) const {
  throw Error(building_.file.name(),
              fmt::format("operators[{}], {}: {}", number_, operator_name(info_), message));
}

int Node::source(int i) const {
  if (!has(i)) fail(fmt::format("its input {} is missing", i));
  return building_.unfolded[static_cast<size_t>(info_.inputs[static_cast<size_t>(i)])];
}

bool Node::has(int i) const { return i < inputs() && info_.inputs[static_cast<size_t>(i)] >= 0; }

const TensorInfo& Node::tensor(int i) const { return building_.file.tensor(source(i)); }

const TensorInfo& Node::result(int i) const {
  if (i >= outputs()) fail(fmt::format("its output {} is missing", i));
  return building_.file.tensor(info_.outputs[static_cast<size_t>(i)]);
}

bool Node::is_int8(int i) const {
  return tensor(i).type == kInt8 && source(i) == info_.inputs[static_cast<size_t>(i)];
}

bool Node::is_constant(int i) const { return !tensor(i).data.empty(); }

Array Node::contents(int tensor) const {
  const TensorInfo& info = building_.file.tensor(tensor);
  if (info.data.empty()) fail(fmt::format("its tensor {} is no constant", tensor));
  std::vector<std::byte> bytes(info.data.begin(), info.data.end());
  if (info.type == kFloat16) return Array::of_bytes(DType::f16, info.shape, std::move(bytes));
  const DType dtype = dtype_of(*this, info);
  if (dtype != DType::boolean) return Array::of_bytes(dtype, info.shape, std::move(bytes));
  std::vector<int32_t> truths;
  for (const std::byte byte : bytes) truths.push_back(byte != std::byte{0} ? 1 : 0);
  return Array(std::move(truths), info.shape).cast(DType::boolean);
}

Array Node::floats(int i) const {
  const TensorInfo& info = tensor(i);
  const Array values = contents(source(i));
  if (values.dtype() == DType::f32) return values;
  if (values.dtype() == DType::f16) return values.cast(DType::f32);
  const Quantization& q = info.quantization;
  if (values.dtype() != DType::i8 || q.scales.empty()) {
    fail(fmt::format("expected numbers of float32, float16 or quantized int8 as input {}", i));
  }
  const int64_t size = q.axis ? info.shape[*q.axis] : 1;
  int64_t inner = 1;
  for (int axis = info.shape.rank() - 1; q.axis && axis > *q.axis; --axis)
    inner *= info.shape[axis];
  const auto numbers = values.as<int8_t>();
  std::vector<float> made(numbers.size());
  for (size_t k = 0; k < made.size(); ++k) {
    const auto channel = static_cast<size_t>(static_cast<int64_t>(k) / inner % size);
    made[k] = static_cast<float>(static_cast<double>(q.scales[channel]) *
                                 (numbers[k] - q.zero_points[channel]));
  }
  return Array(std::move(made), info.shape);
}

std::vector<int64_t> Node::integers(int i) const {
  const TensorInfo& info = tensor(i);
  if (info.shape.elements() == 0) return {};
  if (info.data.empty() || (info.type != kInt32 && info.type != kInt64)) {
    fail(fmt::format("its input {} must be a constant of integers", i));
  }
  return contents(source(i)).integers();
}

int64_t Node::integer(int i) const {
  const std::vector<int64_t> all = integers(i);
  if (all.size() != 1) fail(fmt::format("its input {} must be one number", i));
  return all[0];
}

Value Node::constant(int tensor) {
  Value& made = building_.values[static_cast<size_t>(tensor)];
  if (made) return made;
  const TensorInfo& info = building_.file.tensor(tensor);
  Array values = contents(tensor);
  if (values.dtype() == DType::f16) values = values.cast(DType::f32);
  const bool has_scales = info.type == kInt8;
  made = building_.graph.constant(fmt::format("constant_{}", tensor), values,
                                  has_scales ? info.quantization : Quantization{});
  return made;
}

Value Node::input(int i) {
  const int from = source(i);
  const int given = info_.inputs[static_cast<size_t>(i)];
  if (from != given) {  // DEQUANTIZE of a constant
    Value& made = building_.values[static_cast<size_t>(given)];
    if (!made) made = building_.graph.constant(fmt::format("constant_{}", given), floats(i));
    return made;
  }
  if (is_constant(i)) return constant(from);
  const Value& value = building_.values[static_cast<size_t>(from)];
  if (!value) {
    fail(fmt::format("its input {} is no result of an operator before it{}", i,
                     tensor(i).is_variable ? ", but a variable, which thimble does not read" : ""));
  }
  return value;
}

Value Node::parameter(int i, const std::string& name, bool raw, Layout layout) {
  const int from = source(i);
  Value& made = building_.parameters[{from, static_cast<int>(layout)}];
  if (made) return made;
  const TensorInfo& info = tensor(i);
  Array values = raw ? contents(from) : floats(i);
  Quantization q = raw && info.type == kInt8 ? info.quantization : Quantization{};
  const Shape& shape = info.shape;
  if (layout == Layout::flat) {
    values = values.reshaped({values.elements()});
  } else if (layout == Layout::rows) {
    if (q.scales.size() == 1) {
      const auto rows = static_cast<size_t>(shape[0]);
      q = {std::vector<float>(rows, q.scales[0]), std::vector<int32_t>(rows, q.zero_points[0]), 0};
    }
  } else if (layout != Layout::same) {
    if (shape.rank() != 4) fail("expected weights of 4 dimensions, got " + to_string(shape));
    const int64_t taps = shape[1] * shape[2];
    const int64_t last = shape[3];
    if (layout == Layout::depthwise) {
      building_.reversed[name] = {last, 1, taps};
      if (shape[0] != 1) fail("expected weights [1, R, S, K], got " + to_string(shape));
      values = moved(values, {last, shape[1], shape[2], 1},
                     [&](int64_t at) { return at % last * taps + at / last; });
      if (q.axis && *q.axis != 3) fail("expected scales along dimension 3 of its weights");
      if (q.axis) q.axis = 0;
    } else {
      const int64_t first = shape[0];
      building_.reversed[name] = {last, taps, first};
      values = moved(values, {last, shape[1], shape[2], first}, [&](int64_t at) {
        const int64_t tap = at / last % taps;
        return (at % last * taps + tap) * first + at / last / taps;
      });
      if (q.axis && *q.axis != 0) fail("expected scales along dimension 0 of its weights");
      if (q.axis) q.axis = 3;
    }
  }
  made = building_.graph.parameter(name, values.shape(), init::zeros(), values.dtype(), q);
  ir().values[static_cast<size_t>(made.id())].data = values;
  building_.tensor_of[name] = from;
  return made;
}

const Quantization& Node::quantization_of_result() const {
  const TensorInfo& info = result();
  if (info.type != kInt8 || info.quantization.scales.size() != 1) {
    fail("its result must be int8 with one scale");
  }
  return info.quantization;
}

bool Node::has_batch(const Value& x) {
  return x.shape().rank() > 0 && x.shape()[0] != 0 && x.shape()[0] % kBatch == 0;
}

int64_t Node::axis(const Value& x, int64_t axis) const {
  const int rank = x.shape().rank();
  const int64_t found = axis < 0 ? axis + rank : axis;
  if (found < 0 || found >= rank) {
    fail(fmt::format("{} has no axis {}", to_string(x.shape()), axis));
  }
  if (found == 0 && has_batch(x)) {
    fail("it works along dimension 0, the batch, which thimble leaves open");
  }
  return found;
}

Value Node::shaped(const Value& x, int output) const {
  std::vector<int64_t> sizes = result(output).shape.dims();
  if (has_batch(x)) {
    if (sizes.empty()) fail("its result has no dimension for the batch");
    const int64_t rows = x.shape()[0] / kBatch * building_.batch;
    int64_t elements = rows;
    for (int axis = 1; axis < x.shape().rank(); ++axis) elements *= x.shape()[axis];
    if (elements != result(output).shape.elements() || sizes[0] % building_.batch != 0) {
      fail(fmt::format("{} does not become {}", to_string(x.shape()), to_string(Shape(sizes))));
    }
    sizes[0] = sizes[0] / building_.batch * kBatch;
  }
  const Shape shape(std::move(sizes));
  return shape == x.shape() ? x : reshape(x, shape);
}

void Node::give(const Value& value, int output) {
  const TensorInfo& info = result(output);
  std::vector<int64_t> sizes = value.shape().dims();
  if (has_batch(value)) sizes[0] = sizes[0] / kBatch * building_.batch;
  if (Shape(sizes) != info.shape) {
    fail(fmt::format("its result is {}, but the file says {}", to_string(Shape(sizes)),
                     to_string(info.shape)));
  }
  if (value.dtype() != dtype_of(*this, info)) {
    fail(fmt::format("its result is {}, but the file gives it another type",
                     to_string(value.dtype())));
  }
  if (value.dtype() == DType::i8) {
    const Quantization said = ir::canonical(info.quantization);
    const Quantization* const q = value.quantization();
    if (q == nullptr ? !said.scales.empty() : *q != said) {
      fail(
          "its result has another scale or zero point than the file says; the reference kernel "
          "computes nothing else here");
    }
  }
  building_.values[static_cast<size_t>(info_.outputs[static_cast<size_t>(output)])] = value;
}

Value activated(const Node& node, const Value& x, ActivationFunction function) {
  switch (function) {
    case ActivationFunction_NONE:
      return x;
    case ActivationFunction_RELU:
      return relu(x);
    case ActivationFunction_RELU_N1_TO_1:
      return clip(x, {.low = -1.0, .high = 1.0});
    case ActivationFunction_RELU6:
      return relu6(x);
    default:
      node.fail(fmt::format("thimble has no activation {}", int{function}));
  }
}

Activation bounds_of(const Node& node, ActivationFunction function) {
  switch (function) {
    case ActivationFunction_NONE:
      return Activation::none;
    case ActivationFunction_RELU:
      return Activation::relu;
    case ActivationFunction_RELU6:
      return Activation::relu6;
    default:
      node.fail(
          fmt::format("thimble has no activation {} of int8 but RELU and RELU6", int{function}));
  }
}

Value Node::clamped(const Value& x, Activation bounds) {
  // A dense layer with a weight of 1 has the kernel's rounding, and these bounds.
  if (!building_.one) {
    building_.one = building_.graph.constant("one", Array(std::vector<int8_t>{1}, {1, 1}),
                                             {.scales = {1.0F}, .zero_points = {}});
  }
  const Value column = reshape(x, {x.shape()[0], x.shape().elements() / x.shape()[0], 1});
  const Value y =
      quantized_dense(column, building_.one, Value(), scaled(QuantizedDenseAttrs{bounds}));
  return reshape(y, x.shape());
}

}  // namespace thimble::tflite
