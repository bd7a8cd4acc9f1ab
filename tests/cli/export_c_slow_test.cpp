// Exporting larger models as C sources.
#include <fstream>
#include <string>
#include <vector>

#include "cli/export_c.h"
#include "harness/given_data.h"

namespace thimble::test::export_c_slow_test {
namespace {

TEST(cli_export_c_slow, lstm_gives_the_bits_of_the_engine) {
  const TemporaryFolder folder;
  ASSERT_FALSE(exported("lstm", {"--batch", "2"}, folder / "c").is_null());
  expect_equal_bits(folder / "c");
}

// MCUNet as a model file; empty: its data is not here.
std::string mcunet(const TemporaryFolder& folder, const std::vector<std::string>& options) {
  const std::string file = given_mcunet();
  if (file.empty()) return "";
  std::string model = folder / "mcunet.safetensors";
  std::vector<std::string> words{"import", file, "-o", model};
  words.insert(words.end(), options.begin(), options.end());
  EXPECT_EQ(run(words).code, 0);
  return model;
}

TEST(cli_export_c_slow, mcunet_predicts_the_bits_of_the_engine) {
  const TemporaryFolder folder;
  const std::string model = mcunet(folder, {});
  if (model.empty()) GTEST_SKIP() << kNeedsMcunet;
  const auto json = exported(model, {"--predict-only", "--batch", "1"}, folder / "c");
  ASSERT_FALSE(json.is_null());
  expect_equal_bits(folder / "c");
}

// The sparse update that the paper calls the one of 49 KB.
TEST(cli_export_c_slow, mcunet_trains_with_the_bits_of_the_engine) {
  const TemporaryFolder folder;
  const std::string model =
      mcunet(folder, {"--loss", "softmax_cross_entropy", "--metric", "accuracy", "--head",
                      "replace:10", "--trainable", "*"});
  if (model.empty()) GTEST_SKIP() << kNeedsMcunet;
  const std::string scheme = folder / "scheme.json";
  std::ofstream(scheme) << R"({"bias_last": 20, "weights": {"v9_conv_0": 0.25, "v10_conv_0": 0.5,
                               "v11_conv_0": 0.5}})";
  const auto json = exported(model,
                             {"--batch", "1", "--optimizer", "sgd:momentum=0", "--scheme", scheme,
                              "--memory-budget", "160000"},
                             folder / "c");
  ASSERT_FALSE(json.is_null());
  EXPECT_LE(json["ram_bytes"].get<int64_t>(), 160'000);  // with the stack
  expect_equal_bits(folder / "c");
}

}  // namespace
}  // namespace thimble::test::export_c_slow_test
