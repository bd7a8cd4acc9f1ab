// Data that --data accepts besides a recipe's own files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/process.h"
#include "data/zip_of.h"
#include "io/png/stb_write.h"

namespace thimble::test::cli_data_test {
namespace {

using ::testing::HasSubstr;

void write_png(const std::string& path, unsigned char value) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  const std::vector<unsigned char> pixels(30 * 40, value);
  write_text(path, io::encode_png(pixels.data(), 40, 30, 1));
}

// Trains mlp for an epoch.
Outcome train_on(const std::string& data, const TemporaryFolder& out,
                 const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"train",   "mlp",       "--data",      data,
                                        "--out",   out / "out", "--epochs",    "1",
                                        "--batch", "8",         "--optimizer", "sgd"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

TEST(cli_data, are_a_folder_of_images_for_any_classifier) {
  const TemporaryFolder data, out;
  for (int i = 0; i < 10; ++i) {
    const std::string name = std::to_string(i) + ".png";
    write_png(data / "zero/" + name, static_cast<unsigned char>(i));
    write_png(data / "one/" + name, static_cast<unsigned char>(200 + i));
  }
  const Outcome outcome = train_on(data.path(), out);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(data.path() + ": 16 training and 4 test samples"));
  const Outcome half = train_on(data.path(), out,
                                {"--validation-split", "0.5", "--image-fit", "stretch",
                                 "--image-mean", "0.5", "--image-deviation", "0.25"});
  EXPECT_THAT(half.out, HasSubstr(": 10 training and 10 test samples")) << half.err;
  const Outcome eval = run(
      {"eval", "mlp", "--data", data.path(), "--checkpoint", out / "out/checkpoint.safetensors"});
  EXPECT_EQ(eval.code, 0) << eval.err;

  write_text(data / "one/11.png", "no picture");
  const Outcome refused = train_on(data.path(), out);
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("one/11.png] is no PNG or JPEG file"));
}

// Ten images a class in train and test.
void write_parts(const TemporaryFolder& data) {
  for (const char* const part : {"train/", "test/"}) {
    for (int i = 0; i < 10; ++i) {
      const std::string name = std::to_string(i) + ".png";
      write_png(data / (part + ("zero/" + name)), static_cast<unsigned char>(i));
      write_png(data / (part + ("one/" + name)), static_cast<unsigned char>(200 + i));
    }
  }
}

TEST(cli_data, that_are_damaged_end_a_training_that_goes_on_when_they_are_mended) {
  const TemporaryFolder data, out;
  write_parts(data);
  const std::vector<std::string> options = {"--threads", "1", "--json"};
  const Outcome straight = train_on(data.path(), out, options);
  ASSERT_EQ(straight.code, 0) << straight.err;
  for (const char* const file : {"train/zero/3.png", "test/one/9.png"}) {
    const std::string whole = read_text(data / file);
    std::string damaged = whole;
    damaged[damaged.size() / 2] ^= 1;
    write_text(data / file, damaged);
    const Outcome ended = train_on(data.path(), out, options);
    EXPECT_EQ(ended.code, 1);
    EXPECT_THAT(ended.err, HasSubstr(std::string(file) + "] is a damaged PNG file"));
    EXPECT_THAT(ended.err, HasSubstr("is saved: mend the data, and resume from"));
    write_text(data / file, whole);
    std::vector<std::string> more = options;
    more.insert(more.end(), {"--resume", out / "out/checkpoint.safetensors"});
    const Outcome resumed = train_on(data.path(), out, more);
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    for (const char* const key : {"weights_sha256", "test_loss", "train_loss", "steps"}) {
      EXPECT_EQ(last_line_json(resumed.out)[key], last_line_json(straight.out)[key]) << key;
    }
  }
}

TEST(cli_data, are_arrays_by_the_names_of_inputs_and_labels) {
  using data::testing::npy_of;
  const TemporaryFolder data, out;
  const std::string images = npy_of("|u1", "(20, 28, 28)", std::string(20 * 784, '\x40'));
  const std::string digits = npy_of("|u1", "(20,)", std::string(20, '\3'));
  write_text(data / "set.npz",
             data::testing::zip_of({{"image.npy", images, true}, {"digit.npy", digits}}));
  const Outcome packed = train_on(data / "set.npz", out);
  EXPECT_EQ(packed.code, 0) << packed.err;
  EXPECT_THAT(packed.out, HasSubstr("set.npz: 16 training and 4 test samples"));
  write_text(data / "x.npy", images);
  write_text(data / "y.npy", digits);
  const Outcome files = train_on(data / "x.npy," + data.path() + "/y.npy", out);
  EXPECT_EQ(files.code, 0) << files.err;
  write_text(data / "set.npz", data::testing::zip_of({{"image.npy", images}}));
  const Outcome lacking = train_on(data / "set.npz", out);
  EXPECT_EQ(lacking.code, 1);
  EXPECT_THAT(lacking.err, HasSubstr("has no array for the label \"digit\" i32[]"));
}

TEST(cli_data, are_divided_by_their_classes) {
  using data::testing::npy_of;
  const TemporaryFolder data, out;
  // Two classes of 18 and 2 samples: a twentieth of them is one sample of each.
  std::string classes(20, '\3');
  classes[0] = classes[1] = '\x09';
  write_text(data / "x.npy", npy_of("|u1", "(20, 28, 28)", std::string(20 * 784, '\x40')));
  write_text(data / "y.npy", npy_of("|u1", "(20,)", classes));
  const std::string both = data / "x.npy," + data.path() + "/y.npy";
  const Outcome outcome = train_on(both, out, {"--validation-split", "0.05", "--stratified"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(": 18 training and 2 test samples"));
  classes[1] = '\3';
  write_text(data / "y.npy", npy_of("|u1", "(20,)", classes));
  const Outcome alone = train_on(both, out, {"--stratified"});
  EXPECT_EQ(alone.code, 1);
  EXPECT_THAT(alone.err, HasSubstr("class 9 has one sample"));
  // A model of texts has no label of classes.
  write_text(data / "tokens.npy", npy_of("|u1", "(20, 256)", std::string(20 * 256, '\1')));
  const Outcome texts = run({"train", "gpt", "--data", data / "tokens.npy", "--stratified", "--out",
                             out / "gpt", "--epochs", "1"});
  EXPECT_EQ(texts.code, 1);
  EXPECT_THAT(texts.err, HasSubstr("no classes to follow"));
}

TEST(cli_data, options_are_checked) {
  const TemporaryFolder out;
  EXPECT_EQ(train_on("x", out, {"--validation-split", "1"}).code, 2);
  EXPECT_EQ(train_on("x", out, {"--image-fit", "pad"}).code, 2);
  EXPECT_EQ(train_on("x", out, {"--sample-rate", "0"}).code, 2);
  EXPECT_EQ(train_on("x", out, {"--image-deviation", "0.5,0"}).code, 2);
}

}  // namespace
}  // namespace thimble::test::cli_data_test
