#include <fmt/format.h>
#include <gtest/gtest.h>
#include <thimble/import.h>
#include <thimble/thimble.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "harness/error_of.h"
#include "harness/given_data.h"
#include "io/atomic_file.h"
#include "io/safetensors/safetensors.h"
#include "io/temporary_folder.h"
#include "ir/graph.h"

namespace thimble::test::quantized_json_test {
namespace {

using nlohmann::json;

// Tensors of a network of one 1x1 convolution from 2 to 3 channels; the factors are 1/4, 1/2, 1.
struct Tensors {
  std::vector<int8_t> weight{1, 2, 3, -4, 5, 6};
  std::vector<int32_t> bias{8, -2, 1};
  std::vector<float> scale{0.5F, 1.0F, 2.0F};
  std::vector<float> factors{0.25F, 0.5F, 1.0F};
  std::vector<float> extra;  // that no node reads
};

json small_network() {
  return json::parse(R"({
    "name": "small", "input": {"shape": [1, 2, 1, 2], "scale": 0.5, "zero_point": 1},
    "nodes": [
      {"op": "conv2d", "name": "first", "input": "input", "output": "a", "kernel": [1, 1],
       "stride": 1, "padding": 0, "groups": 1, "input_shape": [1, 2, 1, 2],
       "output_shape": [1, 2, 1, 3], "input_scale": 0.5, "input_zero_point": 1,
       "output_scale": 1.0, "output_zero_point": -3, "weight": "w", "weight_scale": "s",
       "bias": "b", "requant": "f"},
      {"op": "add", "name": "twice", "inputs": ["a", "a"], "output": "c",
       "input_scales": [1.0, 1.0], "input_zero_points": [-3, -3], "output_scale": 2.0,
       "output_zero_point": 0, "output_shape": [1, 2, 1, 3]},
      {"op": "global_average_pool", "name": "pool", "input": "c", "output": "d",
       "rounding": "nearest, ties to even", "output_shape": [1, 1, 1, 3]}
    ]})");
}

template <class T>
io::TensorView view(const char* name, const Shape& shape, const std::vector<T>& values) {
  return {.name = name,
          .dtype = dtype_of<T>(),
          .shape = shape,
          .bytes = std::as_bytes(std::span(values))};
}

// Writes both files; returns the path of the JSON.
std::string write_network(const TemporaryFolder& folder, const std::string& text,
                          const Tensors& tensors = {}) {
  std::vector<io::TensorView> all{view("w", {3, 1, 1, 2}, tensors.weight),
                                  view("s", {3}, tensors.scale), view("b", {3}, tensors.bias)};
  if (!tensors.factors.empty()) all.push_back(view("f", {3}, tensors.factors));
  if (!tensors.extra.empty()) all.push_back(view("more", {1}, tensors.extra));
  io::write_safetensors(folder / "net.safetensors", all, {});
  const std::string path = folder / "net.json";
  std::ofstream(path) << text;
  return path;
}

std::vector<int8_t> logits(const std::string& model, const Array& x) {
  Predictor predictor(model, 1);
  const Array made = predictor.run({{"input", x}}).at("logits");
  const auto numbers = made.as<int8_t>();
  return {numbers.begin(), numbers.end()};
}

TEST(quantized_json, makes_a_model_file_that_predicts) {
  const TemporaryFolder folder;
  Graph graph = import_quantized_json(write_network(folder, small_network().dump()));
  save_model(graph, folder / "m.safetensors");
  // Less the zero point the pixels are (3, -5) and (0, 2). Sums: 3-10+8 = 1, 9+20-2 = 27, 15-30+1
  // = -14; and 4+8 = 12, -8-2 = -10, 12+1 = 13. Times 1/4, 1/2, 1: 0, 14 (13.5), -14; 3, -5, 13.
  // The sum of twice these over 2 is the same. Means: 2 (1.5), 4 (4.5), 0 (-0.5).
  const Array x(std::vector<int8_t>{4, -4, 1, 3}, {1, 2, 1, 2});
  EXPECT_EQ(logits(folder / "m.safetensors", x), (std::vector<int8_t>{2, 4, 0}));
  // What it reads is a model with frozen int8 weights.
  const Value weight = graph.ir().find_source("first.weight");
  EXPECT_EQ(weight.dtype(), DType::i8);
  EXPECT_EQ(*weight.quantization(), (Quantization{{0.5F, 1.0F, 2.0F}, {}, 0}));
}

struct Damage {
  const char* name;
  std::function<void(json&)> change;
  const char* says;
};

const std::vector<Damage>& damages() {
  static const std::vector<Damage> all{
      {"no_nodes", [](json& n) { n["nodes"] = json::array(); }, "at least one node"},
      {"nodes_of_text", [](json& n) { n["nodes"] = "none"; }, "must be a list"},
      {"a_node_that_is_a_number", [](json& n) { n["nodes"][1] = 3; }, "nodes[1] is no object"},
      {"an_unknown_op", [](json& n) { n["nodes"][0]["op"] = "lstm"; }, "nodes[0].op: expected"},
      {"no_op", [](json& n) { n["nodes"][0].erase("op"); }, "got nothing"},
      {"an_unknown_field", [](json& n) { n["nodes"][0]["dilation"] = 2; }, "dilation"},
      {"no_input", [](json& n) { n.erase("input"); }, "the field input is missing"},
      {"a_later_value", [](json& n) { n["nodes"][0]["input"] = "c"; }, "an earlier value"},
      {"a_batch_of_two", [](json& n) { n["input"]["shape"][0] = 2; }, "[1, height, width"},
      {"a_size_of_zero", [](json& n) { n["input"]["shape"][1] = 0; }, "a whole number from 1"},
      {"a_huge_size", [](json& n) { n["input"]["shape"][1] = 1LL << 40; }, "a whole number"},
      {"a_fraction", [](json& n) { n["nodes"][0]["stride"] = 1.5; }, "stride must be"},
      {"a_stride_of_zero", [](json& n) { n["nodes"][0]["stride"] = 0; }, "stride must be"},
      {"a_negative_scale", [](json& n) { n["input"]["scale"] = -1; }, "above 0"},
      {"a_scale_of_text", [](json& n) { n["nodes"][0]["output_scale"] = "1"; }, "above 0"},
      {"a_zero_point_of_200", [](json& n) { n["input"]["zero_point"] = 200; }, "-128 to 127"},
      {"another_input_scale", [](json& n) { n["nodes"][0]["input_scale"] = 0.25; },
       "are not those of that value"},
      {"another_output_shape", [](json& n) { n["nodes"][0]["output_shape"][1] = 3; },
       "output_shape must be [1, 2, 1, 3]"},
      {"another_input_shape", [](json& n) { n["nodes"][0]["input_shape"][1] = 3; },
       "the shape of its input"},
      {"groups_of_three", [](json& n) { n["nodes"][0]["groups"] = 3; }, "groups must be"},
      {"a_kernel_of_three",
       [](json& n) {
         n["nodes"][0]["kernel"] = {3, 3};
       },
       "expected the tensor"},
      {"a_kernel_of_one_number", [](json& n) { n["nodes"][0]["kernel"] = {1}; }, "2 items"},
      {"no_such_tensor", [](json& n) { n["nodes"][0]["weight"] = "v"; }, "does not have"},
      {"a_tensor_of_another_type", [](json& n) { n["nodes"][0]["bias"] = "s"; }, "to be i32[3]"},
      {"an_output_twice", [](json& n) { n["nodes"][1]["output"] = "a"; }, "two values"},
      {"a_sum_of_three",
       [](json& n) {
         n["nodes"][1]["inputs"] = {"a", "a", "a"};
       },
       "inputs"},
      {"a_sum_of_two_shapes",
       [](json& n) {
         n["nodes"][2]["output"] = "b";
         n["nodes"][1]["inputs"] = {"a", "b"};
         std::swap(n["nodes"][1], n["nodes"][2]);
         n["nodes"][1]["input"] = "a";
       },
       "two values of one shape"},
      {"an_empty_name", [](json& n) { n["nodes"][1]["name"] = ""; }, "nodes[1]: name is no name"},
      {"a_name_that_is_a_number", [](json& n) { n["nodes"][2]["name"] = 7; },
       "nodes[2]: name must be"},
      {"a_network_named_by_a_number", [](json& n) { n["name"] = 7; }, "name must be"},
      {"another_layout", [](json& n) { n["layout"] = "NCHW"; }, "layout must be"},
      {"other_semantics", [](json& n) { n["semantics"] = "y=trunc(acc)"; }, "semantics must be"},
      {"a_scale_beyond_2_to_60", [](json& n) { n["nodes"][1]["output_scale"] = 1e20; },
       "nodes[1]: [quantized_add] expected scales"},
      {"another_rounding", [](json& n) { n["nodes"][2]["rounding"] = "down"; }, "rounding"},
  };
  return all;
}

TEST(quantized_json, names_the_file_and_the_field) {
  for (const Damage& damage : damages()) {
    const TemporaryFolder folder;
    json network = small_network();
    damage.change(network);
    const std::string path = write_network(folder, network.dump());
    const std::string error = error_of([&] { static_cast<void>(import_quantized_json(path)); });
    EXPECT_NE(error.find(damage.says), std::string::npos) << damage.name << ": " << error;
    EXPECT_NE(error.find(path), std::string::npos) << damage.name << ": " << error;
  }
}

TEST(quantized_json, refuses_damaged_texts_and_weights) {
  const TemporaryFolder folder;
  const auto error_with = [&](const std::string& text, const Tensors& tensors = {}) {
    const std::string path = write_network(folder, text, tensors);
    return error_of([&] { static_cast<void>(import_quantized_json(path)); });
  };
  const std::string good = small_network().dump();
  for (size_t length = 0; length < good.size(); length += 97) {
    EXPECT_NE(error_with(good.substr(0, length)).find("net.json"), std::string::npos) << length;
  }
  EXPECT_NE(error_with("[1]").find("expected an object"), std::string::npos);
  Tensors other;
  other.factors[1] = 0.51F;
  EXPECT_NE(error_with(good, other).find("the factor of channel 1 in f is 0.51"),
            std::string::npos);
  other.factors.clear();
  EXPECT_NE(error_with(good, other).find("does not have"), std::string::npos);
  json unread = small_network();
  unread["nodes"][0]["requant"] = "s";
  EXPECT_NE(error_with(unread.dump()).find("the factor of channel 0 in s"), std::string::npos);
  unread["nodes"][0]["weight_scale"] = "f";
  EXPECT_NE(error_with(unread.dump()).find("the factor of channel 0"), std::string::npos);
  Tensors more;
  more.extra = {1.0F};
  EXPECT_NE(error_with(good, more).find("reads its tensor \"more\""), std::string::npos);
  std::filesystem::remove(folder / "net.safetensors");
  const std::string path = folder / "net.json";
  const std::string missing = error_of([&] { static_cast<void>(import_quantized_json(path)); });
  EXPECT_NE(missing.find("its weights are missing"), std::string::npos) << missing;
}

// The bytes of the network's golden inputs.
std::vector<int8_t> golden_input(uint32_t seed, size_t count) {
  std::vector<int8_t> bytes(count);
  for (int8_t& byte : bytes) {
    seed = seed * 1664525U + 1013904223U;
    byte = static_cast<int8_t>(seed >> 24);
  }
  return bytes;
}

TEST(quantized_json, gives_the_golden_logits_of_mcunet) {
  const std::string path = test::given_mcunet();
  if (path.empty()) GTEST_SKIP() << test::kNeedsMcunet;
  const TemporaryFolder folder;
  const std::string model = folder / "mcunet.safetensors";
  save_model(import_quantized_json(path), model);
  const json network = json::parse(io::read_file(path, 1 << 20));
  ASSERT_EQ(network["golden"].size(), 2U);
  for (const json& golden : network["golden"]) {
    const Array x(golden_input(golden["lcg_seed"], 128 * 128 * 3), {1, 128, 128, 3});
    EXPECT_EQ(logits(model, x), golden["logits_int8"].get<std::vector<int8_t>>());
  }
}

}  // namespace
}  // namespace thimble::test::quantized_json_test
