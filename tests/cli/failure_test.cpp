// Errors at run time: one line that says what, where and what to do, exit code 1, and no data lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <filesystem>

#include "cli/process.h"

namespace thimble::test::failure_test {
namespace {

using ::testing::HasSubstr;

constexpr long kSmallDiskBytes = 100000;  // less than a checkpoint of lenet5, more than its log

void expect_failure(const Outcome& outcome, const std::vector<std::string>& said) {
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  const size_t begin = outcome.err.rfind("thimble: ");
  ASSERT_NE(begin, std::string::npos) << outcome.err;
  const std::string last = outcome.err.substr(begin);
  EXPECT_EQ(lines(last), 1) << last;
  for (const std::string& part : said) EXPECT_THAT(last, HasSubstr(part));
}

// An IDX file of unsigned bytes: its header, and as many bytes of data as it promises plus more.
std::string idx(const std::vector<int>& sizes, int more = 0) {
  std::string text{'\0', '\0', '\x08', static_cast<char>(sizes.size())};
  int count = 1;
  for (const int size : sizes) {
    for (const int shift : {24, 16, 8, 0}) text += static_cast<char>(size >> shift & 0xff);
    count *= size;
  }
  return text + std::string(static_cast<size_t>(count + more), '\1');
}

// A folder of MNIST's four files with 64 and 32 images of the given side.
void write_mnist(const TemporaryFolder& folder, int side, int missing_bytes = 0) {
  write_text(folder / "train-images-idx3-ubyte", idx({64, side, side}, -missing_bytes));
  write_text(folder / "train-labels-idx1-ubyte", idx({64}));
  write_text(folder / "t10k-images-idx3-ubyte", idx({32, side, side}));
  write_text(folder / "t10k-labels-idx1-ubyte", idx({32}));
}

std::vector<std::string> with_data(const TemporaryFolder& data, const TemporaryFolder& out) {
  return {"train", "lenet5", "--data", data.path(), "--out", out / "out", "--epochs", "1"};
}

TEST(cli_failure, reads_idx_files_from_the_folder_or_the_environment) {
  const TemporaryFolder data, out;
  write_mnist(data, 28);
  EXPECT_EQ(run(with_data(data, out)).code, 0);
  const Outcome named = run({"train", "lenet5", "--out", out / "out", "--epochs", "1"},
                            {.environment = {{"THIMBLE_DATA", data.path()}}});
  EXPECT_EQ(named.code, 0);
  EXPECT_THAT(named.out, HasSubstr("64 training and 32 test samples"));
}

TEST(cli_data, that_no_limit_cut_short_are_not_said_to_be) {
  const TemporaryFolder data, out;
  write_mnist(data, 28);
  for (const bool cut : {false, true}) {
    const Outcome outcome = run({"train", "vae", "--data", data.path(), "--out", out / "out",
                                 "--epochs", "1", "--limit-train", cut ? "63" : "65"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err.find("--limit-train") != std::string::npos, cut) << outcome.err;
  }
}

TEST(cli_data, of_the_environment_that_fits_no_model_of_a_file_is_left_alone) {
  const TemporaryFolder data, out;
  write_mnist(data, 28);
  Graph g;
  g.minimize(mean(square(dense(g.input("x", {3}), {.units = 2}))));
  save_model(g, out / "m.safetensors");
  const std::map<std::string, std::string> environment{{"THIMBLE_DATA", data.path()}};
  const Outcome plan = run({"plan", out / "m.safetensors"}, {.environment = environment});
  EXPECT_EQ(plan.code, 0) << plan.err;
  expect_failure(
      run({"train", out / "m.safetensors", "--out", out / "out"}, {.environment = environment}),
      {"[--data] is missing", "name the samples with --data"});
}

TEST(cli_failure, of_the_environment_to_have_data_for_a_recipe_is_none) {
  const TemporaryFolder data, out;
  const auto training = [&] {
    return run(short_training("lenet5", out / "out", {"--epochs", "1"}),
               {.environment = {{"THIMBLE_DATA", data.path()}}});
  };
  const Outcome lacking = training();
  EXPECT_EQ(lacking.code, 0) << lacking.err;
  EXPECT_THAT(lacking.out, HasSubstr("built-in digits: 160 training"));
  const std::string said = "THIMBLE_DATA=" + data.path() + " has no data for lenet5";
  EXPECT_THAT(lacking.err, HasSubstr(said));
  EXPECT_EQ(lacking.err.find(said), lacking.err.rfind(said));
  // Incomplete or broken data is an error, not replaced by built-in data.
  write_mnist(data, 28, 1000);
  expect_failure(training(), {data / "train-images-idx3-ubyte"});
  std::filesystem::remove(data / "train-images-idx3-ubyte");
  expect_failure(training(), {"train-images-idx3-ubyte", "not found", "built-in digits"});
}

TEST(cli_failure, names_missing_files) {
  const TemporaryFolder folder;
  expect_failure(run({"train", "lenet5", "--data", folder / "none"}),
                 {"train-images-idx3-ubyte", folder / "none", "--data"});
  for (const char* command : {"eval", "sample"}) {
    expect_failure(run({command, "vae", "--checkpoint", folder / "none"}),
                   {folder / "none", "no such file", "thimble train"});
  }
  expect_failure(run(short_training("lenet5", folder / "out", {"--resume", folder / "none"})),
                 {folder / "none", "no such file"});
}

TEST(cli_failure, names_the_data_file_that_is_cut_off) {
  const TemporaryFolder data, out;
  write_mnist(data, 28, 1000);
  expect_failure(run(with_data(data, out)), {data / "train-images-idx3-ubyte"});
}

TEST(cli_failure, names_both_shapes_where_images_do_not_fit_the_recipe) {
  const TemporaryFolder data, out;
  write_mnist(data, 27);
  expect_failure(run(with_data(data, out)), {"27, 27", "28, 28"});
}

TEST(cli_failure, of_a_broken_checkpoint_says_what_is_wrong_with_it) {
  const TemporaryFolder folder;
  ASSERT_EQ(run(short_training("lenet5", folder / "out", {"--epochs", "1"})).code, 0);
  const std::string checkpoint = folder / "out/checkpoint.safetensors";
  const auto eval = [&](const std::string& file, const std::string& recipe) {
    return run({"eval", recipe, "--checkpoint", file, "--limit-test", "32"});
  };
  ASSERT_EQ(eval(checkpoint, "lenet5").code, 0);
  expect_failure(eval(checkpoint, "mlp"), {"dense1.weight"});
  // For a checkpoint of another model the error names the model, not the differing settings.
  expect_failure(run(short_training("vae", folder / "vae", {"--resume", checkpoint})),
                 {"encoder.1.conv.weight", "another model"});
  const std::string whole = read_text(checkpoint);
  const std::string broken = folder / "broken";
  for (const size_t bytes : {size_t{0}, size_t{7}, size_t{300}, whole.size() - 1}) {
    write_text(broken, whole.substr(0, bytes));
    expect_failure(eval(broken, "lenet5"), {broken});
  }
  write_text(broken, std::string(2000, '\xff'));
  expect_failure(eval(broken, "lenet5"), {broken});
}

TEST(cli_failure, of_a_resume_with_other_settings_names_the_setting_and_the_way_out) {
  const TemporaryFolder folder;
  const std::string checkpoint = folder / "out/checkpoint.safetensors";
  const auto training = [&](const std::vector<std::string>& more) {
    return run(short_training("vae", folder / "out", more));
  };
  ASSERT_EQ(training({"--epochs", "1"}).code, 0);
  expect_failure(training({"--epochs", "1", "--batch", "16", "--resume", checkpoint}),
                 {"made with batch \"32\", this run has \"16\"", "--weights"});
  expect_failure(training({"--epochs", "2", "--resume", checkpoint}),
                 {"made with schedule ", "same number of epochs", "--weights"});
  EXPECT_EQ(training({"--resume", checkpoint, "--weights", checkpoint}).code, 2);
}

TEST(cli_failure, of_a_full_disk_keeps_the_old_checkpoint) {
  const TemporaryFolder folder;
  const std::vector<std::string> training =
      short_training("lenet5", folder / "out", {"--epochs", "1"});
  ASSERT_EQ(run(training).code, 0);
  const std::string before = read_text(folder / "out/checkpoint.safetensors");
  expect_failure(run(training, {.file_bytes = kSmallDiskBytes}),
                 {folder / "out/checkpoint.safetensors", "untouched"});
  EXPECT_EQ(read_text(folder / "out/checkpoint.safetensors"), before);
  EXPECT_FALSE(std::filesystem::exists(folder / "out/checkpoint.safetensors.partial"));
}

TEST(cli_failure, of_standard_output_is_no_success) {
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"version"}, {"plan", "mlp", "--json"}, {"ops"}}) {
    expect_failure(run(command, {.file_bytes = kSmallDiskBytes, .output_full = true}),
                   {"standard output"});
  }
}

// A file stands where a folder is needed, because the superuser may write everywhere.
TEST(cli_failure, of_an_output_folder_comes_before_any_training) {
  const TemporaryFolder folder;
  write_text(folder / "file", "kept");
  for (const char* out : {"file", "file/below"}) {
    const Outcome outcome = run(short_training("lenet5", folder / out, {"--epochs", "1"}));
    expect_failure(outcome, {folder / "file"});
    EXPECT_EQ(outcome.err.find("epoch"), std::string::npos);
  }
  EXPECT_EQ(read_text(folder / "file"), "kept");
  expect_failure(run(short_training("lenet5", "/proc/thimble", {"--epochs", "1"})),
                 {"/proc/thimble"});
}

TEST(cli_failure, of_a_picture_names_its_path) {
  const TemporaryFolder folder;
  ASSERT_EQ(run(short_training("vae", folder / "out", {"--epochs", "1"})).code, 0);
  expect_failure(run({"sample", "vae", "--checkpoint", folder / "out/checkpoint.safetensors",
                      "--out", folder / "none/s.png"}),
                 {folder / "none/s.png"});
}

TEST(cli_failure, of_a_budget_names_the_nearest_that_works) {
  const Outcome refused = run({"plan", "mlp", "--memory-budget", "64KiB"});
  expect_failure(
      refused, {"64.00 KiB (65,536 B)", "Nearest budget that works: ", "or take a smaller batch"});
  const std::string key = "Nearest budget that works: ";
  const std::string bytes = refused.err.substr(refused.err.find(key) + key.size());
  const std::string nearest = bytes.substr(0, bytes.find_first_not_of("0123456789"));
  EXPECT_EQ(bytes.find(nearest + " bytes"), 0U);
  EXPECT_EQ(run({"plan", "mlp", "--memory-budget", nearest}).code, 0);
  EXPECT_EQ(run({"plan", "mlp", "--memory-budget", nearest + " bytes"}).code, 0);
}

TEST(cli_failure, of_a_budget_says_it_in_bytes_whatever_its_unit) {
  const std::pair<const char*, const char*> sizes[] = {
      {"1536", "(1,536 B)"},       {"1536B", "(1,536 B)"},       {"1.5KiB", "(1,536 B)"},
      {"0.25 mib", "(262,144 B)"}, {"0.0001GiB", "(107,374 B)"}, {"2kB", "(2,000 B)"},
      {"0.002MB", "(2,000 B)"},    {"0.00001GB", "(10,000 B)"},  {".5MiB", "(524,288 B)"}};
  for (const auto& [size, said] : sizes) {
    SCOPED_TRACE(size);
    expect_failure(
        run({"plan", "mlp", "--memory-budget", size}),
        {"no plan of batch 64 keeps", said, "Nearest budget", "or take a smaller batch"});
  }
}

TEST(cli_failure, of_micro_batches_says_why_and_what_to_do) {
  expect_failure(
      run({"plan", "vae", "--micro-batches", "4"}),
      {"cannot be computed in 4 micro-batches", "batch_norm of encoder", "--split-batch-norm"});
  expect_failure(run({"plan", "lenet5", "--batch", "8", "--micro-batches", "9"}),
                 {"1 to the 8 samples of a batch"});
}

// With a rate that makes the weights diverge, the error names the step and the first value that is
// not finite.
TEST(cli_failure, of_a_loss_that_is_not_finite_names_step_and_value) {
  const TemporaryFolder folder;
  const Outcome outcome = run(short_training(
      "mlp", folder / "out",
      {"--epochs", "3", "--optimizer", "sgd", "--lr", "1e30", "--schedule", "constant"}));
  expect_failure(outcome, {"not finite", "step ", "went bad", "lower learning rate"});
  EXPECT_FALSE(std::filesystem::exists(folder / "out/checkpoint.safetensors"));
}

TEST(cli_failure, of_the_last_update_of_an_epoch_saves_no_broken_weights) {
  const TemporaryFolder folder;
  const Outcome outcome = run(
      short_training("mlp", folder / "out",
                     {"--epochs", "1", "--batch", "160", "--optimizer", "sgd", "--lr", "1e38"}));
  expect_failure(outcome, {"not finite after step 1", "went bad"});
  EXPECT_FALSE(std::filesystem::exists(folder / "out/checkpoint.safetensors"));
}

}  // namespace
}  // namespace thimble::test::failure_test
