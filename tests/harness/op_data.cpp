#include "harness/op_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "harness/uniform.h"

namespace thimble::test {
namespace {

std::vector<double> random_numbers(const TensorSpec& spec, std::mt19937& random) {
  const auto n = static_cast<size_t>(spec.shape.elements());
  std::vector<double> values(n);
  if (spec.distinct) {
    std::iota(values.begin(), values.end(), 0.0);
    std::shuffle(values.begin(), values.end(), random);
    for (double& v : values) {
      v = spec.low + (spec.high - spec.low) * (v + 0.5) / static_cast<double>(n);
    }
    return values;
  }
  const Uniform uniform(spec.low, spec.high);
  for (double& v : values) {
    do {
      // Rounded to float, so that both precisions start from the same numbers.
      v = static_cast<double>(static_cast<float>(uniform(random)));
    } while (std::abs(v) < spec.gap);
  }
  return values;
}

}  // namespace

ir::Bytes bytes_of(const std::vector<double>& numbers, DType dtype) {
  const Array values(numbers, {static_cast<int64_t>(numbers.size())});
  const Array cast = values.cast(dtype);
  return {cast.bytes().begin(), cast.bytes().end()};
}

std::vector<double> numbers_of(const ir::Bytes& bytes, const ir::TensorType& type) {
  const Array values = Array::of_bytes(type.dtype, type.shape, bytes);
  return values.cast(DType::f64).as<double>();
}

namespace {

template <class T>
ir::Bytes random_integers(const TensorSpec& spec, std::mt19937& random) {
  const int64_t low = std::llround(spec.low);
  const int64_t high = std::llround(spec.high);
  std::uniform_int_distribution<int64_t> uniform(low, high);
  std::vector<T> values(static_cast<size_t>(spec.shape.elements()));
  for (T& v : values) v = static_cast<T>(uniform(random));
  if (spec.distinct) {
    std::vector<T> all(static_cast<size_t>(high - low + 1));
    std::iota(all.begin(), all.end(), static_cast<T>(low));
    std::shuffle(all.begin(), all.end(), random);
    if (all.size() < values.size()) throw Error("test", "fewer integers than distinct values");
    std::copy_n(all.begin(), values.size(), values.begin());
  }
  ir::Bytes bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

ir::Bytes random_reals(const TensorSpec& spec, std::mt19937& random) {
  const std::vector<double> numbers = random_numbers(spec, random);
  return bytes_of(numbers, spec.dtype);
}

ir::Bytes random_raw(const TensorSpec& spec, std::mt19937& random) {
  switch (spec.dtype) {
    case DType::f64:
      return random_reals(spec, random);
    case DType::f16:
    case DType::bf16:
      if (!spec.any_bits) return random_reals(spec, random);
      break;
    case DType::i64:
      return random_integers<int64_t>(spec, random);
    case DType::i16:
      return random_integers<int16_t>(spec, random);
    case DType::i32:
      return random_integers<int32_t>(spec, random);
    case DType::u32:
      return random_integers<uint32_t>(spec, random);
    case DType::i8:
      return random_integers<int8_t>(spec, random);
    case DType::u8:
      return random_integers<uint8_t>(spec, random);
    default:
      break;
  }
  ir::Bytes bytes(static_cast<size_t>(size_bytes(spec.dtype, spec.shape)));
  for (std::byte& b : bytes) b = static_cast<std::byte>(random() & 0xFFU);
  return bytes;
}

}  // namespace

namespace {

bool has_gradient(const ir::TensorType& type) {
  return type.dtype != DType::f64 && autodiff::is_differentiable(type);
}

}  // namespace

CaseGraph make_graph(const ir::OpDef& op, const OpCase& test, bool with_gradient) {
  CaseGraph made;
  ir::Graph& graph = made.graph;
  std::vector<Value> inputs;
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    const TensorSpec& spec = test.inputs[i];
    if (spec.absent) {
      inputs.emplace_back();
    } else {
      const ir::Role role = spec.state ? ir::Role::state : ir::Role::input;
      ir::TensorType type{spec.dtype, spec.shape};
      if (!spec.quantization.scales.empty()) {
        type.quantization = std::make_shared<const Quantization>(spec.quantization);
      }
      inputs.push_back(graph.source("input_" + std::to_string(i), type, role));
    }
    made.inputs.push_back(inputs.back().id());
  }
  const std::vector<Value> outputs = graph.add(op, test.attrs, inputs);
  for (const Value& output : outputs) made.outputs.push_back(output.id());
  if (!with_gradient || op.gradient.vjp == nullptr) return made;
  std::vector<autodiff::Cotangent> seeds;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Value& output = outputs[i];
    const bool skipped = std::find(test.no_cotangent.begin(), test.no_cotangent.end(),
                                   static_cast<int>(i)) != test.no_cotangent.end();
    const ir::TensorType type = graph.type(output.id());
    if (!has_gradient(type) || skipped) continue;
    const Value cotangent =
        graph.source("cotangent_" + std::to_string(output.id()),
                     {autodiff::gradient_dtype(type), output.shape()}, ir::Role::input);
    made.cotangents[output.id()] = cotangent.id();
    seeds.push_back({output, cotangent});
  }
  std::vector<int> wanted;
  for (size_t i = 0; i < made.inputs.size(); ++i) {
    const bool skipped = std::find(test.no_grad.begin(), test.no_grad.end(), static_cast<int>(i)) !=
                         test.no_grad.end();
    if (made.inputs[i] >= 0 && has_gradient(graph.type(made.inputs[i])) && !skipped) {
      wanted.push_back(made.inputs[i]);
    }
  }
  made.gradients = autodiff::append_gradients(graph, seeds, wanted);
  return made;
}

CaseData make_data(const CaseGraph& made, const OpCase& test, uint32_t seed) {
  std::mt19937 random(seed);
  CaseData data;
  for (size_t i = 0; i < made.inputs.size(); ++i) {
    const TensorSpec& spec = test.inputs[i];
    if (made.inputs[i] < 0) continue;
    if (spec.dtype == DType::f32) {
      data.numbers[made.inputs[i]] = random_numbers(spec, random);
    } else {
      data.raw[made.inputs[i]] = random_raw(spec, random);
    }
  }
  for (size_t id = 0; id < made.graph.values.size(); ++id) {
    const ir::ValueData& value = made.graph.values[id];
    const int number = static_cast<int>(id);
    if (value.producer >= 0 || value.role == ir::Role::constant || data.numbers.count(number) > 0 ||
        data.raw.count(number) > 0) {
      continue;
    }
    const TensorSpec spec{
        .shape = value.type.shape, .dtype = value.type.dtype, .low = -1.0, .high = 1.0};
    if (spec.dtype == DType::f32) {
      data.numbers[number] = random_numbers(spec, random);
    } else {
      data.raw[number] = random_raw(spec, random);
    }
  }
  return data;
}

std::map<int, ir::Bytes> CaseData::bytes(ir::Precision precision) const {
  std::map<int, ir::Bytes> all = raw;
  for (const auto& [id, values] : numbers) all[id] = ir::to_bytes(values, precision);
  return all;
}

double relative_difference(const std::vector<double>& a, const std::vector<double>& b) {
  constexpr double kSmallestScale = 1e-3;
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0.0;
  double scale = kSmallestScale;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (a[i] == b[i]) continue;  // equal infinities too
    const double difference = std::abs(a[i] - b[i]);
    if (!(difference <= std::numeric_limits<double>::max())) {
      return std::numeric_limits<double>::infinity();
    }
    largest = std::max(largest, difference);
  }
  for (const double v : b) {
    if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
  }
  return largest / scale;
}

}  // namespace thimble::test
