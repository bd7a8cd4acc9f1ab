// The swap file fails during a training: the training stops, and saved checkpoints stay whole.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thimble/thimble.h>
#include <unistd.h>

#include <filesystem>

#include "harness/error_of.h"
#include "io/temporary_folder.h"
#include "models/nearest_budget.h"

namespace thimble::train::swap_fault_test {
namespace {

// This process's descriptors of files that were in the folder and have been unlinked.
std::vector<int> nameless_files(const std::string& folder) {
  std::vector<int> files;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    struct stat status {};
    const int fd = std::stoi(entry.path().filename().string());
    if (!target.starts_with(folder) || !target.ends_with("(deleted)")) continue;
    if (::fstat(fd, &status) != 0) continue;
    if (S_ISREG(status.st_mode) && status.st_size > 4096) files.push_back(fd);
  }
  return files;
}

// Opened a second time, as any process of this user could.
int opened(int fd) { return ::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDWR); }

void change_contents(const std::string& folder) {
  for (const int fd : nameless_files(folder)) {
    const int other = opened(fd);
    ASSERT_GE(other, 0);
    struct stat status {};
    ASSERT_EQ(::fstat(other, &status), 0);
    const std::vector<char> noise(4096, 'x');
    for (off_t at = 0; at < status.st_size; at += 4096) {
      ASSERT_EQ(::pwrite(other, noise.data(), noise.size(), at), 4096);
    }
    ::fsync(other);
    ::close(other);
  }
}

void cut_off(const std::string& folder) {
  for (const int fd : nameless_files(folder)) {
    const int other = opened(fd);
    ASSERT_EQ(::ftruncate(other, 0), 0);
    ::close(other);
  }
}

class swap_fault : public ::testing::TestWithParam<void (*)(const std::string&)> {};

TEST_P(swap_fault, stops_training_and_leaves_the_last_checkpoint_whole) {
  if (!std::filesystem::exists("/proc/self/fd")) GTEST_SKIP() << "needs /proc";
  const test::TemporaryFolder folder;
  const std::string checkpoint = folder / "checkpoint";
  const Recipe& recipe = find_recipe("mlp");
  const data::Dataset data = recipe.data("", data::Split::train).take(8);
  TrainerOptions options{.batch = 2, .swap = Swap::always, .swap_dir = folder.path(), .threads = 1};
  options.memory_budget = test::nearest_budget(recipe.build(), options);
  Trainer trainer(recipe.build(), options);
  ASSERT_EQ(nameless_files(folder.path()).size(), 1U);
  trainer.fit(data, {.epochs = 1, .checkpoint = checkpoint});
  const std::string saved = trainer.weights_sha256();

  const std::string error = test::error_of([&] {
    trainer.fit(data,
                {.epochs = 1, .checkpoint = checkpoint, .on_step = [&](const StepReport& step) {
                   if (step.batch == 1) GetParam()(folder.path());
                 }});
  });
  EXPECT_NE(error.find("swap file"), std::string::npos) << error;
  EXPECT_NE(error.find("checkpoint"), std::string::npos) << error;
  EXPECT_NE(test::error_of([&] { trainer.save(checkpoint); }), "no error") << "saved what was lost";

  options.memory_budget = 0;
  Trainer again(recipe.build(), options);
  again.resume(checkpoint);
  EXPECT_EQ(again.weights_sha256(), saved);
}

INSTANTIATE_TEST_SUITE_P(faults, swap_fault, ::testing::Values(change_contents, cut_off),
                         [](const auto& info) {
                           return info.index == 0 ? "contents_changed" : "file_cut_off";
                         });

}  // namespace
}  // namespace thimble::train::swap_fault_test
