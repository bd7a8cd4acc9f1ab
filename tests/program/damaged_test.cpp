// Program files that are damaged, with their checksums as they were and with right ones.
#include <gmock/gmock.h>
#include <thimble/compiled_training.h>

#include <random>
#include <utility>

#include "fuzz/bounded_run.h"
#include "fuzz/bounded_training.h"
#include "harness/error_of.h"
#include "io/temporary_folder.h"
#include "program/check.h"
#include "program/program_files.h"
#include "train/training_program.h"

namespace thimble::damaged_program_test {
namespace {

using test::all_options;
using test::contents;
using test::error_of;
using test::in_least_budget;
using test::trained_before;

class damaged : public testing::Test {
 protected:
  void SetUp() override {
    const test::TemporaryFolder folder;
    const TrainerOptions options = in_least_budget(all_options()[option()], {.samples = 9});
    CompiledTraining(trained_before(), options, {.samples = 9}).save(folder / "a");
    bytes_ = contents(folder / "a");
  }
  [[nodiscard]] virtual size_t option() const { return 4; }
  static std::string error(const std::string& bytes) {
    return error_of([&] { (void)train::parse_training("step.thimble", bytes); });
  }
  std::string bytes_;
};

TEST_F(damaged, every_flipped_bit_and_every_cut_is_found) {
  ASSERT_EQ(error(bytes_), "no error");
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i) {
    std::string changed = bytes_;
    const size_t at = random() % changed.size();
    changed[at] = static_cast<char>(changed[at] ^ (1 << random() % 8));
    const std::string message = error(changed);
    // Padding between sections means nothing.
    if (message == "no error") {
      EXPECT_EQ(bytes_[at], '\0');
    } else {
      EXPECT_THAT(message, testing::HasSubstr("step.thimble"));
    }
  }
  for (int i = 0; i < 50; ++i)
    EXPECT_NE(error(bytes_.substr(0, random() % bytes_.size())), "no error");
  EXPECT_THAT(error("no such file"), testing::HasSubstr("is no program file"));
  std::string version = bytes_;
  version[8] = 9;
  EXPECT_THAT(error(version), testing::HasSubstr("was made by another thimble: it has version 9"));
  version[8] = 2;
  EXPECT_THAT(error(version), testing::AllOf(testing::HasSubstr("was made by an older thimble"),
                                             testing::HasSubstr("compile it again")));
}

// The fuzzer begins with files of this version.
TEST(program_file, seeds_of_the_fuzzer_are_programs) {
  for (const char* const seed : {"conv", "dense", "swap", "words"}) {
    SCOPED_TRACE(seed);
    const std::string path = std::string(THIMBLE_SOURCE_DIR "/tests/fuzz/seeds/program/") + seed;
    EXPECT_EQ(error_of([&] { (void)train::read_training(path); }), test::kNoError);
  }
}

// Files of a program that swaps, and of one without a swap file.
class damaged_with_right_checksums : public damaged, public testing::WithParamInterface<size_t> {
 protected:
  [[nodiscard]] size_t option() const override { return GetParam(); }
  // A word outside of the initial values, which are most of the file and may have any contents.
  [[nodiscard]] size_t place_to_change(std::mt19937& random) const {
    constexpr size_t kValues = 3;  // that section
    const size_t entry = test::kTableAt + kValues * test::kEntryBytes;
    const uint64_t first = test::word_at(bytes_, entry + 8);
    const uint64_t last = first + test::word_at(bytes_, entry + 16);
    for (;;) {
      const size_t at = random() % (bytes_.size() / 8) * 8;
      if (at < first || at >= last) return at;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(options, damaged_with_right_checksums, testing::Values(0, 1, 2, 4, 5));

// Whether a training runs a step to its end. One may end by an Error, as of a loss that is not
// finite.
bool trains(train::TrainingProgram training) {
  try {
    return test::train_bounded(std::move(training));
  } catch (const Error&) {
    return false;
  }
}

// The contents of such a file are checked, so it runs within its memory or is refused.
TEST_P(damaged_with_right_checksums, is_refused_or_runs_within_its_memory) {
  ASSERT_EQ(error(test::with_checksums(bytes_)), "no error");
  std::mt19937 random(2);
  int refused = 0;
  int ran = 0;
  int trained = 0;
  for (int i = 0; i < 300; ++i) {
    std::string changed = bytes_;
    const size_t at = place_to_change(random);
    const uint64_t values[] = {0,
                               1,
                               random(),
                               test::word_at(changed, at) + 64,
                               ~uint64_t{0},
                               uint64_t{1} << 40,
                               test::word_at(changed, at) - 1};
    test::set_word(changed, at, values[random() % 7]);
    try {
      train::TrainingProgram training =
          train::parse_training("step.thimble", test::with_checksums(changed));
      for (const auto& [key, program] : training.programs) {
        EXPECT_EQ(program::error_of(program), "");
        ran += test::run_bounded(program) ? 1 : 0;
      }
      trained += trains(std::move(training)) ? 1 : 0;
    } catch (const Error& error) {
      EXPECT_EQ(error.where(), "step.thimble") << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
  if (GetParam() != 4) {
    EXPECT_GT(ran, 0);
    EXPECT_GT(trained, 0);
  }
}

TEST_P(damaged_with_right_checksums, of_which_a_section_is_cut_short_is_refused) {
  const uint64_t sections = test::word_at(bytes_, test::kSectionCountAt);
  ASSERT_GE(sections, 5U);
  for (uint64_t i = 0; i < sections; ++i) {
    const size_t size_at = test::kTableAt + i * test::kEntryBytes + 16;
    const uint64_t size = test::word_at(bytes_, size_at);
    for (const uint64_t left : {uint64_t{0}, uint64_t{8}, size / 2, size - 8, size - 1}) {
      if (left >= size) continue;
      std::string cut = bytes_;
      test::set_word(cut, size_at, left);
      EXPECT_THAT(error(test::with_checksums(cut)), testing::HasSubstr("step.thimble"))
          << "section " << i << ": " << left << " of " << size;
    }
  }
}

}  // namespace
}  // namespace thimble::damaged_program_test
