// Models of other programs, and int8 in .npy files.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include "cli/process.h"
#include "harness/given_data.h"
#include "io/npy/npy_write.h"

namespace thimble::test::import_cli_test {
namespace {

std::vector<int8_t> last_bytes(const std::string& path, size_t count) {
  const std::string bytes = read_text(path);
  if (bytes.size() < count) return {};
  return {bytes.end() - static_cast<std::ptrdiff_t>(count), bytes.end()};
}

void write_bytes(const std::string& path, const Shape& shape, const std::vector<int8_t>& values) {
  io::write_npy(path, DType::i8, shape, std::as_bytes(std::span(values)));
}

TEST(import, predicts_int8_from_int8) {
  const TemporaryFolder folder;
  Graph g;
  const Value x = g.input("x", {2}, DType::i8, {.scales = {0.5F}, .zero_points = {1}});
  g.output("y", requantize(x, {.scale = 0.25, .zero_point = -3}));
  save_model(g, folder / "m");
  write_bytes(folder / "x.npy", {3, 2}, {1, 2, -5, 127, 0, -128});
  const Outcome done =
      run({"predict", folder / "m", "--input", folder / "x.npy", "--out", folder / "y.npy"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.out, "y i8[3, 2] in " + folder / "y.npy" + "\n");
  EXPECT_EQ(last_bytes(folder / "y.npy", 6), (std::vector<int8_t>{-3, -1, -15, 127, -5, -128}));
}

TEST(import, says_what_it_reads) {
  const TemporaryFolder folder;
  write_text(folder / "notes.txt", "no model");
  const Outcome other = run({"import", folder / "notes.txt", "-o", folder / "m"});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("a quantized network in JSON"), std::string::npos);
  const Outcome missing = run({"import", folder / "none.json", "-o", folder / "m"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_NE(missing.err.find("none.json"), std::string::npos);
}

TEST(adapt, writes_a_model_that_trains) {
  const TemporaryFolder folder;
  Graph g;
  const Value x = g.input("image", {28, 28, 1});
  g.output("scores", dense(flatten(x), {.units = 4, .name = "head"}));
  save_model(g, folder / "m");
  const Outcome made =
      run({"adapt", folder / "m", "--loss", "softmax_cross_entropy", "--label", "digit", "--metric",
           "accuracy", "--head", "replace:10", "-o", folder / "mine"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_NE(made.out.find("7850 of 7850 parameters are trained"), std::string::npos) << made.out;
  const Outcome as_json =
      run({"adapt", folder / "mine", "--freeze", "head.bias", "-o", folder / "frozen", "--json"});
  ASSERT_EQ(as_json.code, 0) << as_json.err;
  const auto report = last_line_json(as_json.out);
  EXPECT_EQ(keys(report), "file trained_parameters frozen_parameters bytes");
  EXPECT_EQ(report["frozen_parameters"], 10);
  const Outcome planned = run({"plan", folder / "mine", "--batch", "8"});
  EXPECT_EQ(planned.code, 0) << planned.err;
}

TEST(adapt, refuses_what_it_does_not_understand) {
  const TemporaryFolder folder;
  const Outcome nothing = run({"adapt", "lenet5", "-o", folder / "m"});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_NE(nothing.err.find("nothing to change is named"), std::string::npos) << nothing.err;
  const Outcome head = run({"adapt", "lenet5", "--head", "replace:none", "-o", folder / "m"});
  EXPECT_EQ(head.code, 2);
  EXPECT_NE(head.err.find("expected replace:N"), std::string::npos) << head.err;
  const Outcome loss = run({"adapt", "lenet5", "--loss", "nothing", "-o", folder / "m"});
  EXPECT_EQ(loss.code, 2);
  EXPECT_NE(loss.err.find("there is no loss"), std::string::npos) << loss.err;
}

TEST(adapt, takes_label_and_output_with_a_loss_alone) {
  const TemporaryFolder folder;
  Graph g;
  g.output("scores", dense(g.input("x", {3}), {.units = 4}));
  save_model(g, folder / "m");
  const Outcome label = run({"adapt", folder / "m", "--label", "digit", "-o", folder / "out"});
  EXPECT_EQ(label.code, 2);
  EXPECT_NE(label.err.find("--label requires --loss"), std::string::npos) << label.err;
  const Outcome output = run({"adapt", folder / "m", "--output", "nope", "-o", folder / "out"});
  EXPECT_EQ(output.code, 2);
  EXPECT_NE(output.err.find("an output is chosen for a loss or a new head"), std::string::npos)
      << output.err;
}

TEST(import, does_not_write_over_what_it_reads) {
  const TemporaryFolder folder;
  for (const char* const name : {"net.json", "net.safetensors"}) {
    write_text(folder / "net.json", "{}");
    write_text(folder / "net.safetensors", "weights");
    const Outcome done = run({"import", folder / "net.json", "-o", folder / name});
    EXPECT_EQ(done.code, 2);
    EXPECT_NE(done.err.find("is read by this import"), std::string::npos) << done.err;
    EXPECT_EQ(read_text(folder / "net.json"), "{}");
    EXPECT_EQ(read_text(folder / "net.safetensors"), "weights");
  }
}

TEST(import, makes_a_model_of_mcunet_that_every_command_takes) {
  const std::string path = test::given_mcunet();
  if (path.empty()) GTEST_SKIP() << test::kNeedsMcunet;
  const TemporaryFolder folder;
  const std::string model = folder / "mcunet.safetensors";
  const Outcome imported = run({"import", path, "-o", model, "--json"});
  ASSERT_EQ(imported.code, 0) << imported.err;
  EXPECT_EQ(keys(last_line_json(imported.out)), "file ops parameters bytes");
  EXPECT_EQ(last_line_json(imported.out)["ops"], 52);
  EXPECT_EQ(run({"summary", model}).code, 0);
  // A network without a loss has an inference plan alone; its golden input gives the golden logits.
  std::vector<int8_t> pixels(128 * 128 * 3);
  uint32_t r = 1;
  for (int8_t& pixel : pixels) {
    r = r * 1664525U + 1013904223U;
    pixel = static_cast<int8_t>(r >> 24);
  }
  write_bytes(folder / "x.npy", {1, 128, 128, 3}, pixels);
  const Outcome predicted =
      run({"predict", model, "--input", folder / "x.npy", "--out", folder / "y.npy"});
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_EQ(last_bytes(folder / "y.npy", 10),
            (std::vector<int8_t>{-17, -26, -26, -32, -16, -4, -18, -19, -22, -36}));
}

}  // namespace
}  // namespace thimble::test::import_cli_test
