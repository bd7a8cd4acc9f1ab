// Exporting C sources: they build with strict compilers and give the engine's bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <regex>

#include "cli/export_c.h"

namespace thimble::test::export_c_test {
namespace {

using ::testing::HasSubstr;

struct Case {
  std::string model;
  std::vector<std::string> options;
};

class cli_export_c : public ::testing::TestWithParam<Case> {};

TEST_P(cli_export_c, gives_the_bits_of_the_engine) {
  const TemporaryFolder folder;
  const std::string out = folder / "c";
  const auto json = exported(GetParam().model, GetParam().options, out);
  ASSERT_FALSE(json.is_null());
  EXPECT_EQ(keys(json),
            "recipe folder target batch ram_bytes arena_bytes state_bytes stack_bytes flash_bytes "
            "constant_bytes code_bytes kernels files");
  const auto number = [&json](const char* key) {
    return json[key].is_null() ? int64_t{0} : json[key].get<int64_t>();
  };
  EXPECT_EQ(number("ram_bytes"),
            number("arena_bytes") + number("state_bytes") + number("stack_bytes"));
  EXPECT_EQ(number("flash_bytes"), number("constant_bytes") + number("code_bytes"));
  expect_equal_bits(out);
}

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.model;
  for (const std::string& option : info.param.options) {
    for (const char c : option) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
    }
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    models, cli_export_c,
    ::testing::Values(Case{"lenet5", {"--batch", "2", "--optimizer", "sgd:momentum=0.9"}},
                      Case{"lenet5", {"--batch", "3", "--optimizer", "adam", "--freeze", "conv*"}},
                      Case{"lenet5", {"--batch", "2", "--optimizer", "adamw:state_bits=8"}},
                      Case{"lenet5", {"--batch", "2", "--clip-norm", "0.5", "--ema-decay", "0.9"}},
                      Case{"vae", {"--batch", "2"}}),
    name_of);

TEST(cli_export_c, int8_predictions_give_the_bits_of_the_engine) {
  const TemporaryFolder folder;
  const std::string model = folder / "mine.safetensors";
  const std::string int8 = folder / "int8.safetensors";
  ASSERT_EQ(run({"save", "lenet5", "--seed", "5", "-o", model}).code, 0);
  const Outcome quantized =
      run({"quantize", model, "--samples", "16", "--limit-test", "10", "-o", int8});
  ASSERT_EQ(quantized.code, 0) << quantized.err;
  const auto json = exported(int8, {"--predict-only", "--batch", "2"}, folder / "c");
  ASSERT_FALSE(json.is_null());
  EXPECT_EQ(json["state_bytes"], 0);
  expect_equal_bits(folder / "c");
}

TEST(cli_export_c, int8_training_gives_the_bits_of_the_engine) {
  const TemporaryFolder folder;
  const std::string model = folder / "mine.safetensors";
  const std::string int8 = folder / "int8.safetensors";
  const std::string all = folder / "all.safetensors";
  const std::string scheme = folder / "scheme.json";
  ASSERT_EQ(run({"save", "lenet5", "--seed", "5", "-o", model}).code, 0);
  ASSERT_EQ(run({"quantize", model, "--samples", "16", "--limit-test", "10", "-o", int8}).code, 0);
  ASSERT_EQ(run({"adapt", int8, "--trainable", "*", "-o", all}).code, 0);
  std::ofstream(scheme) << R"({"bias_last": 2, "weights": {"conv2": 0.5}})";
  const std::vector<std::vector<std::string>> cases{
      {"--optimizer", "sgd:momentum=0"},
      {"--optimizer", "adam:state_bits=8,min_8bit_size=1,weight_decay=0.1", "--integer-rounding",
       "residual", "--scheme", scheme, "--target", "cortex-m-dsp"},
      {"--optimizer", "adamw", "--target", "helium"}};
  for (std::vector<std::string> options : cases) {
    SCOPED_TRACE(options[1]);
    options.insert(options.end(), {"--batch", "2"});
    const std::string out = folder / options[1].substr(0, options[1].find(':'));
    const auto json = exported(all, options, out);
    ASSERT_FALSE(json.is_null());
    EXPECT_TRUE(json["stack_bytes"].is_number() || !has("gcc"));
    expect_equal_bits(out);
  }
}

// An int8 network of one residual block, all of it trained.
void save_residual_network(const std::string& file, const std::string& work) {
  Graph g;
  const Value x =
      relu(conv2d(g.input("image", {28, 28, 1}), {.channels = 8, .kernel = 4, .stride = 4}));
  Value y = relu6(conv2d(x, {.channels = 16, .kernel = 1}));
  y = relu6(depthwise_conv2d(y, {.kernel = 3, .padding = 1}));
  const Value sum = x + conv2d(y, {.channels = 8, .kernel = 1});
  const Value logits =
      dense(flatten(max_pool2d(sum, {.kernel = 2})), {.units = 10, .name = "head"});
  g.minimize(softmax_cross_entropy(logits, g.label("digit")));
  g.output("logits", logits);
  Trainer(g, {.optimizer = SGD{}, .batch = 2, .seed = 1}).save_model(work);
  save_model(quantize_model(load_model(work), data::digits(32, 1), {.samples = 32}).graph, file);
}

TEST(cli_export_c, errors_of_int8_take_less_ram_and_give_the_bits_of_the_engine) {
  const TemporaryFolder folder;
  const std::string model = folder / "int8.safetensors";
  save_residual_network(model, folder / "f32.safetensors");
  int64_t ram = 0;
  for (const char* const type : {"f32", "i8"}) {
    const std::string out = folder / type;
    const auto json = exported(model,
                               {"--batch", "1", "--optimizer", "sgd:momentum=0", "--error-type",
                                type, "--target", "cortex-m-dsp"},
                               out);
    ASSERT_FALSE(json.is_null());
    const auto bytes = json["arena_bytes"].get<int64_t>();
    EXPECT_TRUE(ram == 0 || bytes < ram) << bytes << " of " << ram;
    ram = bytes;
    expect_equal_bits(out);
  }
}

TEST(cli_export_c, refuses_what_has_no_c_source) {
  const TemporaryFolder folder;
  const Outcome outcome = run({"export-c", "lenet5", "--out", folder / "c", "--precision", "bf16"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--precision"));
}

TEST(cli_export_c, does_not_take_options_that_change_no_source) {
  const TemporaryFolder folder;
  const std::vector<std::vector<std::string>> options{
      {"--reference-kernels"}, {"--threads", "1"}, {"--swap", "auto"}, {"--swap-dir", "."}};
  for (const std::vector<std::string>& option : options) {
    std::vector<std::string> words{"export-c", "lenet5", "--out", folder / "c"};
    words.insert(words.end(), option.begin(), option.end());
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << option[0];
    EXPECT_THAT(outcome.err, HasSubstr(option[0]));
  }
}

TEST(cli_export_c, keeps_a_budget_or_refuses_it) {
  const TemporaryFolder folder;
  const std::string out = folder / "c";
  const Outcome free = run({"export-c", "lenet5", "--batch", "8", "--json", "--out", out});
  ASSERT_EQ(free.code, 0) << free.err;
  const auto most = last_line_json(free.out)["ram_bytes"].get<int64_t>();
  const Outcome refused =
      run({"export-c", "lenet5", "--batch", "8", "--out", out, "--memory-budget", "1000"});
  EXPECT_EQ(refused.code, 1);
  const Outcome kept = run({"export-c", "lenet5", "--batch", "8", "--json", "--out", out,
                            "--memory-budget", std::to_string(most - 1000)});
  if (kept.code == 0) {
    EXPECT_LE(last_line_json(kept.out)["ram_bytes"].get<int64_t>(), most - 1000);
  } else {
    EXPECT_THAT(kept.err, HasSubstr("budget"));
  }
}

// The planner counts tables of int8 programs that C sources do not have.
TEST(cli_export_c, names_the_least_ram_of_int8_training_and_keeps_it) {
  const TemporaryFolder folder;
  const std::string model = folder / "q.safetensors";
  ASSERT_EQ(run({"save", "lenet5", "-o", folder / "f.safetensors"}).code, 0);
  ASSERT_EQ(run({"quantize", folder / "f.safetensors", "--samples", "16", "--limit-test", "16",
                 "-o", model})
                .code,
            0);
  const std::string out = folder / "c";
  const auto exported = [&](const std::string& budget) {
    return run({"export-c", model, "--batch", "8", "--optimizer", "sgd", "--json", "--out", out,
                "--memory-budget", budget});
  };
  const Outcome refused = exported("2000");
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("of RAM cannot be kept"));
  std::smatch least;
  ASSERT_TRUE(std::regex_search(refused.err, least, std::regex(R"(\(([0-9,]+) B\) work)")));
  std::string bytes = least[1];
  bytes.erase(std::remove(bytes.begin(), bytes.end(), ','), bytes.end());
  const Outcome kept = exported(bytes);
  ASSERT_EQ(kept.code, 0) << kept.err;
  const auto json = last_line_json(kept.out);
  EXPECT_EQ(json["arena_bytes"].get<int64_t>() + json["state_bytes"].get<int64_t>(),
            std::stoll(bytes));
  EXPECT_EQ(exported(std::to_string(std::stoll(bytes) - 64)).code, 1);
}

}  // namespace
}  // namespace thimble::test::export_c_test
