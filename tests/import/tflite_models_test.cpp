// Every operator that the reader knows, against LiteRT.
#include "tflite_models.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <thimble/import.h>
#include <thimble/predictor.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>

#include "harness/error_of.h"
#include "import/tflite/reader.h"
#include "io/model/graph_json.h"
#include "io/temporary_folder.h"
#include "ir/graph.h"

namespace thimble::test::tflite_models_test {
namespace {

using nlohmann::json;

// Sums in another order, and functions of our own.
constexpr double kRelative = 1e-5;
constexpr double kAbsolute = 2e-6;

// The values of one sample as so many equal ones.
Array samples(const json& values, DType dtype, Shape shape, int64_t count) {
  std::vector<int64_t> sizes = shape.dims();
  sizes[0] = count;
  std::vector<float> all;
  for (int64_t i = 0; i < count; ++i) {
    for (const json& value : values) all.push_back(value.get<float>());
  }
  return Array(std::move(all), Shape(sizes)).cast(dtype);
}

void expect_equal(const Array& got, const json& wanted, int64_t count, const std::string& name) {
  ASSERT_EQ(got.elements(), static_cast<int64_t>(wanted.size()) * count) << name;
  const std::vector<float> numbers = got.floats();
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto value = wanted[i % wanted.size()].get<double>();
    const double bound = got.dtype() == DType::f32 ? kAbsolute + kRelative * std::abs(value) : 0.0;
    EXPECT_NEAR(static_cast<double>(numbers[i]), value, bound) << name << " at " << i;
  }
}

TEST(tflite_models, compute_what_the_interpreter_computes) {
  int compared = 0;
  for (const json& model : tflite_models()) {
    const std::string name = model["name"];
    const tflite::File file =
        tflite::File::parse(name, from_base64(model["model"].get<std::string>()));
    const tflite::Network network = tflite::read_network(file);
    ir::verify(network.graph.ir());
    Predictor predictor(network.graph, 2);
    std::map<std::string, Array> inputs;
    for (size_t i = 0; i < file.inputs().size(); ++i) {
      const tflite::TensorInfo& info = file.tensor(file.inputs()[i]);
      const DType dtype = info.type == tflite::kInt8    ? DType::i8
                          : info.type == tflite::kInt32 ? DType::i32
                                                        : DType::f32;
      inputs.emplace(info.name, samples(model["inputs"][i], dtype, info.shape, 2));
    }
    const std::map<std::string, Array> made = predictor.run(inputs);
    for (size_t i = 0; i < file.outputs().size(); ++i) {
      expect_equal(made.at(file.tensor(file.outputs()[i]).name), model["outputs"][i], 2, name);
    }
    ++compared;
  }
  EXPECT_EQ(compared, 103);
}

std::vector<char> model_named(const std::string& name) {
  for (const json& model : tflite_models()) {
    if (model["name"] == name) return from_base64(model["model"].get<std::string>());
  }
  return {};
}

std::string error_of_model(std::vector<char> bytes) {
  return error_of([&] {
    static_cast<void>(tflite::read_network(tflite::File::parse("m.tflite", std::move(bytes))));
  });
}

TEST(tflite_models, keep_weights_as_parameters_and_know_their_tensors) {
  const tflite::File file = tflite::File::parse("m", model_named("int8_conv"));
  tflite::Network network = tflite::read_network(file);
  EXPECT_EQ(network.tensor_of, (std::map<std::string, int>{{"quantized_conv2d_1.weight", 1},
                                                           {"quantized_conv2d_1.bias", 2}}));
  const Value weight = network.graph.ir().find_source("quantized_conv2d_1.weight");
  EXPECT_EQ(weight.dtype(), DType::i8);
  EXPECT_EQ(weight.shape(), (Shape{3, 3, 2, 2}));
  EXPECT_EQ(weight.quantization()->axis, 0);
}

TEST(tflite_models, shorter_by_any_number_of_bytes_are_refused) {
  const std::vector<char> whole = model_named("int8_fully_connected");
  ASSERT_EQ(error_of_model(whole), kNoError);
  for (size_t size = 0; size < whole.size(); ++size) {
    // What the file's end holds may be padding alone.
    const std::string error =
        error_of_model({whole.begin(), whole.begin() + static_cast<long>(size)});
    if (size + 16 < whole.size()) {
      EXPECT_NE(error.find("m.tflite"), std::string::npos) << size << ": " << error;
    }
  }
}

TEST(tflite_models, with_any_byte_changed_are_read_or_refused) {
  const std::vector<char> whole = model_named("int8_conv");
  std::set<std::string> errors;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int change : {1, 0x7f, 0x80, 0xff}) {
      std::vector<char> bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ change);
      const std::string error = error_of_model(std::move(bytes));
      if (error != kNoError) {
        EXPECT_NE(error.find("m.tflite"), std::string::npos) << at << ": " << error;
        errors.insert(error);
      }
    }
  }
  EXPECT_GT(errors.size(), 40U);
}

// The file with the 32-bit number `from`, which is there but once, as `to`.
std::vector<char> with_number(std::vector<char> bytes, float from, float to) {
  int found = 0;
  for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    float value = 0.0F;
    std::memcpy(&value, bytes.data() + at, 4);
    if (value != from) continue;
    std::memcpy(bytes.data() + at, &to, 4);
    ++found;
  }
  EXPECT_EQ(found, 1);
  return bytes;
}

TEST(tflite_models, that_the_engine_has_no_op_for_are_named) {
  EXPECT_NE(error_of_model({}).find("expected TFL3 or CIR0"), std::string::npos);
  const std::string other_scale =
      error_of_model(with_number(model_named("int8_softmax"), 1.0F / 256.0F, 0.25F));
  EXPECT_NE(other_scale.find("operators[0], SOFTMAX: its result has another scale"),
            std::string::npos)
      << other_scale;
  const std::string beta = error_of_model(with_number(model_named("int8_softmax"), 1.0F, 2.0F));
  EXPECT_NE(beta.find("expected a beta of 1"), std::string::npos) << beta;
  // CONV_2D, 3, as an operator that the reader does not know.
  std::vector<char> bytes = model_named("conv_same_relu6");
  for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    int32_t value = 0;
    std::memcpy(&value, bytes.data() + at, 4);
    if (value == 3) bytes[at] = 119;
  }
  EXPECT_NE(error_of_model(bytes), kNoError);
}

// The file with other numbers of 32 bits in the place of these, which are there at least once.
std::vector<char> with_numbers(std::vector<char> bytes, const std::vector<int32_t>& from,
                               const std::vector<int32_t>& to) {
  const size_t size = from.size() * sizeof(int32_t);
  int found = 0;
  for (size_t at = 0; at + size <= bytes.size(); at += 4) {
    if (std::memcmp(bytes.data() + at, from.data(), size) != 0) continue;
    std::memcpy(bytes.data() + at, to.data(), size);
    ++found;
  }
  EXPECT_GE(found, 1);
  return bytes;
}

// Lists begin with their length.
TEST(tflite_models, with_lists_that_do_not_fit_are_refused) {
  const std::string one_input =
      error_of_model(with_numbers(model_named("add"), {2, 0, 1}, {1, 0, 1}));
  EXPECT_NE(one_input.find("operators[0], ADD: its input 1 is missing"), std::string::npos)
      << one_input;
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  const std::string huge = error_of_model(
      with_numbers(model_named("conv_same_relu6"), {4, 1, 5, 6, 2}, {4, kMost, kMost, kMost, 0}));
  EXPECT_NE(huge.find("has too many elements"), std::string::npos) << huge;
  const std::string scalar =
      error_of_model(with_numbers(model_named("strided_slice"), {3, 1, 3, 3}, {0, 1, 3, 3}));
  EXPECT_NE(scalar.find("operators[0], STRIDED_SLICE"), std::string::npos) << scalar;
  const std::string no_tensor =
      error_of_model(with_numbers(model_named("add"), {2, 0, 1}, {2, 0, 99}));
  EXPECT_NE(no_tensor.find("operators[0].inputs: there is no tensor 99"), std::string::npos)
      << no_tensor;
  const std::string twice = error_of_model(with_numbers(model_named("add"), {2, 0, 1}, {2, 0, 2}));
  EXPECT_NE(twice.find("tensor 2 has a value already"), std::string::npos) << twice;
}

TEST(tflite_models, are_found_by_their_contents) {
  const TemporaryFolder folder;
  const std::vector<char> bytes = model_named("relu");
  std::ofstream(folder / "model.bin", std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const Graph graph = import_model(folder / "model.bin");
  EXPECT_EQ(io::graph_to_json(graph.ir()),
            io::graph_to_json(import_tflite(folder / "model.bin").ir()));
  std::ofstream(folder / "empty.tflite").flush();
  EXPECT_NE(error_of([&] {
              static_cast<void>(import_model(folder / "empty.tflite"));
            }).find("expected the model of another program"),
            std::string::npos);
}

}  // namespace
}  // namespace thimble::test::tflite_models_test
