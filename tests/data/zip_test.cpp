#include "data/zip.h"

#include <gmock/gmock.h>

#include "data/zip_of.h"

namespace thimble::data::zip_test {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string unzipped(const std::string& archive, size_t member) {
  const StoragePtr storage = in_memory(to_bytes(archive));
  const StoragePtr found = unzip("a.zip", storage, zip_members("a.zip", *storage).at(member));
  std::vector<std::byte> bytes(static_cast<size_t>(found->size()));
  found->read(0, bytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string unzip_error(const std::string& archive) {
  return error_of([&] {
    const StoragePtr storage = in_memory(to_bytes(archive));
    for (const ZipMember& member : zip_members("a.zip", *storage)) {
      (void)unzip("a.zip", storage, member);
    }
  });
}

const std::string kText = std::string(50000, 'a') + "some text" + std::string(50000, 'b');

TEST(zip, reads_stored_and_deflated_members) {
  for (const bool wide : {false, true}) {
    for (const std::string comment : {"", "a comment with PK\5\6 in it, and more of it here"}) {
      const std::string archive =
          zip_of({{"a.txt", "hello", false, wide}, {"b", kText, true, wide}, {"c", ""}}, comment);
      EXPECT_TRUE(is_zip(*in_memory(to_bytes(archive))));
      EXPECT_EQ(zip_members("a.zip", *in_memory(to_bytes(archive))).size(), 3);
      EXPECT_EQ(unzipped(archive, 0), "hello");
      EXPECT_EQ(unzipped(archive, 1), kText);
      EXPECT_EQ(unzipped(archive, 2), "");
    }
  }
  EXPECT_EQ(unzip_error(zip_of({})), kNoError);
}

TEST(zip, refuses_a_file_cut_at_any_byte) {
  const std::string whole = zip_of({{"a.txt", "hello"}, {"b", "some text", true}});
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(unzip_error(whole.substr(0, size)), HasSubstr("[a.zip")) << size;
  }
}

TEST(zip, finds_every_changed_byte_of_the_contents) {
  const std::string whole = zip_of({{"a.txt", "hello"}, {"b", "some text, some text", true}});
  const size_t contents = whole.find("PK\1\2");
  int unnoticed = 0;
  for (size_t at = 0; at < contents; ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    unnoticed += unzip_error(damaged) == kNoError ? 1 : 0;
  }
  // A member's own header repeats the directory's entries; only its lengths are read.
  EXPECT_LE(unnoticed, 2 * (22 + 5 + 3));
  for (const std::string text : {"hello", "abc"}) {
    std::string damaged = whole;
    damaged[damaged.find("hello")] = 'j';
    EXPECT_THAT(unzip_error(damaged), HasSubstr("a.txt] its checksum is wrong"));
  }
}

TEST(zip, says_what_is_wrong) {
  const std::string whole = zip_of({{"a.txt", "hello"}, {"b", kText, true}});
  const size_t directory = whole.find("PK\1\2");
  const size_t second = whole.find("PK\1\2", directory + 1);
  const auto changed = [&](size_t at, const std::string& bytes) {
    std::string file = whole;
    return file.replace(at, bytes.size(), bytes);
  };
  struct Case {
    std::string file;
    std::string message;
  };
  const Case cases[] = {
      {"no archive", "is no zip archive, or cut short"},
      {changed(directory + 8, little<uint16_t>(1)), "member \"a.txt\" is encrypted"},
      {changed(directory + 10, little<uint16_t>(12)), "packed in an unknown way"},
      {changed(directory + 24, little<uint32_t>(6)), "member \"a.txt\": it has two sizes"},
      {changed(directory + 42, little<uint32_t>(1 << 30)), "its offset lies outside"},
      {changed(directory + 42, little<uint32_t>(1)), "a member's header before offset"},
      {changed(second + 24, little<uint32_t>(100000)), "b] it unpacks to more than it announces"},
      {changed(second + 24, little<uint32_t>(100010)), "it unpacks to less"},
      {changed(second + 24, little<uint32_t>(0x7fffffff)),
       "cannot unpack to the size it announces"},
      {changed(second + 20, little(static_cast<uint32_t>(deflated(kText).size() - 1))),
       "its compressed data end too early"},
      {changed(whole.size() - 10, little<uint32_t>(1 << 30)), "its directory of 1073741824 bytes"},
      {changed(whole.size() - 12, little<uint16_t>(3)), "ends inside a directory entry"},
  };
  for (const Case& c : cases) EXPECT_THAT(unzip_error(c.file), HasSubstr(c.message));
}

}  // namespace
}  // namespace thimble::data::zip_test
