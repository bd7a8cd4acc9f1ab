#include "data/csv.h"

#include <gmock/gmock.h>

#include "data/test_files.h"

namespace thimble::data::csv_test {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kTable[] = "a,b,kind\n1,2.5,0\n-3e2,4,2\n";

std::string parse_error(const std::string& text, const CsvOptions& options = {}) {
  return error_of([&] { (void)parse_csv("t.csv", text, options); });
}

TEST(csv, reads_features_and_class) {
  ScratchFolder folder;
  const Dataset set = csv(folder.write("t.csv", kTable));
  EXPECT_EQ(set.size(), 2);
  EXPECT_EQ(set.fields()[0], (Field{"features", {2}, DType::f32, false}));
  EXPECT_EQ(set.fields()[1], (Field{"label", {}, DType::i32, true}));
  const Sample second = sample_of(set, 1);
  EXPECT_THAT(second.features, ElementsAre(-300, 4));
  EXPECT_EQ(second.label, 2);
}

TEST(csv, finds_the_label_by_name_and_number) {
  struct Case {
    std::variant<std::monostate, int, std::string> label;
    std::vector<float> features;  // of both rows
    std::vector<int32_t> classes;
  };
  const std::string text = "a,b,c\n1,2,3\n4,5,6\n";
  const Case cases[] = {{0, {2, 3, 5, 6}, {1, 4}},   {1, {1, 3, 4, 6}, {2, 5}},
                        {-1, {1, 2, 4, 5}, {3, 6}},  {-3, {2, 3, 5, 6}, {1, 4}},
                        {"b", {1, 3, 4, 6}, {2, 5}}, {std::monostate{}, {1, 2, 3, 4, 5, 6}, {}}};
  for (const Case& c : cases) {
    CsvOptions options;
    options.label = c.label;
    const CsvTable table = parse_csv("t.csv", text, options);
    EXPECT_EQ(table.features, c.features);
    EXPECT_EQ(table.classes, c.classes);
    EXPECT_EQ(table.rows, 2);
    EXPECT_EQ(table.columns, static_cast<int64_t>(c.features.size()) / 2);
  }
}

TEST(csv, accepts_the_usual_spellings) {
  const std::string spellings[] = {
      "1,2,0\n3,4,1",                             // no line feed at the end
      "1,2,0\r\n3,4,1\r\n",                       // Windows
      "\357\273\2771,2,0\n3,4,1\n",               // byte order mark
      "\n1,2,0\n\n3,4,1\n\n",                     // empty lines
      " 1 , 2.0,0 \n3.0e0,  40e-1,1\n",           // blanks, exponents
      "\"1\",2,\"0\"\n3, \"4\" ,1\n",             // quotes
      "1,2,0\n3,4.0000000000000000000000001,1\n"  // more digits than f32 holds
  };
  for (const std::string& text : spellings) {
    const CsvTable table = parse_csv("t.csv", text, {.header = false});
    EXPECT_THAT(table.features, ElementsAre(1, 2, 3, 4)) << text;
    EXPECT_THAT(table.classes, ElementsAre(0, 1)) << text;
  }
  for (const char delimiter : {';', '\t', ' ', '|'}) {
    std::string text = "1,2,0\n\"3\",4,1\n";
    for (char& c : text) c = c == ',' ? delimiter : c;
    const CsvTable table = parse_csv("t", text, {.header = false, .delimiter = delimiter});
    EXPECT_THAT(table.features, ElementsAre(1, 2, 3, 4)) << delimiter;
  }
  EXPECT_THAT(parse_csv("t", "\"a,b\",c\n1,2\n", {.label = "a,b"}).classes, ElementsAre(1));
  EXPECT_THAT(parse_csv("t", "1e-300,0\n", {.header = false}).features, ElementsAre(0));
}

TEST(csv, reads_quoted_cells_as_rfc_4180) {
  struct Case {
    std::string header;
    std::string name;
  };
  const Case cases[] = {
      {"\"say \"\"hi\"\", twice\"", "say \"hi\", twice"},
      {"\"two\nlines\"", "two\nlines"},
      {"\"two\r\nlines\"", "two\r\nlines"},
      {"\"\n\nafter\"", "\n\nafter"},
      {"\"\"\"\"", "\""},
      {"\"\"", ""},
      {"\" blanks \"", " blanks "},
      {"a\"b\"", "a\"b\""},  // no quoted cell
  };
  for (const Case& c : cases) {
    for (const std::string end : {"\n", "\r\n"}) {
      const std::string text = "\357\273\277a," + c.header + ",b" + end + "1,2,3" + end;
      const CsvTable table = parse_csv("t.csv", text, {.label = c.name});
      EXPECT_THAT(table.classes, ElementsAre(2)) << text;
      EXPECT_THAT(table.features, ElementsAre(1, 3)) << text;
    }
  }
  EXPECT_THAT(parse_csv("t", "a,b\n\" 1 \",\"2\"", {}).features, ElementsAre(1));
  // A row is named by the line that it begins in.
  const std::string broken = "\"a\nb\",c\n\"1\n\",x\n";
  EXPECT_THAT(parse_error(broken), HasSubstr("line 3, column 1: \"1?\" is not a finite number"));
}

TEST(csv, shapes_scales_and_regresses) {
  ScratchFolder folder;
  const std::string path = folder.write("t.csv", "0.5,255,51\n-1.5,0,102\n");
  const Dataset set = csv(path, {.header = false,
                                 .label = 0,
                                 .label_is_class = false,
                                 .feature_shape = {1, 2, 1},
                                 .divisor = 255});
  EXPECT_EQ(set.fields()[0].shape, (Shape{1, 2, 1}));
  EXPECT_EQ(set.fields()[1], (Field{"label", {}, DType::f32, true}));
  float features[2];
  float target = 0;
  void* const out[] = {features, &target};
  set.read(1, out);
  EXPECT_THAT(features, ElementsAre(0, 102 / 255.f));
  EXPECT_EQ(target, -1.5f);
}

TEST(csv, names_line_and_column) {
  struct Case {
    std::string text;
    std::string message;
  };
  const Case cases[] = {
      {"a,b\n1,2\n1,nan\n", "line 3, column 2: \"nan\" is not a class index"},
      {"a,b\n1,2\nnan,2\n", "line 3, column 1: \"nan\" is not a finite number"},
      {"a,b\ninf,2\n", "line 2, column 1: \"inf\""},
      {"a,b\n1e39,2\n", "line 2, column 1: \"1e39\""},
      {"a,b\n1e999,2\n", "\"1e999\""},
      {"a,b\n,2\n", "line 2, column 1: \"\" is not"},
      {"a,b\n1.5x,2\n", "\"1.5x\""},
      {"a,b\n+1,2\n", "\"+1\""},
      {"a,b\n0x10,2\n", "\"0x10\""},
      {"a,b\n1 2,2\n", "\"1 2\""},
      {"a,b\n1,-1\n", "\"-1\" is not a class index"},
      {"a,b\n1,2.0\n", "\"2.0\" is not a class index"},
      {"a,b\n1,2147483648\n", "\"2147483648\" is not a class index"},
      {"a,b\n1,2\n\n1,2,3\n", "line 4, column 3: the line has 3 columns, the first one 2"},
      {"a,b,c\n1,2,3\n1,2\n", "line 3, column 3: the line has 2 columns, the first one 3"},
      {"a,b\n\"1,2\n", "line 2, column 1: a quoted cell does not end"},
      {"a,b\n1,2\n\"1,2\n1,2\n", "line 3, column 1: a quoted cell does not end"},
      {"a,b\n1,\"2\" x\n", "line 2, column 2: something stands behind the closing quote"},
      {"a\n1\n", "has no column beside the label"},
      {"a,b\n", "holds no samples"},
      {"", "is empty"},
      {"a,b\n\x1b[2J,1\n", "\"?[2J\" is not"},
      {std::string("a,b\n1\0,1\n", 9), "\"1?\" is not"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(parse_error(c.text), HasSubstr(c.message));
    EXPECT_THAT(parse_error(c.text), HasSubstr("[t.csv]"));
  }
}

TEST(csv, refuses_contradictory_options) {
  EXPECT_THAT(parse_error(kTable, {.label = 3}), HasSubstr("label column 3 does not exist"));
  EXPECT_THAT(parse_error(kTable, {.label = -4}), HasSubstr("label column -4 does not exist"));
  EXPECT_THAT(parse_error(kTable, {.label = "typ"}), HasSubstr("has no column \"typ\""));
  EXPECT_THAT(parse_error("1,2\n", {.header = false, .label = "b"}),
              HasSubstr("read without a header"));
  ScratchFolder folder;
  const std::string path = folder.write("t.csv", kTable);
  EXPECT_THAT(error_of([&] { (void)csv(path, {.feature_shape = {3}}); }),
              HasSubstr("has 2 feature columns, which CsvOptions::feature_shape [3] does not fit"));
  EXPECT_THAT(error_of([&] { (void)csv(path, {.divisor = 0}); }), HasSubstr("divisor is 0"));
}

TEST(csv, survives_a_cut_at_any_byte) {
  const std::string whole = kTable;
  const CsvTable table = parse_csv("t.csv", whole, {});
  for (size_t size = 0; size < whole.size(); ++size) {
    try {
      const CsvTable part = parse_csv("t.csv", whole.substr(0, size), {});
      // A table may end between any two rows or inside a number.
      ASSERT_LE(part.rows, table.rows) << size;
      ASSERT_EQ(part.features.size(), static_cast<size_t>(part.rows * part.columns)) << size;
      ASSERT_EQ(part.classes.size(), static_cast<size_t>(part.rows)) << size;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("[t.csv]")) << size;
    }
  }
}

}  // namespace
}  // namespace thimble::data::csv_test
