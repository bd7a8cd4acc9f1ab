// Networks of TensorFlow Lite, built from our ops in fixed point: every operator's result has the
// bits of the reference kernels. Reads as much of the files as these networks need.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "io/atomic_file.h"

namespace thimble::test::tflite_goldens_test {
namespace {

using nlohmann::json;

// A table of a FlatBuffer. Reading beyond its end throws.
class Table {
 public:
  Table(const std::string& bytes, size_t at) : bytes_(bytes), at_(at) {}
  static Table root(const std::string& bytes) { return {bytes, Table(bytes, 0).get<uint32_t>(0)}; }

  [[nodiscard]] bool has(int field) const { return offset_of(field) != 0; }
  template <class T>
  [[nodiscard]] T scalar(int field, T usual) const {
    const size_t offset = offset_of(field);
    return offset == 0 ? usual : get<T>(at_ + offset);
  }
  [[nodiscard]] Table table(int field) const { return {bytes_, target(at_ + offset_of(field))}; }
  [[nodiscard]] size_t size(int field) const {
    return has(field) ? get<uint32_t>(target(at_ + offset_of(field))) : 0;
  }
  [[nodiscard]] Table item(int field, size_t i) const {
    return {bytes_, target(target(at_ + offset_of(field)) + 4 + 4 * i)};
  }
  template <class T>
  [[nodiscard]] std::vector<T> list(int field) const {
    std::vector<T> all(size(field));
    const size_t first = all.empty() ? 0 : target(at_ + offset_of(field)) + 4;
    for (size_t i = 0; i < all.size(); ++i) all[i] = get<T>(first + i * sizeof(T));
    return all;
  }

 private:
  template <class T>
  [[nodiscard]] T get(size_t at) const {
    T value;
    std::memcpy(&value, bytes_.substr(at, sizeof(T)).data(), sizeof(T));
    if (at + sizeof(T) > bytes_.size()) throw Error("tflite", "reads beyond the file's end");
    return value;
  }
  [[nodiscard]] size_t offset_of(int field) const {
    const auto entries = static_cast<size_t>(static_cast<int64_t>(at_) - get<int32_t>(at_));
    const size_t entry = 4 + 2 * static_cast<size_t>(field);
    return entry < get<uint16_t>(entries) ? get<uint16_t>(entries + entry) : 0;
  }
  [[nodiscard]] size_t target(size_t at) const { return at + get<uint32_t>(at); }

  const std::string& bytes_;
  size_t at_;
};

enum Op : int {
  kAdd = 0,
  kAveragePool = 1,
  kConv = 3,
  kDepthwise = 4,
  kDense = 9,
  kReshape = 22,
  kSoftmax = 25
};

// A network whose operators' results are the outputs "0", "1", ..., up to the first unknown one.
class Network {
 public:
  explicit Network(const std::string& bytes) : model_(Table::root(bytes)) {
    const std::vector<int32_t> in = part_.list<int32_t>(1);
    Shape sample = shape(in.at(0));
    values_[in[0]] = graph.input(
        "x", Shape(std::vector<int64_t>(sample.dims().begin() + 1, sample.dims().end())), DType::i8,
        quantization(in[0]));
    for (size_t i = 0; i < part_.size(3); ++i) {
      const Table node = part_.item(3, i);
      const Value y = add(node);
      if (!y) return;
      values_[node.list<int32_t>(2).at(0)] = y;
      graph.output(std::to_string(i), y);
      ++built;
    }
  }

  Graph graph;
  size_t built = 0;

 private:
  [[nodiscard]] Table tensor(int id) const { return part_.item(0, static_cast<size_t>(id)); }
  [[nodiscard]] Shape shape(int id) const {
    std::vector<int64_t> dims;
    for (const int32_t size : tensor(id).list<int32_t>(0)) dims.push_back(size);
    return Shape(std::move(dims));
  }
  [[nodiscard]] Quantization quantization(int id) const {
    const Table q = tensor(id).table(4);
    Quantization made{.scales = q.list<float>(2)};
    for (const int64_t zero : q.list<int64_t>(3)) {
      made.zero_points.push_back(static_cast<int32_t>(zero));
    }
    if (made.scales.size() > 1) made.axis = 0;
    return made;
  }
  template <class T>
  [[nodiscard]] std::vector<T> contents(int id) const {
    const Table buffer = model_.item(4, tensor(id).scalar<uint32_t>(2, 0));
    const std::vector<uint8_t> bytes = buffer.list<uint8_t>(0);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }

  Value weights(int id, const std::vector<int8_t>& values, const Shape& shape) {
    return graph.constant(fmt::format("weights{}", id), Array(values, shape), quantization(id));
  }
  Value bias(const std::vector<int32_t>& in) {
    if (in.size() < 3 || in[2] < 0) return {};
    const std::vector<int32_t> values = contents<int32_t>(in[2]);
    return graph.constant(fmt::format("bias{}", in[2]),
                          Array(values, {static_cast<int64_t>(values.size())}));
  }

  // One result's scale and zero point, in the attributes of any op.
  template <class T>
  [[nodiscard]] T scaled(T attrs, int id) const {
    const Quantization q = quantization(id);
    attrs.scale = static_cast<double>(q.scales.at(0));
    attrs.zero_point = q.zero_points.at(0);
    attrs.requantization = Requantization::fixed_point;
    return attrs;
  }
  static Activation activation(int code) {
    if (code == 0) return Activation::none;
    if (code == 1) return Activation::relu;
    if (code == 3) return Activation::relu6;
    throw Error("tflite", "an activation this test does not know");
  }

  Value convolution(const Table& options, const std::vector<int32_t>& in, int out, bool depthwise) {
    QuantizedConv2dAttrs attrs;
    attrs.stride = {options.scalar<int32_t>(2, 0), options.scalar<int32_t>(1, 0)};
    attrs.padding = options.scalar<int8_t>(0, 0) == 0 ? Padding::same() : Padding(0);
    attrs.activation = activation(options.scalar<int8_t>(depthwise ? 4 : 3, 0));
    std::vector<int8_t> values = contents<int8_t>(in[1]);
    Shape size = shape(in[1]);
    if (depthwise) {  // from [1, R, S, C] to [C, R, S, 1]
      const int64_t taps = size[1] * size[2];
      const int64_t channels = size[3];
      const std::vector<int8_t> before = values;
      for (int64_t i = 0; i < taps * channels; ++i) {
        values[static_cast<size_t>(i % channels * taps + i / channels)] =
            before[static_cast<size_t>(i)];
      }
      size = {channels, size[1], size[2], 1};
      attrs.groups = channels;
    }
    return quantized_conv2d(values_.at(in[0]), weights(in[1], values, size), bias(in),
                            scaled(attrs, out));
  }

  Value add(const Table& node) {
    const Table code = model_.item(1, node.scalar<uint32_t>(0, 0));
    const int op = std::max<int>(code.scalar<int8_t>(0, 0), code.scalar<int32_t>(3, 0));
    const std::vector<int32_t> in = node.list<int32_t>(1);
    const int out = node.list<int32_t>(2).at(0);
    if (op == kReshape) return flatten(values_.at(in[0]));
    if (op == kSoftmax) return softmax(values_.at(in[0]));
    if (op != kConv && op != kDepthwise && op != kDense && op != kAdd && op != kAveragePool) {
      return {};
    }
    const Table options = node.table(4);
    if (op == kConv || op == kDepthwise) {
      return convolution(options, in, out, op == kDepthwise);
    }
    if (op == kDense) {
      const QuantizedDenseAttrs attrs{.activation = activation(options.scalar<int8_t>(0, 0))};
      return quantized_dense(values_.at(in[0]),
                             weights(in[1], contents<int8_t>(in[1]), shape(in[1])), bias(in),
                             scaled(attrs, out));
    }
    if (op == kAdd) {
      const QuantizedAddAttrs attrs{.activation = activation(options.scalar<int8_t>(0, 0))};
      return quantized_add(values_.at(in[0]), values_.at(in[1]), scaled(attrs, out));
    }
    return quantized_average_pool2d(
        values_.at(in[0]),
        {.kernel = {options.scalar<int32_t>(4, 0), options.scalar<int32_t>(3, 0)},
         .stride = {options.scalar<int32_t>(2, 0), options.scalar<int32_t>(1, 0)},
         .padding = options.scalar<int8_t>(0, 0) == 0 ? Padding::same() : Padding(0),
         .count_include_pad = false,
         .requantization = Requantization::fixed_point});
  }

  Table model_;
  Table part_ = model_.item(2, 0);
  std::map<int, Value> values_;
};

uint32_t crc32_of(std::span<const int8_t> bytes) {
  uint32_t crc = ~0U;
  for (const int8_t byte : bytes) {
    crc ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

std::vector<int8_t> generated(uint32_t state, int64_t count) {
  std::vector<int8_t> bytes(static_cast<size_t>(count));
  for (int8_t& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<int8_t>(state >> 24U);
  }
  return bytes;
}

// Compares a network's operators with its goldens; returns how many.
size_t compare(const std::string& file) {
  const char* const data = std::getenv("THIMBLE_DATA");
  const std::string path = std::string(data == nullptr ? "" : data) + "/models/tflite/" + file;
  if (data == nullptr || !std::filesystem::exists(path + ".tflite")) return 0;
  const std::string bytes = io::read_file(path + ".tflite", 1 << 20);
  const json golden = json::parse(io::read_file(path + ".golden.json", 1 << 20));
  Network network(bytes);
  EXPECT_EQ(network.built, golden["cases"][0]["ops"].size());
  Predictor predictor(network.graph, 1);
  size_t compared = 0;
  for (const json& test : golden["cases"]) {
    std::vector<int64_t> dims = golden["input"]["shape"].get<std::vector<int64_t>>();
    const Shape shape(dims);
    const auto made = predictor.run(
        {{"x", Array(generated(test["seed"].get<uint32_t>(), shape.elements()), shape)}});
    // Dense layers follow the integer rule, which the reference kernels do not.
    const bool other_dense = test.contains("ops_integer_fc_crc32");
    for (size_t i = 0; i < network.built; ++i) {
      const uint32_t crc = crc32_of(made.at(std::to_string(i)).as<int8_t>());
      const json& wanted = other_dense ? test["ops_integer_fc_crc32"][i] : test["ops"][i][4];
      EXPECT_EQ(fmt::format("{:08x}", crc), wanted.get<std::string>())
          << file << ": operator " << i << ", " << test["ops"][i][1];
      ++compared;
    }
  }
  return compared;
}

class tflite_goldens : public ::testing::TestWithParam<const char*> {};

TEST_P(tflite_goldens, are_equal_operator_by_operator) {
  const size_t compared = compare(GetParam());
  if (compared == 0) GTEST_SKIP() << "set THIMBLE_DATA to a folder with models/tflite";
  EXPECT_GE(compared, 20U);
}

INSTANTIATE_TEST_SUITE_P(, tflite_goldens,
                         ::testing::Values("pretrainedResnet_quant", "vww_96_int8", "kws_ref_model",
                                           "ad01_int8"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace thimble::test::tflite_goldens_test
