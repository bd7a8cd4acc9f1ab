#include "io/atomic_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thimble/error.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "harness/error_of.h"
#include "io/safetensors/safetensors.h"
#include "io/temporary_folder.h"

namespace thimble::io::atomic_file_test {
namespace {

constexpr size_t kLimit = size_t{1} << 28;

void put(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

TEST(atomic_file, replaces_the_old_contents) {
  const test::TemporaryFolder folder;
  put(folder / "f", "old");
  put(folder / "f", "new");
  EXPECT_EQ(read_file(folder / "f", kLimit), "new");
}

TEST(atomic_file, leaves_the_old_contents_without_commit) {
  const test::TemporaryFolder folder;
  put(folder / "f", "old");
  { AtomicFile(folder / "f").write("half"); }
  EXPECT_EQ(read_file(folder / "f", kLimit), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(atomic_file, names_the_folder_that_is_missing) {
  try {
    const AtomicFile file("/no/such/folder/f");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("/no/such/folder/f"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("No such file or directory"), std::string::npos);
  }
}

TEST(atomic_file, follows_a_link_and_leaves_it_there) {
  const test::TemporaryFolder folder;
  put(folder / "file", "old");
  std::filesystem::create_symlink("file", folder / "link");
  put(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder / "file", kLimit), "new");
}

TEST(atomic_file, makes_the_file_that_a_link_leads_to) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "there");
  std::filesystem::create_symlink("there/second", folder / "first");
  std::filesystem::create_symlink("file", folder / "there/second");
  put(folder / "first", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "first"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "there/second"));
  EXPECT_EQ(read_file(folder / "there/file", kLimit), "new");
  std::filesystem::create_symlink("circle", folder / "circle");
  EXPECT_THAT(test::error_of([&] { put(folder / "circle", "new"); }),
              testing::HasSubstr("leads to itself"));
}

TEST(atomic_file, keeps_the_permissions_of_the_file_that_it_replaces) {
  const test::TemporaryFolder folder;
  const auto mode = [&](const std::string& name) {
    return static_cast<unsigned>(std::filesystem::status(folder / name).permissions());
  };
  put(folder / "f", "old");
  for (const unsigned kept : {0600U, 0440U, 0664U}) {
    ASSERT_EQ(::chmod((folder / "f").c_str(), kept), 0);
    {
      AtomicFile file(folder / "f");
      file.write("secret");
      EXPECT_EQ(mode("f.partial"), kept | 0200U);  // never readable for more
      file.commit();
    }
    EXPECT_EQ(mode("f"), kept);
  }
}

TEST(atomic_file, lets_several_write_to_one_target) {
  const test::TemporaryFolder folder;
  put(folder / "f.partial", "what a killed writer left, which is longer");
  AtomicFile first(folder / "f");
  AtomicFile second(folder / "f");
  { AtomicFile(folder / "f").write("not committed"); }
  first.write("first");
  second.write("second");
  first.commit();
  EXPECT_EQ(read_file(folder / "f", kLimit), "first");
  AtomicFile third(folder / "f");  // takes the name that the first has given up
  third.write("third");
  second.commit();
  EXPECT_EQ(read_file(folder / "f", kLimit), "second");
  third.commit();
  EXPECT_EQ(read_file(folder / "f", kLimit), "third");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

// Renaming a file over a device would remove the device for everyone.
TEST(atomic_file, writes_into_what_is_no_regular_file) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const int reader = ::open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  put(folder / "pipe", "text");
  char got[8] = {};
  EXPECT_EQ(::read(reader, got, sizeof got), 4);
  ::close(reader);
  EXPECT_STREQ(got, "text");
  EXPECT_TRUE(std::filesystem::is_fifo(folder / "pipe"));
  EXPECT_THROW(AtomicFile{folder.path()}, Error);
}

// Simulates a full disk by a limit on file sizes: the child may write 64 KiB.
TEST(atomic_file, keeps_the_old_file_when_the_disk_is_full) {
  const test::TemporaryFolder folder;
  put(folder / "f", "old");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 16, 1 << 16};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    int code = 1;
    try {
      put(folder / "f", std::string(1 << 20, 'x'));
    } catch (const Error& error) {
      code = std::string(error.what()).find("untouched") == std::string::npos ? 2 : 0;
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(read_file(folder / "f", kLimit), "old");
  EXPECT_FALSE(std::filesystem::exists(folder / "f.partial"));
}

// Saves checkpoints in a loop, each filled with one number, until it is killed.
[[noreturn]] void save_for_ever(const std::string& path) {
  std::vector<float> values(200000);
  for (float number = 0;; ++number) {
    std::fill(values.begin(), values.end(), number);
    const TensorView tensor{"w", DType::f32, {200000}, std::as_bytes(std::span(values))};
    write_safetensors(path, {&tensor, 1}, {{"number", std::to_string(number)}});
  }
}

TEST(atomic_file, survives_fifty_kills_while_saving) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "checkpoint.safetensors";
  std::mt19937 random(1);
  int seen = 0;
  for (int round = 0; round < 50; ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);  // kill(-1) would signal every process
    if (child == 0) save_for_ever(path);
    ::usleep(2000 + static_cast<useconds_t>(random() % 20000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    if (!std::filesystem::exists(path)) continue;
    ++seen;
    const Safetensors file = Safetensors::read(path);
    const float* values = reinterpret_cast<const float*>(file.find("w")->bytes.data());
    for (int i = 0; i < 200000; ++i) {
      ASSERT_EQ(std::to_string(values[i]), file.meta("number")) << "round " << round;
      if (i == 10) i = 199000;
    }
  }
  EXPECT_GT(seen, 25) << "most kills must come after a first save, or the test shows nothing";
}

}  // namespace
}  // namespace thimble::io::atomic_file_test
