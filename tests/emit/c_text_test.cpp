// C source text: what a file defines, and what macros stand for.
#include "emit/c_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace thimble::emit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> names(const std::vector<CItem>& items) {
  std::vector<std::string> all;
  for (const CItem& item : items) all.insert(all.end(), item.names.begin(), item.names.end());
  return all;
}

TEST(c_text, finds_definitions_of_every_kind) {
  const auto items = items_of(R"(#ifndef GUARD
#define GUARD
#include <math.h>
#define SIZE 8
/* Doubles. */
#define TWICE(x) \
  ((x) + (x))
typedef struct dims {
  int n; /* a; b */
  int size[SIZE];
} dims;
enum { FIRST, SECOND = 3 };
typedef dims other_dims;
static const float table[2] = {1, 2};
/* A function; with "quotes" and } braces. */
static inline float half(float x) { return x / 2; }
UNARY(relu, x < 0 ? 0 : x)
#endif
)",
                              false);
  EXPECT_THAT(names(items), ElementsAre("GUARD", "SIZE", "TWICE", "dims", "FIRST", "SECOND",
                                        "other_dims", "table", "half", "UNARY"));
  EXPECT_EQ(items[8 - 1].kind, CItem::Kind::function);
  EXPECT_THAT(items[7].comment, HasSubstr("with \"quotes\""));
  EXPECT_EQ(items[7].text, "static inline float half(float x) { return x / 2; }");
  EXPECT_EQ(items[8].kind, CItem::Kind::invocation);
}

TEST(c_text, chooses_the_part_for_integers) {
  const char* const text =
      "#ifdef THIMBLE_OF_INTEGERS\nstatic int a(void) { return 1; }\n#else\n"
      "static int b(void) { return 2; }\n#endif\n";
  EXPECT_THAT(names(items_of(text, true)), ElementsAre("a"));
  EXPECT_THAT(names(items_of(text, false)), ElementsAre("b"));
}

TEST(c_text, expands_macros_that_define_functions) {
  const auto items = items_of(
      "#define REF(op, value) \\\n  static void op##_ref(float* y) { \\\n    y[0] = (value); \\\n  "
      "}\n"
      "REF(neg, -f(1, 2))\n",
      false);
  ASSERT_EQ(items.size(), 2U);
  const std::string text = expanded(macro_of(items[0]), items[1]);
  EXPECT_EQ(trimmed(text), "static void neg_ref(float* y) {\n  y[0] = (-f(1, 2));\n}");
  EXPECT_THAT(names(items_of(text, false)), ElementsAre("neg_ref"));
}

TEST(c_text, replaces_identifiers_but_not_in_comments_strings_and_numbers) {
  EXPECT_EQ(
      with_identifiers("x /* x */ = \"x\" + 0x1p-3f + s.x + p->x; // x",
                       [](const CIdentifier& name) { return name.is_member ? "member" : "y"; }),
      "y /* x */ = \"x\" + 0x1p-3f + y.member + y->member; // x");
}

}  // namespace
}  // namespace thimble::emit
