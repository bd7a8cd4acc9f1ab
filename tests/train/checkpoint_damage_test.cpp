// Damaged checkpoints are refused, and leave the trainer as it was.
#include <gtest/gtest.h>
#include <thimble/trainer.h>

#include <random>

#include "harness/error_of.h"
#include "io/atomic_file.h"
#include "io/safetensors/safetensors.h"
#include "io/temporary_folder.h"
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

}  // namespace
}  // namespace thimble::checkpoint_damage_test
