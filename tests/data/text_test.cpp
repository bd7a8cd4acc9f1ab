#include <gmock/gmock.h>
#include <thimble/data_text.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "data/test_files.h"

namespace thimble::data::text_test {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Window {
  std::string tokens;
  std::string next;
};

Window window_of(const Dataset& set, int64_t index) {
  const auto size = static_cast<size_t>(set.fields()[0].shape[0]);
  std::vector<int32_t> tokens(size);
  std::vector<int32_t> next(size);
  void* const out[] = {tokens.data(), next.data()};
  set.read(index, out);
  Window window;
  for (const int32_t byte : tokens) window.tokens += static_cast<char>(byte);
  for (const int32_t byte : next) window.next += static_cast<char>(byte);
  return window;
}

// "0123...": byte i is a function of i.
std::string numbered(int size) {
  std::string text;
  for (int i = 0; i < size; ++i) text += static_cast<char>(i);
  return text;
}

TEST(text, gives_windows_and_the_byte_after_each) {
  const Dataset set = text_of("abcdefghijklmnopqrstuvwxyz", {.window = 4});
  EXPECT_EQ(set.fields()[0], (Field{"tokens", {4}, DType::i32, false}));
  EXPECT_EQ(set.fields()[1], (Field{"next", {4}, DType::i32, true}));
  ASSERT_EQ(set.size(), 5);  // 21 bytes: 5 windows and the byte after the last
  EXPECT_EQ(window_of(set, 0).tokens, "abcd");
  EXPECT_EQ(window_of(set, 0).next, "bcde");
  EXPECT_EQ(window_of(set, 4).tokens, "qrst");
  EXPECT_EQ(window_of(set, 4).next, "rstu");
  EXPECT_EQ(set.bytes(), 26);
}

TEST(text, keeps_the_last_tenth_for_the_test) {
  const std::string text = numbered(100);
  const Dataset train = text_of(text, {.window = 3}, Split::train);
  const Dataset test = text_of(text, {.window = 3}, Split::test);
  EXPECT_EQ(window_of(train, train.size() - 1).next.back(), 87);
  ASSERT_EQ(train.size(), 29);  // 90 bytes: 29 windows of 3 and 3 left over
  ASSERT_EQ(test.size(), 3);
  EXPECT_EQ(window_of(test, 0).tokens.front(), 90);
  EXPECT_EQ(window_of(test, 2).next.back(), 99);
}

TEST(text, steps_by_the_stride) {
  const Dataset set = text_of(numbered(100), {.window = 10, .stride = 4});
  ASSERT_EQ(set.size(), 20);  // begins 0, 4 ... 76; 76 + 11 <= 89
  EXPECT_EQ(window_of(set, 1).tokens.front(), 4);
  EXPECT_EQ(window_of(set, 19).next.back(), 86);
}

TEST(text, takes_every_byte_as_it_is) {
  ScratchFolder folder;
  std::string bytes("\xef\xbb\xbf\x00\xff\xc3\xa9\r\n", 9);
  bytes.resize(40, '\xfe');
  const Dataset set = text(folder.write("any.bin", bytes), {.window = 9});
  std::vector<int32_t> tokens(9);
  std::vector<int32_t> next(9);
  void* const out[] = {tokens.data(), next.data()};
  set.read(0, out);
  EXPECT_THAT(tokens, ElementsAre(0xef, 0xbb, 0xbf, 0x00, 0xff, 0xc3, 0xa9, 13, 10));
  EXPECT_EQ(next.back(), 0xfe);
}

TEST(text, reads_the_texts_of_a_folder_in_order) {
  ScratchFolder folder;
  folder.write("b.txt", "bbbbb");
  folder.write("a.txt", "aaaaa");
  folder.write("c.md", "ccccc");
  EXPECT_EQ(window_of(text(folder.path(), {.window = 4}), 0).next, "aaaa");
  EXPECT_EQ(text(folder.path(), {.window = 4}).bytes(), 10);
  ScratchFolder other;
  other.write("text/only.txt", "0123456789");
  EXPECT_EQ(window_of(text(other.path(), {.window = 4}), 0).tokens, "0123");
}

TEST(text, refuses_what_is_too_short_or_not_there) {
  ScratchFolder folder;
  const TextOptions options{.window = 4};
  EXPECT_THAT(error_of([&] { (void)text(folder.write("empty", ""), options); }),
              AllOf(HasSubstr("empty"), HasSubstr("holds 0 bytes; 10 are needed")));
  EXPECT_THAT(error_of([&] { (void)text(folder.write("nine", "123456789"), options); }),
              HasSubstr("holds 9 bytes; 10 are needed"));
  EXPECT_EQ(text(folder.write("ten", "1234567890"), options, Split::test).size(), 1);
  EXPECT_THAT(error_of([&] { (void)text(folder.path("none"), options); }),
              HasSubstr("no such file"));
  EXPECT_THAT(error_of([&] { (void)text(folder.path(), options); }),
              HasSubstr("has no files *.txt"));
  EXPECT_THAT(error_of([&] { (void)text("/dev/null", options); }), HasSubstr("not a regular file"));
}

TEST(text, refuses_windows_that_make_no_sense) {
  for (const TextOptions& options :
       {TextOptions{.window = 0}, TextOptions{.window = -3}, TextOptions{.window = INT64_MAX},
        TextOptions{.window = 4, .stride = -1}, TextOptions{.window = 4, .stride = INT64_MAX}}) {
    EXPECT_THAT(error_of([&] { (void)text_of(numbered(100), options); }),
                HasSubstr("must be at least 1"));
  }
}

TEST(generated_text, is_a_function_of_size_and_seed) {
  const GeneratedText text = generated_text(20000, 3);
  EXPECT_EQ(text.text, generated_text(20000, 3).text);
  EXPECT_NE(text.text, generated_text(20000, 4).text);
  EXPECT_GE(text.text.size(), 20000U);
  EXPECT_EQ(generated_text(30000, 3).text.substr(0, 20000), text.text.substr(0, 20000));
  EXPECT_THROW((void)generated_text(0), Error);
  // A change of the text also changes all figures measured on it, including those in the documents.
  EXPECT_EQ(
      std::accumulate(text.text.begin(), text.text.end(), uint64_t{7},
                      [](uint64_t sum, char c) { return sum * 31 + static_cast<uint8_t>(c); }),
      14702710526907353708U);
}

TEST(generated_text, closes_every_bracket) {
  for (const char c : generated_text(5000).text) {
    ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << static_cast<int>(c);
  }
  const std::string text = generated_text(50000, 1).text;
  std::string open;
  int most = 0;
  for (const char c : text) {
    if (c == '(') open += ')';
    if (c == '[') open += ']';
    if (c == '{') open += '}';
    if (c == ')' || c == ']' || c == '}') {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), c);
      open.pop_back();
    }
    ASSERT_TRUE(c != '\n' || open.empty());
    most = std::max(most, static_cast<int>(open.size()));
  }
  EXPECT_EQ(most, 6);
}

// The entropy is that of the source: a code built from the text's own counts cannot beat it. Here
// counted for the first words of the lines, which tell the five kinds of pieces and the names.
TEST(generated_text, has_the_entropy_of_its_choices) {
  const GeneratedText text = generated_text(400000, 2);
  std::map<std::string, int> pieces;
  double count = 0;
  size_t line = 0;
  while (line < text.text.size()) {
    const size_t end = text.text.find('\n', line);
    const std::string first = text.text.substr(line, text.text.find(' ', line) - line);
    line = end + 1;
    if (first == "the") continue;  // the second half of a rhyme
    const bool tells = first == "Say" || first == "Nest:" || first == "The";
    pieces[tells ? first : "name"] += 1;
    count += 1;
  }
  EXPECT_NEAR(pieces["Say"] / count, 0.2, 0.02);
  EXPECT_NEAR(pieces["Nest:"] / count, 0.2, 0.02);
  EXPECT_NEAR(pieces["The"] / count, 0.2, 0.02);
  EXPECT_NEAR(pieces["name"] / count, 0.4, 0.02);
  EXPECT_NEAR(text.nats_per_byte, 0.187, 0.003);
}

}  // namespace
}  // namespace thimble::data::text_test
