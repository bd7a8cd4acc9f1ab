// Damaged checkpoints are refused, and leave the trainer as it was.
#include <gtest/gtest.h>
#include <thimble/ops.h>
#include <thimble/trainer.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <random>

#include "fuzz/checkpoint_model.h"
#include "harness/error_of.h"
#include "io/atomic_file.h"
#include "io/safetensors/safetensors.h"
#include "io/temporary_folder.h"
#include "ir/graph.h"
#include "models/small_models.h"

namespace thimble::checkpoint_damage_test {
namespace {

using test::error_of;

TrainerOptions options() { return {.optimizer = Adam{}, .batch = 8, .threads = 1}; }

void write(const std::string& path, const std::string& bytes) {
  io::AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

// Else the fuzzer of checkpoints would begin with files that say nothing about today's.
TEST(checkpoint, seeds_of_the_fuzzer_are_resumed_from) {
  int seeds = 0;
  for (const auto& seed :
       std::filesystem::directory_iterator(THIMBLE_SOURCE_DIR "/tests/fuzz/seeds/checkpoint")) {
    SCOPED_TRACE(seed.path());
    Trainer trainer(test::checkpoint_model(), test::checkpoint_options());
    trainer.resume(seed.path());
    EXPECT_EQ(trainer.steps(), 2);
    trainer.fit(test::checkpoint_samples(), {.epochs = 1});
    EXPECT_EQ(trainer.steps(), 4);
    ++seeds;
  }
  EXPECT_EQ(seeds, 2);
}

// Header, metadata and tensors are hit in proportion to their size, and 20 times each part.
TEST(checkpoint, finds_every_one_of_random_bit_flips) {
  const test::TemporaryFolder folder;
  Trainer trainer(test::small_network(), options());
  trainer.fit(test::small_data(32), {.epochs = 2, .checkpoint = folder / "c"});
  const std::string good = io::read_file(folder / "c", 1 << 24);
  uint64_t header = 0;
  for (size_t i = 0; i < 8; ++i) {
    header |= static_cast<uint64_t>(static_cast<unsigned char>(good[i])) << (8 * i);
  }
  const std::pair<size_t, size_t> parts[] = {
      {0, good.size()}, {0, 8 + header}, {8 + header, good.size()}};
  std::mt19937 random(1);
  for (const auto& [begin, end] : parts) {
    std::uniform_int_distribution<size_t> bits(8 * begin, 8 * end - 1);
    for (int flip = 0; flip < 60; ++flip) {
      const size_t bit = bits(random);
      std::string bad = good;
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
      write(folder / "bad", bad);
      Trainer other(test::small_network(), options());
      const std::string before = other.weights_sha256();
      EXPECT_NE(error_of([&] { other.resume(folder / "bad"); }), test::kNoError) << bit;
      EXPECT_NE(error_of([&] { other.load_weights(folder / "bad"); }), test::kNoError) << bit;
      EXPECT_EQ(other.weights_sha256(), before);
      EXPECT_EQ(other.steps(), 0);
    }
  }
  Trainer other(test::small_network(), options());
  EXPECT_EQ(error_of([&] { other.resume(folder / "c"); }), test::kNoError);
}

TEST(checkpoint, names_the_tensor_that_is_damaged) {
  const test::TemporaryFolder folder;
  Trainer trainer(test::small_network(), options());
  trainer.save(folder / "c");
  std::string bytes = io::read_file(folder / "c", 1 << 24);
  const std::string last = io::Safetensors::read(folder / "c").tensors().back().name;
  bytes.back() ^= 1;
  write(folder / "c", bytes);
  const std::string error = error_of([&] { trainer.resume(folder / "c"); });
  EXPECT_NE(error.find("the tensor " + last + " is damaged"), std::string::npos) << error;
}

// A file may be sound and still count what no training counts.
TEST(checkpoint, with_counters_out_of_their_range_is_refused) {
  const test::TemporaryFolder folder;
  Trainer trainer(test::small_network(), options());
  trainer.fit(test::small_data(16), {.checkpoint = folder / "c"});
  const io::Safetensors good = io::Safetensors::read(folder / "c");
  const auto error_with = [&](const std::string& key, const std::string& value) {
    io::Metadata metadata = good.metadata();
    metadata[key] = value;
    io::write_safetensors(folder / "bad", good.tensors(), metadata);
    return error_of([&] { trainer.resume(folder / "bad"); });
  };
  for (const char* const key : {"step", "epoch", "batch", "samples", "epochs_without_gain",
                                "schedule_epochs", "schedule_bad_epochs", "schedule_cooldown"}) {
    for (const std::string value : {"-1", "9223372036854775807", "99999999999999999999", "1.5", "",
                                    "x", "9007199254740993"}) {
      EXPECT_NE(error_with(key, value).find(std::string(key) + ": expected a whole number from 0"),
                std::string::npos)
          << key << " " << value;
    }
    EXPECT_EQ(error_with(key, "9007199254740992"), test::kNoError) << key;
  }
  for (const char* const key : {"best_loss", "schedule_best"}) {
    EXPECT_NE(error_with(key, "nan").find("expected a number"), std::string::npos) << key;
    EXPECT_EQ(error_with(key, "-inf"), test::kNoError) << key;
  }
  for (const char* const key : {"schedule_rate", "accumulated_weight"}) {
    for (const char* const value : {"-1", "nan", "inf", "1 2"}) {
      EXPECT_NE(error_with(key, value).find(std::string(key) + ": expected a"), std::string::npos)
          << key << " " << value;
    }
  }
  EXPECT_NE(error_with("sum_loss", "inf").find("expected a finite number"), std::string::npos);
}

// Steps are counted on: the number of an update, an i32 for the optimizer, stays at its most.
TEST(checkpoint, with_more_steps_than_an_i32_holds_goes_on) {
  const test::TemporaryFolder folder;
  Trainer trainer(test::small_network(), options());
  trainer.save(folder / "c");
  const io::Safetensors good = io::Safetensors::read(folder / "c");
  io::Metadata metadata = good.metadata();
  metadata["step"] = "4294967295";  // the next number is 0 as an i32: a division by zero
  io::write_safetensors(folder / "late", good.tensors(), metadata);
  trainer.resume(folder / "late");
  trainer.fit(test::small_data(8));
  EXPECT_EQ(trainer.steps(), 4294967296);
  for (const float weight : trainer.parameter("dense.weight").as<float>()) {
    EXPECT_TRUE(std::isfinite(weight));
  }
}

TEST(checkpoint, with_weights_of_any_type_that_are_not_finite_is_refused) {
  const test::TemporaryFolder folder;
  for (const DType type : {DType::f16, DType::bf16, DType::f64}) {
    Graph model;
    const Value x = model.input("x", {3});
    ir::Graph& graph = model.ir();
    const Value frozen = graph.source("frozen", {type, {3}}, ir::Role::parameter, init::ones());
    graph.values.back().trainable = false;
    const Value y = dense(add(x, cast(frozen, DType::f32)), {.units = 2});
    model.minimize(softmax_cross_entropy(y, model.label("digit")));
    Trainer trainer(model, options());
    trainer.save(folder / "good");
    Trainer other(model, options());
    EXPECT_EQ(error_of([&] { other.resume(folder / "good"); }), test::kNoError);
    const float bad = std::numeric_limits<float>::infinity();
    trainer.set_parameter("frozen", Array({1.0F, 2.0F, bad}).cast(type));
    trainer.save(folder / "bad");
    for (const std::string& error : {error_of([&] { other.resume(folder / "bad"); }),
                                     error_of([&] { other.load_weights(folder / "bad"); })}) {
      EXPECT_NE(error.find("the tensor frozen holds inf at element 2"), std::string::npos) << error;
    }
  }
}

}  // namespace
}  // namespace thimble::checkpoint_damage_test
