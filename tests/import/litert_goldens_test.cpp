// Quantized ops in fixed point against LiteRT's kernels, from litert_goldens.json (written by
// scripts/goldens_litert.py): the bits of both kernels.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "io/atomic_file.h"

namespace thimble::test::litert_goldens_test {
namespace {

using nlohmann::json;

Tensor input_of(const json& input, bool is_weight, int axis) {
  const Shape shape(input["shape"].get<std::vector<int64_t>>());
  if (input["dtype"] == "i32") {
    return tensor(DType::i32, shape, input["values"].get<std::vector<int32_t>>());
  }
  Tensor made = tensor(DType::i8, shape, input["values"].get<std::vector<int8_t>>());
  Quantization q{.scales = input["scales"].get<std::vector<float>>()};
  if (q.scales.size() > 1) q.axis = axis;
  if (!is_weight) q.zero_points = {input["zero_point"].get<int32_t>()};
  made.type.quantization = std::make_shared<const Quantization>(std::move(q));
  return made;
}

TEST(litert_goldens, are_equal_to_the_last_bit) {
  const std::string path = THIMBLE_SOURCE_DIR "/tests/import/litert_goldens.json";
  std::map<std::string, int> compared;
  for (const json& golden : json::parse(io::read_file(path, 1 << 20))) {
    const std::string op = golden["op"];
    const bool has_weights =
        op == "quantized_conv2d" || op == "quantized_dense" || op == "quantized_conv_transpose2d";
    std::vector<Tensor> inputs;
    for (const json& input : golden["inputs"]) {
      inputs.push_back(input_of(input, has_weights && inputs.size() == 1,
                                op == "quantized_conv_transpose2d" ? 3 : 0));
    }
    const ir::Attrs attrs = attrs_of(op.c_str(), golden["attrs"].dump());
    const auto wanted = golden["output"].get<std::vector<int8_t>>();
    for (const Kernel kernel : {Kernel::reference, Kernel::fast}) {
      EXPECT_EQ(values_of<int8_t>(run_op(op.c_str(), attrs, inputs, kernel)[0]), wanted)
          << golden["name"];
    }
    ++compared[op];
  }
  const std::map<std::string, int> all{
      {"quantized_conv2d", 9},
      {"quantized_conv_transpose2d", 2},
      {"quantized_dense", 2},
      {"quantized_add", 3},
      {"quantized_mul", 3},
      {"requantize", 2},
      {"quantized_average_pool2d", 2},
      {"softmax", 4},
      {"upsample2d", 5},
      {"max_pool2d", 2},
      {"pad", 2},
      {"concat", 2},
      {"quantized_mean", 3},
  };
  EXPECT_EQ(compared, all);
}

}  // namespace
}  // namespace thimble::test::litert_goldens_test
