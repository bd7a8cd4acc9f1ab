// Names that no file could hold are refused where they are given.
#include <gmock/gmock.h>
#include <thimble/graph.h>
#include <thimble/ops.h>

#include "harness/error_of.h"
#include "ir/names.h"

namespace thimble::ir {
namespace {

using test::error_of;
using testing::HasSubstr;
using namespace std::string_literals;

struct BadName {
  std::string name;
  const char* error;
};

std::vector<BadName> bad_names() {
  return {{"", "is empty"},
          {"__metadata__", "is reserved"},
          {std::string(65537, 'a'), "is longer than 65536 bytes"},
          {"a\0b"s, "control character at byte 1"},
          {"\n", "control character at byte 0"},
          {"abc\x7f", "control character at byte 3"},
          {"\xff", "is no UTF-8 from byte 0 on"},
          {"a\x80", "is no UTF-8 from byte 1 on"},
          {"\xc0\xaf", "is no UTF-8"},          // overlong
          {"\xe0\x9f\xbf", "is no UTF-8"},      // overlong
          {"\xed\xa0\x80", "is no UTF-8"},      // a surrogate
          {"\xf0\x8f\xbf\xbf", "is no UTF-8"},  // overlong
          {"\xf4\x90\x80\x80", "is no UTF-8"},  // above U+10FFFF
          {"\xe2\x82", "is no UTF-8"}};         // cut off
}

TEST(names, are_utf8_without_control_characters) {
  for (const BadName& bad : bad_names()) {
    EXPECT_THAT(name_error(bad.name), HasSubstr(bad.error)) << bad.name;
  }
  for (const std::string& good :
       {"a"s, "conv1/weight:0"s, " \\\"%~"s, "\xc2\x80"s, "\xe2\x82\xac"s, "\xed\x9f\xbf"s,
        "\xf0\x90\x80\x80"s, "\xf4\x8f\xbf\xbf"s, std::string(65536, 'a')}) {
    EXPECT_EQ(name_error(good), "") << good;
  }
}

TEST(names, of_sources_layers_and_results_are_checked_when_they_are_given) {
  for (const BadName& bad : bad_names()) {
    thimble::Graph g;
    const Value x = g.input("x", {2});
    const auto holds = [&](const auto& build) {
      EXPECT_THAT(error_of(build), HasSubstr(bad.error)) << bad.name;
    };
    holds([&] { g.input(bad.name, {2}); });
    holds([&] { g.label(bad.name); });
    holds([&] { g.parameter(bad.name, {2}, init::zeros()); });
    holds([&] { g.constant(bad.name, {1}, {2.0F}); });
    holds([&] { g.output(bad.name, x); });
    holds([&] { g.metric(bad.name, sum(x)); });
    if (!bad.name.empty()) holds([&] { dense(x, {.units = 2, .name = bad.name}); });
  }
}

}  // namespace
}  // namespace thimble::ir
