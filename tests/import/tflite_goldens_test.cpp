// Networks of TensorFlow Lite and circle: every operator's result has the bits of the reference
// kernels, and of float ones their values.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <thimble/predictor.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/given_data.h"
#include "import/tflite/reader.h"
#include "io/atomic_file.h"

namespace thimble::test::tflite_goldens_test {
namespace {

using nlohmann::json;

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
size_t compare(const std::string& path) {
  const json golden = json::parse(io::read_file(path + ".golden.json", 1 << 20));
  const tflite::File file = tflite::File::read(path + ".tflite");
  const tflite::Network network = tflite::read_network(file, true);
  EXPECT_EQ(file.operators().size(), golden["cases"][0]["ops"].size());
  Predictor predictor(network.graph, 1);
  size_t compared = 0;
  for (const json& test : golden["cases"]) {
    const Shape shape(golden["input"]["shape"].get<std::vector<int64_t>>());
    const auto made =
        predictor.run({{golden["input"]["name"].get<std::string>(),
                        Array(generated(test["seed"].get<uint32_t>(), shape.elements()), shape)}});
    // Dense layers follow the integer rule, which the reference kernels do not.
    const bool other_dense = test.contains("ops_integer_fc_crc32");
    for (size_t i = 0; i < file.operators().size(); ++i) {
      const uint32_t crc = crc32_of(made.at(std::to_string(i)).as<int8_t>());
      const json& wanted = other_dense ? test["ops_integer_fc_crc32"][i] : test["ops"][i][4];
      EXPECT_EQ(fmt::format("{:08x}", crc), wanted.get<std::string>())
          << path << ": operator " << i << ", " << test["ops"][i][1];
      ++compared;
    }
    const json& output = other_dense ? test["output_integer_fc"] : test["output"];
    const auto numbers = made.at(golden["output"]["name"].get<std::string>()).as<int8_t>();
    EXPECT_EQ(std::vector<int8_t>(numbers.begin(), numbers.end()),
              output.get<std::vector<int8_t>>());
  }
  return compared;
}

class tflite_goldens : public ::testing::TestWithParam<const char*> {};

TEST_P(tflite_goldens, are_equal_operator_by_operator) {
  const std::string folder = test::given_data("models/tflite");
  if (folder.empty()) GTEST_SKIP() << "set THIMBLE_DATA to a folder with models/tflite";
  EXPECT_GE(compare(folder + "/" + GetParam()), 20U);
}

INSTANTIATE_TEST_SUITE_P(, tflite_goldens,
                         ::testing::Values("pretrainedResnet_quant", "vww_96_int8", "kws_ref_model",
                                           "ad01_int8"),
                         [](const auto& info) { return std::string(info.param); });

TEST(circle_goldens, have_equal_values) {
  const std::string folder = test::given_data("models/circle");
  if (folder.empty()) GTEST_SKIP() << "set THIMBLE_DATA to a folder with models/circle";
  const json golden = json::parse(io::read_file(folder + "/simple_mnist.golden.json", 1 << 20));
  const tflite::File file = tflite::File::read(folder + "/simple_mnist.circle");
  EXPECT_TRUE(file.is_circle());
  const tflite::Network network = tflite::read_network(file, true);
  EXPECT_EQ(network.tensor_of, (std::map<std::string, int>{{"conv2d_1.weight", 4},
                                                           {"conv2d_1.bias", 5},
                                                           {"dense_1.weight", 2},
                                                           {"dense_2.weight", 1}}));
  Predictor predictor(network.graph, 1);
  for (const json& test : golden["cases"]) {
    const Shape shape(golden["input"]["shape"].get<std::vector<int64_t>>());
    std::vector<float> pixels;
    for (const int8_t byte : generated(test["seed"].get<uint32_t>(), shape.elements())) {
      pixels.push_back(static_cast<float>(byte) / 128.0F);
    }
    const auto made =
        predictor.run({{file.tensor(file.inputs()[0]).name, Array(std::move(pixels), shape)}});
    for (size_t i = 0; i < test["ops"].size(); ++i) {
      const Array& result = made.at(std::to_string(i));
      const auto numbers = result.as<float>();
      const json& wanted = test["ops"][i][4];  // the first of them
      ASSERT_LE(wanted.size(), numbers.size());
      for (size_t k = 0; k < wanted.size(); ++k) {
        const auto value = wanted[k].get<double>();
        EXPECT_NEAR(static_cast<double>(numbers[k]), value, 1e-6 + 1e-5 * std::abs(value))
            << "operator " << i;
      }
    }
  }
}

}  // namespace
}  // namespace thimble::test::tflite_goldens_test
