// Two stages: a circle model is configured, thimble-micro trains it, and its weights come back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/adapt.h>
#include <thimble/export.h>
#include <thimble/import.h>
#include <thimble/thimble.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <random>
#include <span>

#include "cli/export_c.h"
#include "cli/two_stages_model.h"
#include "harness/given_data.h"
#include "import/tflite/file.h"
#include "io/atomic_file.h"
#include "io/safetensors/safetensors.h"
#include "ir/graph.h"

namespace thimble::test::two_stages_test {
namespace {

using ::testing::HasSubstr;

constexpr int kSteps = 4;
constexpr int kBatch = 2;

struct Samples {
  std::vector<float> images;
  std::vector<int32_t> labels;
  int64_t each = 0;
};

Samples samples_of(int64_t each, int classes) {
  std::mt19937 random(3);
  Samples made{.images = {}, .labels = {}, .each = each};
  for (int n = 0; n < kSteps * kBatch; ++n) {
    made.labels.push_back(static_cast<int32_t>(random() % static_cast<unsigned>(classes)));
    for (int64_t i = 0; i < each; ++i) {
      made.images.push_back(static_cast<float>(random() % 1000U) / 1000.0F +
                            static_cast<float>(made.labels.back()) / 4.0F);
    }
  }
  return made;
}

void write_samples(const std::string& path, const Samples& samples) {
  std::ofstream file(path, std::ios::binary);
  for (size_t n = 0; n < samples.labels.size(); ++n) {
    file.write(reinterpret_cast<const char*>(samples.images.data() + n * samples.each),
               samples.each * 4);
    file.write(reinterpret_cast<const char*>(&samples.labels[n]), 4);
  }
}

struct Engine {
  std::vector<float> losses;
  std::map<std::string, Array> parameters;
};

Engine engine_of(const std::string& model, const std::string& optimizer, const Samples& samples,
                 const std::vector<std::string>& trainable, float rate) {
  const Graph graph = adapt(import_tflite(model), {.loss = kTwoStagesLoss,
                                                   .label = "digit",
                                                   .metrics = {"accuracy"},
                                                   .freeze = {"*"},
                                                   .trainable = trainable});
  TrainerOptions options{
      .optimizer = Optimizer::parse(optimizer, Optimizer(SGD{})), .batch = kBatch, .threads = 1};
  options.optimizer = options.optimizer.with_learning_rate(rate);
  Trainer trainer(CompiledTraining(
      graph, options, {.samples = kBatch, .test_samples = kBatch, .reference_kernels = true}));
  std::string name;
  Shape shape;
  for (const ir::ValueData& value : graph.ir().values) {
    if (value.role != ir::Role::input) continue;
    name = *value.name;
    shape = value.type.shape;
  }
  const Shape sample(std::vector<int64_t>(shape.dims().begin() + 1, shape.dims().end()));
  std::vector<int64_t> batch = shape.dims();
  batch[0] = kBatch;
  Engine made;
  for (int step = 0; step < kSteps; ++step) {
    const auto first = samples.images.begin() + step * kBatch * samples.each;
    const auto label = samples.labels.begin() + step * kBatch;
    const data::Dataset data = data::in_memory(
        {{name, sample, DType::f32, false}, {"digit", {}, DType::i32, true}},
        {Array(std::vector<float>(first, first + kBatch * samples.each), Shape(batch)),
         Array(std::vector<int32_t>(label, label + kBatch), {kBatch})});
    made.losses.push_back(static_cast<float>(trainer.step(data).loss));
  }
  for (const std::string& parameter : trainer.parameter_names()) {
    made.parameters.emplace(parameter, trainer.parameter(parameter));
  }
  return made;
}

class two_stages : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has("gcc")) GTEST_SKIP() << "gcc is not installed";
  }
  // The runtime for some folders, with the tests' program.
  void build(const std::vector<std::string>& folders) {
    const std::string runtime = folder_ / "runtime";
    std::vector<std::string> words{"micro", "--out", runtime};
    words.insert(words.end(), folders.begin(), folders.end());
    const Outcome micro = run(words);
    ASSERT_EQ(micro.code, 0) << micro.err;
    const std::string command =
        "gcc -std=c99 -Wall -Wextra -Wpedantic -Wno-unused-function -Werror -O1 -ffp-contract=off "
        "-fsanitize=address,undefined -fno-sanitize-recover=all -I'" +
        runtime + "' -o '" + runtime + "/driver' " + THIMBLE_SOURCE_DIR +
        "/tests/micro/driver.c '" + runtime + "'/*.c 2>'" + runtime + "/log'";
    ASSERT_EQ(std::system(command.c_str()), 0) << read_text(runtime + "/log");
  }

  // Trains on the device with one optimizer; the losses.
  std::vector<float> train(const std::string& folder, const std::string& input,
                           const std::string& optimizer, const std::string& rate,
                           const std::string& other_optimizer) {
    const std::string driver = folder_ / "runtime/driver";
    const std::string command =
        "ASAN_OPTIONS=detect_leaks=0 '" + driver + "' '" + folder + "' model.circle '" + input +
        "' samples.bin " + std::to_string(kSteps) + " " + rate + " " + optimizer + " " +
        std::to_string(kBatch) + " " + other_optimizer + " >'" + folder + "/losses' 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << read_text(folder + "/losses");
    std::ifstream file(folder + "/losses");
    std::vector<float> losses;
    for (uint32_t bits = 0; file >> bits;) {
      float loss = 0.0F;
      std::memcpy(&loss, &bits, sizeof(loss));
      losses.push_back(loss);
    }
    return losses;
  }

  // Configures, trains and merges; all bits are the engine's.
  void expect_equal_bits(const std::string& model, const std::vector<std::string>& options,
                         const std::vector<std::string>& trainable, int64_t each, int classes,
                         const std::string& input) {
    const std::string folder = folder_ / "files";
    std::vector<std::string> words{
        "configure",   model,     "--metric",    "accuracy", "--loss",      kTwoStagesLoss,
        "--label",     "digit",   "--out",       folder,     "--batch",     std::to_string(kBatch),
        "--optimizer", "sgd",     "--optimizer", "momentum", "--optimizer", "adam",
        "--optimizer", "rmsprop", "--json"};
    words.insert(words.end(), options.begin(), options.end());
    const Outcome outcome = run(words);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    ASSERT_NO_FATAL_FAILURE(build({folder}));
    const Samples samples = samples_of(each, classes);
    write_samples(folder + "/samples.bin", samples);
    for (const auto& [name, settings, rate] : {std::tuple{"sgd", "sgd:momentum=0", "0.05"},
                                               {"momentum", "sgd:momentum=0.9", "0.01"},
                                               {"adam", "adam", "0.005"},
                                               {"rmsprop", "rmsprop", "0.002"}}) {
      SCOPED_TRACE(name);
      const Engine engine = engine_of(model, settings, samples, trainable, std::stof(rate));
      const std::string other = name == std::string("adam") ? "sgd" : "adam";
      EXPECT_EQ(train(folder, input, name, rate, other), engine.losses);
      const Outcome merged = run({"merge", folder + "/model.circle", folder + "/trained.wof",
                                  "--out", folder + "/merged.circle"});
      ASSERT_EQ(merged.code, 0) << merged.err;
      const Graph back = import_tflite(folder + "/merged.circle");
      size_t compared = 0;
      for (const ir::ValueData& value : back.ir().values) {
        const auto found = engine.parameters.find(*value.name);
        if (value.role != ir::Role::parameter || found == engine.parameters.end()) continue;
        EXPECT_EQ(*value.data, found->second) << *value.name;
        ++compared;
      }
      EXPECT_EQ(compared, engine.parameters.size());
    }
    expect_cut_weights_are_refused(folder, input);
  }

  // The device notices that a part of the checksum is missing.
  void expect_cut_weights_are_refused(const std::string& folder, const std::string& input) {
    const std::string whole = io::read_file(folder + "/weights.wof", kMostTwoStagesBytes);
    for (const size_t missing : {size_t{1}, size_t{15}}) {
      std::ofstream(folder + "/weights.wof", std::ios::binary)
          << whole.substr(0, whole.size() - missing);
      const std::string command = "'" + std::string(folder_ / "runtime/driver") + "' '" + folder +
                                  "' model.circle '" + input + "' samples.bin 1 0.1 sgd " +
                                  std::to_string(kBatch) + " adam >'" + folder + "/log' 2>&1";
      EXPECT_NE(std::system(command.c_str()), 0) << missing;
      EXPECT_THAT(read_text(folder + "/log"), HasSubstr("open: status 5"));
    }
  }

  TemporaryFolder folder_;
};

TEST_F(two_stages, train_with_the_bits_of_the_engine) {
  const std::string model = folder_ / "mine.circle";
  write_two_stages_model(model);
  expect_equal_bits(model, {}, {"*"}, 9 * 8 * 2, 3, "x");
}

TEST_F(two_stages, train_a_part_within_a_budget) {
  const std::string model = folder_ / "mine.circle";
  write_two_stages_model(model);
  expect_equal_bits(model,
                    {"--trainable", "dense_2*,depthwise*.bias,conv2d_1.bias", "--memory-budget",
                     "16KiB", "--wof-layout", "proposed"},
                    {"dense_2*", "depthwise*.bias", "conv2d_1.bias"}, 9 * 8 * 2, 3, "x");
}

TEST_F(two_stages, train_a_model_of_onert_micro) {
  const std::string model = test::given_data("models/circle/simple_mnist.circle");
  if (model.empty()) GTEST_SKIP() << "set THIMBLE_DATA to a folder with models/circle";
  expect_equal_bits(model, {"--memory-budget", "32KiB"}, {"*"}, 11 * 11, 2,
                    "serving_default_keras_tensor:0");
}

// thimble train takes the device's steps. All samples are alike, because it shuffles them.
TEST_F(two_stages, reference_kernels_of_train_have_the_bits_of_the_device) {
  const std::string model = folder_ / "mine.circle";
  write_two_stages_model(model);
  const std::string folder = folder_ / "files";
  ASSERT_EQ(run({"configure", model, "--loss", kTwoStagesLoss, "--label", "digit", "--batch",
                 std::to_string(kBatch), "--optimizer", "sgd", "--out", folder})
                .code,
            0);
  ASSERT_NO_FATAL_FAILURE(build({folder}));
  Samples samples = samples_of(9 * 8 * 2, 3);
  for (size_t i = 0; i < samples.images.size(); ++i) {
    samples.images[i] = samples.images[i % static_cast<size_t>(samples.each)];
  }
  std::fill(samples.labels.begin(), samples.labels.end(), samples.labels[0]);
  write_samples(folder + "/samples.bin", samples);
  ASSERT_EQ(train(folder, "x", "sgd", "0.05", "sgd").size(), size_t{kSteps});
  ASSERT_EQ(run({"merge", folder + "/model.circle", folder + "/trained.wof", "--out",
                 folder_ / "device.circle"})
                .code,
            0);

  ASSERT_EQ(run({"import", model, "--loss", kTwoStagesLoss, "--label", "digit", "--trainable", "*",
                 "--out", folder_ / "mine.safetensors"})
                .code,
            0);
  const io::TensorView columns[] = {
      {.name = "x",
       .dtype = DType::f32,
       .shape = {kBatch, 9, 8, 2},
       .bytes = std::as_bytes(
           std::span(samples.images).first(static_cast<size_t>(kBatch * samples.each)))},
      {.name = "digit",
       .dtype = DType::i32,
       .shape = {kBatch},
       .bytes = std::as_bytes(std::span(samples.labels).first(kBatch))}};
  io::write_safetensors(folder_ / "data.safetensors", columns, {});
  const Outcome trained =
      run({"train", folder_ / "mine.safetensors", "--data", folder_ / "data.safetensors", "--batch",
           std::to_string(kBatch), "--epochs", std::to_string(kSteps), "--optimizer",
           "sgd:lr=0.05,momentum=0", "--schedule", "constant", "--reference-kernels", "--out",
           folder_ / "out"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Graph host = load_model(folder_ / "out/checkpoint.safetensors");
  const Graph device = import_tflite(folder_ / "device.circle");
  std::map<std::string, Array> wanted;
  for (const ir::ValueData& value : device.ir().values) {
    if (value.role == ir::Role::parameter) wanted.emplace(*value.name, *value.data);
  }
  EXPECT_EQ(wanted.size(), 8U);
  for (const ir::ValueData& value : host.ir().values) {
    if (value.role != ir::Role::parameter) continue;
    EXPECT_EQ(*value.data, wanted.at(*value.name)) << *value.name;
    wanted.erase(*value.name);
  }
  EXPECT_TRUE(wanted.empty());
}

// Losses whose kernels share their extents.
TEST_F(two_stages, train_by_losses_of_two_tensors) {
  const std::string model = folder_ / "mine.circle";
  write_two_stages_model(model);
  const std::vector<std::string> losses{"mae", "huber", "kl_divergence", "binary_cross_entropy",
                                        "binary_cross_entropy_with_logits"};
  Samples samples = samples_of(9 * 8 * 2, 3);
  std::vector<std::string> folders;
  for (const std::string& loss : losses) {
    folders.push_back(folder_ / loss);
    const Outcome outcome =
        run({"configure", model, "--loss", loss, "--label", "digit", "--batch",
             std::to_string(kBatch), "--optimizer", "sgd", "--out", folders.back()});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    std::ofstream file(folders.back() + "/samples.bin", std::ios::binary);
    for (size_t n = 0; n < samples.labels.size(); ++n) {
      std::array<float, 3> label{0.2F, 0.2F, 0.2F};
      label.at(static_cast<size_t>(samples.labels[n])) = 0.6F;
      file.write(reinterpret_cast<const char*>(samples.images.data() + n * samples.each),
                 samples.each * 4);
      file.write(reinterpret_cast<const char*>(label.data()), sizeof(label));
    }
  }
  ASSERT_NO_FATAL_FAILURE(build(folders));
  for (const std::string& folder : folders) {
    SCOPED_TRACE(folder);
    EXPECT_EQ(train(folder, "x", "sgd", "0.01", "sgd").size(), size_t{kSteps});
  }
  // Its gradient has two results.
  const Outcome refused = run({"configure", model, "--loss", "gaussian_kl", "--label", "digit",
                               "--optimizer", "sgd", "--out", folder_ / "none"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("has no kernel for gaussian_kl_grad"));
}

TEST_F(two_stages, weights_of_another_configuration_are_refused) {
  const std::string model = folder_ / "mine.circle";
  write_two_stages_model(model);
  for (const auto& [name, trainable] : {std::pair{"all", "*"}, {"few", "dense_2*"}}) {
    ASSERT_EQ(run({"configure", model, "--loss", kTwoStagesLoss, "--optimizer", "sgd",
                   "--trainable", trainable, "--out", folder_ / name})
                  .code,
              0);
  }
  const auto merge = [&](const std::string& to, const std::string& weights,
                         const std::string& name = "merged.circle") {
    return run({"merge", to, folder_ / (weights + "/weights.wof"), "--out", folder_ / name});
  };
  const std::string all = folder_ / "all/model.circle";
  const Outcome lacking = merge(all, "few");
  EXPECT_EQ(lacking.code, 1);
  EXPECT_THAT(lacking.err, HasSubstr("has no weights for these tensors"));
  EXPECT_THAT(lacking.err, HasSubstr(" and 2 more"));
  EXPECT_FALSE(std::ifstream(folder_ / "merged.circle"));
  EXPECT_EQ(merge(folder_ / "few/model.circle", "all").code, 0);
  EXPECT_EQ(merge(model, "few").code, 0);
  // A circle file does not become one of TensorFlow Lite by its name.
  const Outcome named = merge(all, "all", "merged.tflite");
  EXPECT_EQ(named.code, 2);
  EXPECT_THAT(named.err, HasSubstr("is a circle file"));
  EXPECT_FALSE(std::ifstream(folder_ / "merged.tflite"));
}

TEST_F(two_stages, what_the_runtime_lacks_is_named_on_the_host) {
  const std::string model = folder_ / "swish.circle";
  Graph g;
  const Value x = g.input("x", {5});
  g.output("y", dense(hard_swish(dense(x, {.units = 4})), {.units = 3}));
  g.minimize(mse(Value(&g.ir(), g.ir().outputs[0].second), g.label("t", {3}, DType::f32)));
  Trainer trainer(g, {.batch = 1});
  trainer.save_model(model + ".safetensors");
  export_tflite(load_model(model + ".safetensors"), model);
  std::ofstream(folder_ / "kernels.txt") << "matmul/matmul_ref\n";
  const Outcome outcome = run({"configure", model, "--loss", "mse", "--optimizer", "sgd",
                               "--runtime", folder_ / "kernels.txt", "--out", folder_ / "files"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("lacks the kernel"));
}

TEST_F(two_stages, damaged_weights_are_refused) {
  const std::string model = folder_ / "mine.circle";
  write_two_stages_model(model);
  const std::string folder = folder_ / "files";
  ASSERT_EQ(
      run({"configure", model, "--loss", kTwoStagesLoss, "--optimizer", "sgd", "--out", folder})
          .code,
      0);
  std::string wof = io::read_file(folder + "/weights.wof", kMostTwoStagesBytes);
  const auto merge = [&](const std::string& bytes) {
    std::ofstream(folder + "/bad.wof", std::ios::binary) << bytes;
    return run({"merge", folder + "/model.circle", folder + "/bad.wof", "--out",
                folder_ / "merged.circle"});
  };
  EXPECT_EQ(merge(wof).code, 0);
  EXPECT_EQ(io::read_file(folder_ / "merged.circle", kMostTwoStagesBytes).size() > 0, true);
  for (const auto& [at, value, message] : {std::tuple{0, 1, "no wof file"},
                                           {2, 9, "version"},
                                           {4, 3, "tensors"},
                                           {static_cast<int>(wof.size()) - 30, 77, "checksum"}}) {
    std::string bad = wof;
    bad[static_cast<size_t>(at)] = static_cast<char>(bad[static_cast<size_t>(at)] ^ value);
    const Outcome outcome = merge(bad);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr(message));
  }
  // Without our end the checksum is not there; offsets are checked all the same.
  std::string bare = wof.substr(0, wof.size() - 16);
  EXPECT_EQ(merge(bare).code, 0);
  for (size_t cut = 1; cut < 16; cut += 7) {  // of the checksum
    const Outcome outcome = merge(wof.substr(0, wof.size() - cut));
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("behind its last buffer"));
  }
  EXPECT_EQ(merge(bare.substr(0, bare.size() - 1)).code, 1);
  EXPECT_EQ(merge(bare.substr(0, 20)).code, 1);
}

}  // namespace
}  // namespace thimble::test::two_stages_test
