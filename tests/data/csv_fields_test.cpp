#include "data/open/csv_fields.h"

#include <gmock/gmock.h>

#include "data/test_files.h"

namespace thimble::data::csv_fields_test {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Field kFeatures{"features", {2}};
const Field kKind{"kind", {}, DType::i32, true};

Dataset parsed(const std::string& text, const std::vector<Field>& wanted,
               std::vector<std::string> class_names = {}) {
  return array_dataset(parse_csv_fields("t.csv", text, wanted, class_names));
}
std::string parse_error(const std::string& text, const std::vector<Field>& wanted) {
  return error_of([&] { (void)parsed(text, wanted); });
}

TEST(csv_fields, match_columns_by_name_and_place) {
  const std::string tables[] = {
      "kind,features_0,features_1\n0,1,2.5\n2,-3e2,4\n",  // numbered names
      "features_1,kind,features_0\n2.5,0,1\n4,2,-3e2\n",  // in any order
      "id,features[0],kind,features[1]\n7,1,0,2.5\n8,-300,2,4\n",
      "features1,features2,kind\n1,2.5,0\n-300,4,2\n",
      "a,b,kind\n1,2.5,0\n-300,4,2\n",   // the rest are features
      "Label,a,b\n0,1,2.5\n2,-300,4\n",  // a usual name
      "a,b,c\n1,2.5,0\n-300,4,2\n",      // the last column
      "1,2.5,0\n-300,4,2\n",             // no header
      "0,1,label\n1,2.5,0\n-300,4,2\n",  // pandas without names
      "a;b;c\n1;2.5;0\n-300;4;2\n",      // other delimiters
      "a\tb\tc\n1\t2.5\t0\n-300\t4\t2\n",
      "a 5\"\tb\tc\n1\t2.5\t0\n-300\t4\t2\n",  // a quote within a cell
      "\"a\tb\",b,c\n1,2.5,0\n-300,4,2\n",     // a delimiter in quotes
  };
  for (const std::string& table : tables) {
    SCOPED_TRACE(table);
    const Dataset set = parsed(table, {kFeatures, kKind});
    ASSERT_EQ(set.size(), 2);
    EXPECT_THAT(sample_of(set, 0).features, ElementsAre(1, 2.5));
    EXPECT_THAT(sample_of(set, 1).features, ElementsAre(-300, 4));
    EXPECT_EQ(sample_of(set, 1).label, 2);
  }
}

TEST(csv_fields, feed_several_inputs_and_types) {
  const Dataset set = parsed("age,code,price\n30,-5,1.5\n40,6,2.5\n",
                             {{"code", {}, DType::i8}, {"age"}, {"price", {}, DType::f32, true}});
  int8_t code = 0;
  float age = 0;
  float price = 0;
  void* const out[] = {&code, &age, &price};
  set.read(0, out);
  EXPECT_EQ(code, -5);
  EXPECT_EQ(age, 30);
  EXPECT_EQ(price, 1.5);
}

TEST(csv_fields, number_classes_that_are_words) {
  const std::string table = "5.1,3.5,setosa\n7,3.2,versicolor\n6,3,setosa\n6,3,\"a, b\"\n";
  const Dataset set = parsed(table, {kFeatures, kKind});
  ASSERT_EQ(set.size(), 4);  // the first line is a sample
  EXPECT_THAT((std::vector{sample_of(set, 0).label, sample_of(set, 1).label,
                           sample_of(set, 2).label, sample_of(set, 3).label}),
              ElementsAre(1, 2, 1, 0));
  const Dataset quoted = parsed("a;\"b;\tb\";kind\n1;2;\"x\"\"y\"\n1;2;\"x\ny\"\n3;4;\"x\"\"y\"\n",
                                {kFeatures, kKind});
  ASSERT_EQ(quoted.size(), 3);
  EXPECT_THAT(sample_of(quoted, 2).features, ElementsAre(3, 4));
  EXPECT_THAT((std::vector{sample_of(quoted, 0).label, sample_of(quoted, 1).label,
                           sample_of(quoted, 2).label}),
              ElementsAre(1, 0, 1));
  // Parses a file of the test part with the names of the training part.
  const Dataset test = parsed("6,3,versicolor\n", {kFeatures, kKind}, {"setosa", "versicolor"});
  EXPECT_EQ(sample_of(test, 0).label, 1);
  EXPECT_THAT(error_of([&] {
                (void)parsed("6,3,virginica\n", {kFeatures, kKind}, {"setosa"});
              }),
              HasSubstr("names the class \"virginica\", which the training part does not have"));
}

TEST(csv_fields, large_tables_leave_memory) {
  std::string table = "a,b,kind\n";
  for (int i = 0; i < 20000; ++i) table += std::to_string(i) + ",1," + std::to_string(i % 7) + "\n";
  const Dataset set = parsed(table, {kFeatures, kKind});
  EXPECT_EQ(set.bytes(), 0);
  EXPECT_THAT(sample_of(set, 19999).features, ElementsAre(19999, 1));
  EXPECT_EQ(sample_of(set, 19999).label, 19999 % 7);
}

TEST(csv_fields, say_what_is_wrong) {
  struct Case {
    std::string text;
    std::string message;
  };
  const Case cases[] = {
      {"", "[t.csv] is empty"},
      {"a,b,kind\n", "holds no samples"},
      {"a,b,kind\n1,2,0\n1,wide,0\n", "line 3, column 2: \"wide\" is not a finite number"},
      {"a,b,kind\n1,2,0\n1,2\n", "line 3, column 3: the line has 2 columns, the first one 3"},
      {"a,b,kind\n1,2,0\n1,2,x\n", "line 3, column 3: \"x\" is not a whole number"},
      {"a,b,kind\n1,2,0.5\n", "\"0.5\" is not a whole number"},
      {"a,b,kind\n1,2,3000000000\n", "is 3000000000; i32 holds"},
      {"a,b,kind\n1,2,x\n1,2,\n", "line 3, column 3: the class is missing"},
      {"a,b,c,kind\n1,2,3,0\n",
       "has no columns for the input \"features\"[2]: it takes 2, and 3 of 4 columns are left; "
       "name "
       "the columns features_0 to features_1 in the first line"},
      {"label,y,a\n1,2,3\n", "has no columns for the input"},
      {"a,b,kind\n1,\"2,0\n", "a quoted cell does not end"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(parse_error(c.text, {kFeatures, kKind}), HasSubstr(c.message)) << c.text;
  }
}

TEST(open, reads_csv_in_parts) {
  const ScratchFolder folder;
  folder.write("set/train.csv", "a,b,kind\n1,2,dog\n3,4,cat\n5,6,eel\n");
  folder.write("set/test.csv", "a,b,kind\n7,8,eel\n");
  const std::vector<Field> wanted = {kFeatures, kKind};
  EXPECT_EQ(open(folder.path("set"), wanted, {.split = Split::train}).size(), 3);
  const Dataset test = open(folder.path("set"), wanted, {.split = Split::test});
  EXPECT_THAT(sample_of(test, 0).features, ElementsAre(7, 8));
  EXPECT_EQ(sample_of(test, 0).label, 2);  // the number that the training part gives it
  folder.write("set/val.csv", "a,b,kind\n7,8,cow\n");
  EXPECT_EQ(open(folder.path("set"), wanted, {.split = Split::test}).size(), 1);
  folder.write("set/test.csv", "a,b,kind\n7,8,cow\n");
  EXPECT_THAT(error_of([&] { (void)open(folder.path("set"), wanted, {.split = Split::test}); }),
              HasSubstr("test.csv] names the class \"cow\""));
  EXPECT_EQ(open(folder.write("t.tsv", "a\tb\tkind\n1\t2\t0\n"), wanted).size(), 1);
}

}  // namespace
}  // namespace thimble::data::csv_fields_test
