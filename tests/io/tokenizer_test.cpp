// Byte-level BPE beside the tokenizers package (tokenizer_goldens.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/tokenizer.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/error_of.h"
#include "io/temporary_folder.h"

namespace thimble::test::tokenizer_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const json& cases() {
  static const json all =
      json::parse(std::ifstream(THIMBLE_SOURCE_DIR "/tests/io/tokenizer_goldens.json"));
  return all["cases"];
}

TEST(tokenizer, encodes_and_decodes_as_the_tokenizers_package) {
  ASSERT_EQ(cases().size(), 4U);
  for (const json& each : cases()) {
    const Tokenizer tokenizer = Tokenizer::parse("t", each["tokenizer"].dump());
    EXPECT_EQ(tokenizer.size(), 331);
    for (const json& text : each["texts"]) {
      SCOPED_TRACE(each["name"].get<std::string>() + ": " + text["text"].dump());
      const auto ids = text["ids"].get<std::vector<int32_t>>();
      EXPECT_EQ(tokenizer.encode(text["text"].get<std::string>()), ids);
      EXPECT_EQ(tokenizer.decode(ids), text["decoded"].get<std::string>());
    }
  }
}

TEST(tokenizer, keeps_bytes_that_are_no_utf8) {
  const Tokenizer tokenizer = Tokenizer::parse("t", cases()[0]["tokenizer"].dump());
  for (const std::string& text :
       {std::string("a\xff\xfe the\xc3"), std::string("\0x\0", 3), std::string("\xe6\x97 \x80\x80"),
        std::string("\xf8\x88\x80\x80\x80")}) {
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  }
}

TEST(tokenizer, takes_a_long_word_in_little_time) {
  const Tokenizer tokenizer = Tokenizer::parse("t", cases()[0]["tokenizer"].dump());
  const std::string text(200'000, 'e');
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
}

TEST(tokenizer, names_what_it_does_not_read) {
  const auto error_with = [](const std::string& pointer, const json& value) {
    json changed = cases()[2]["tokenizer"];
    changed[json::json_pointer(pointer)] = value;
    return error_of([&] { static_cast<void>(Tokenizer::parse("t.json", changed.dump())); });
  };
  EXPECT_THAT(error_with("/model/type", "Unigram"), HasSubstr("expected BPE"));
  EXPECT_THAT(error_with("/model/byte_fallback", true), HasSubstr("byte_fallback"));
  EXPECT_THAT(error_with("/model/vocab", json::object()), HasSubstr("model.vocab"));
  EXPECT_THAT(error_with("/model/vocab/the", -1), HasSubstr("the number of a token"));
  EXPECT_THAT(error_with("/model/vocab/the", 1 << 20), HasSubstr("the number of a token"));
  EXPECT_THAT(error_with("/model/merges/0", "zz yy"), HasSubstr("does not join"));
  EXPECT_THAT(error_with("/normalizer", json{{"type", "NFC"}}), HasSubstr("normalizer"));
  EXPECT_THAT(error_with("/pre_tokenizer/pretokenizers/0/pattern/Regex", "\\w+"),
              HasSubstr("pre_tokenizer"));
  EXPECT_THAT(error_with("/added_tokens/0/lstrip", true), HasSubstr("lstrip"));
  EXPECT_THAT(error_with("/added_tokens/0/id", 1e9), HasSubstr("the number of a token"));
  EXPECT_THAT(error_of([] { static_cast<void>(Tokenizer::parse("t.json", "[1, 2]")); }),
              HasSubstr("[t.json] is no JSON object"));
  const TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { Tokenizer missing(folder / "tokenizer.json"); }),
              HasSubstr("no such file"));
  const Tokenizer tokenizer = Tokenizer::parse("t", cases()[0]["tokenizer"].dump());
  EXPECT_THAT(error_of([&] { static_cast<void>(tokenizer.decode(std::vector<int32_t>{331})); }),
              HasSubstr("has no token 331"));
}

}  // namespace
}  // namespace thimble::test::tokenizer_test
