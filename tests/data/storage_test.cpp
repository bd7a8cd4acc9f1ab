#include "data/storage.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <thimble/data.h>

#include <cstdlib>
#include <filesystem>

#include "data/array.h"
#include "data/file.h"
#include "data/gzip_of.h"
#include "data/idx.h"
#include "data/test_files.h"

namespace thimble::data::storage_test {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kMuch = 300'000;  // more than is kept in memory

std::string counted(int64_t size) {
  std::string bytes;
  for (int64_t i = 0; i < size; ++i) bytes += static_cast<char>(i * 7 % 251);
  return bytes;
}

std::string all_of(const Storage& storage) {
  std::string bytes(static_cast<size_t>(storage.size()), '\0');
  storage.read(0, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

// Sets TMPDIR while the object lives.
class TemporaryIn {
 public:
  explicit TemporaryIn(const std::string& folder) {
    const char* const before = std::getenv("TMPDIR");
    if (before != nullptr) before_ = before;
    ::setenv("TMPDIR", folder.c_str(), 1);
  }
  ~TemporaryIn() {
    if (before_.empty()) {
      ::unsetenv("TMPDIR");
    } else {
      ::setenv("TMPDIR", before_.c_str(), 1);
    }
  }

 private:
  std::string before_;
};

TEST(storage, a_spill_gives_back_what_it_took) {
  for (const int64_t size : {int64_t{0}, int64_t{100}, int64_t{65536}, int64_t{65537}, kMuch}) {
    const std::string bytes = counted(size);
    Spill spill;
    for (size_t at = 0; at < bytes.size(); at += 1000) {
      spill.append(
          std::as_bytes(std::span(bytes).subspan(at, std::min<size_t>(1000, bytes.size() - at))));
    }
    EXPECT_EQ(spill.size(), size);
    const StoragePtr storage = spill.finish();
    EXPECT_EQ(storage->size(), size);
    EXPECT_EQ(all_of(*storage), bytes) << size;
    EXPECT_EQ(storage->memory_bytes(), size <= 65536 ? size : 0) << size;
    EXPECT_EQ(storage->data() != nullptr, size > 0 && size <= 65536);
  }
}

TEST(storage, a_spill_leaves_no_file_behind_and_shows_none) {
  ScratchFolder folder;
  const TemporaryIn here(folder.path());
  const std::string bytes = counted(kMuch);
  Spill spill;
  spill.append(std::as_bytes(std::span(bytes)));
  const StoragePtr storage = spill.finish();
  EXPECT_EQ(storage->memory_bytes(), 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_EQ(all_of(*storage), bytes);
}

TEST(storage, a_spill_stays_in_memory_where_there_is_no_folder) {
  const TemporaryIn here("/nonexistent/folder");
  const std::string bytes = counted(kMuch);
  Spill spill;
  spill.append(std::as_bytes(std::span(bytes).first(100'000)));
  spill.append(std::as_bytes(std::span(bytes).subspan(100'000)));
  const StoragePtr storage = spill.finish();
  EXPECT_EQ(storage->memory_bytes(), kMuch);
  EXPECT_EQ(all_of(*storage), bytes);
}

TEST(storage, a_file_that_became_shorter_is_an_error) {
  ScratchFolder folder;
  const std::string path = folder.write("f", counted(kMuch));
  const StoragePtr storage = in_file(path);
  EXPECT_EQ(storage->memory_bytes(), 0);
  EXPECT_EQ(all_of(*storage), counted(kMuch));
  std::filesystem::resize_file(path, 1000);
  std::byte to[10];
  storage->read(990, to);
  EXPECT_THAT(error_of([&] { storage->read(995, to); }),
              HasSubstr("cannot be read past byte 1000 of 300000: it has become shorter"));
}

// Sixteen bits, so that the order of bytes matters, and more than is read at once.
TEST(storage, an_array_reads_the_same_from_file_gzip_and_memory) {
  ScratchFolder folder;
  constexpr uint32_t kRows = 40;
  constexpr uint32_t kColumns = 5000;
  std::string bytes = {0, 0, 0x0B, 2};
  bytes += big(kRows) + big(kColumns);
  for (uint32_t i = 0; i < kRows * kColumns; ++i) {
    bytes += static_cast<char>(i * 31 >> 8 & 0x7F);
    bytes += static_cast<char>(i * 31);
  }
  std::string labels = {0, 0, 0x08, 1};
  labels += big(kRows);
  labels += counted(kRows);
  const std::string label_path = folder.write("l", labels);
  const Dataset plain = idx(folder.write("i", bytes), label_path);
  const Dataset packed = idx(folder.write("i.gz", gzip_of(bytes)), label_path);
  const StoredArray memory = parse_idx("memory", to_bytes(bytes));
  const Dataset held = array_dataset({{{"image", {kColumns}}, memory}});
  EXPECT_EQ(plain.bytes(), static_cast<int64_t>(kRows));
  EXPECT_EQ(packed.bytes(), static_cast<int64_t>(kRows));
  EXPECT_EQ(held.bytes(), static_cast<int64_t>(2 * kRows * kColumns));
  std::vector<float> expected(kColumns);
  std::vector<float> got(kColumns);
  int32_t label = 0;
  for (int64_t row = 0; row < kRows; ++row) {
    void* const one[] = {expected.data()};
    held.read(row, one);
    for (const Dataset* set : {&plain, &packed}) {
      void* const both[] = {got.data(), &label};
      set->read(row, both);
      ASSERT_EQ(got, expected) << row;
    }
  }
  EXPECT_EQ(expected[1], static_cast<float>((((kRows - 1) * kColumns + 1) * 31) & 0x7FFF));
}

}  // namespace
}  // namespace thimble::data::storage_test
