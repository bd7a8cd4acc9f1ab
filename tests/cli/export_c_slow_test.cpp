// Exporting larger models as C sources.
#include <cstdlib>
#include <fstream>

#include "cli/export_c.h"

namespace thimble::test::export_c_slow_test {
namespace {

TEST(cli_export_c_slow, lstm_gives_the_bits_of_the_engine) {
  const TemporaryFolder folder;
  ASSERT_FALSE(exported("lstm", {"--batch", "2"}, folder / "c").is_null());
  expect_equal_bits(folder / "c");
}

TEST(cli_export_c_slow, mcunet_predicts_the_bits_of_the_engine) {
  const char* const data = std::getenv("THIMBLE_DATA");
  const std::string file =
      std::string(data == nullptr ? "" : data) + "/models/mcunet5fps/mcunet5fps_int8.json";
  if (!std::ifstream(file)) GTEST_SKIP() << "set THIMBLE_DATA to a folder with models/mcunet5fps";
  const TemporaryFolder folder;
  const std::string model = folder / "mcunet.safetensors";
  ASSERT_EQ(run({"import", file, "-o", model}).code, 0);
  const auto json = exported(model, {"--predict-only", "--batch", "1"}, folder / "c");
  ASSERT_FALSE(json.is_null());
  expect_equal_bits(folder / "c");
}

}  // namespace
}  // namespace thimble::test::export_c_slow_test
