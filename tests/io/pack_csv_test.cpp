#include "io/pack_csv/pack_csv.h"

#include <gtest/gtest.h>
#include <thimble/error.h>

namespace thimble::io::pack_csv_test {
namespace {

std::string error_of(const std::string& text) {
  try {
    (void)parse_pack_csv("f.csv", text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(pack_csv, reads_buffers) {
  const PackTable table = parse_pack_csv("f.csv", "id,lower,upper,size\nb1,0,3,4\n7,-3,9,0\n");
  ASSERT_EQ(table.buffers.size(), 2U);
  EXPECT_EQ(table.ids, (std::vector<std::string>{"b1", "7"}));
  EXPECT_EQ(table.buffers[0].upper, 3);
  EXPECT_EQ(table.buffers[0].size, 4);
  EXPECT_EQ(table.buffers[0].alignment, 1);
  EXPECT_EQ(table.buffers[1].lower, -3);
  EXPECT_FALSE(table.has_alignment);
}

TEST(pack_csv, takes_columns_in_any_order_and_an_alignment) {
  const PackTable table = parse_pack_csv(
      "f.csv", "\xEF\xBB\xBFsize, alignment ,id,offset,upper,lower\r\n\r\n12,64,a b,5,2,1\r\n");
  ASSERT_EQ(table.buffers.size(), 1U);
  EXPECT_EQ(table.ids[0], "a b");
  EXPECT_EQ(table.buffers[0].size, 12);
  EXPECT_EQ(table.buffers[0].alignment, 64);
  EXPECT_EQ(table.buffers[0].lower, 1);
}

TEST(pack_csv, reads_no_buffers_and_a_line_without_end) {
  EXPECT_EQ(parse_pack_csv("f.csv", "id,lower,upper,size").buffers.size(), 0U);
  EXPECT_EQ(parse_pack_csv("f.csv", "id,lower,upper,size\na,0,1,1").buffers.size(), 1U);
}

TEST(pack_csv, writes_what_it_reads) {
  const std::string text = "id,lower,upper,size,alignment,offset\na,0,1,5,1,0\nb,0,2,3,4,8\n";
  const std::vector<int64_t> offsets = {0, 8};
  EXPECT_EQ(to_pack_csv(parse_pack_csv("f.csv", text), offsets), text);
  const std::string plain = "id,lower,upper,size\nx,1,2,3\n";
  EXPECT_EQ(to_pack_csv(parse_pack_csv("f.csv", plain), std::vector<int64_t>{7}),
            "id,lower,upper,size,offset\nx,1,2,3,7\n");
}

TEST(pack_csv, rejects_bad_files_by_line_and_field) {
  const std::string head = "id,lower,upper,size\n";
  EXPECT_EQ(error_of(""),
            "[f.csv] is empty; write a line id,lower,upper,size and one line per buffer");
  EXPECT_EQ(error_of("\n \n"), error_of(""));
  EXPECT_EQ(error_of("0,1,2,3\n"),
            "[f.csv] line 1: \"0\" is no column; the first line names id, lower, upper, size and "
            "perhaps alignment");
  EXPECT_EQ(error_of("id,lower,size\n"),
            "[f.csv] line 1, field upper: the column is missing; add it");
  EXPECT_EQ(error_of("id,lower,upper,size,lower\n"),
            "[f.csv] line 1, field lower: the column stands twice; remove one");
  EXPECT_EQ(error_of(head + "a,0,1\n"),
            "[f.csv] line 2: 3 fields, but the first line names 4; write one for each column");
  EXPECT_EQ(error_of(head + "\na,0,1,1,1\n"),
            "[f.csv] line 3: 5 fields, but the first line names 4; write one for each column");
  EXPECT_EQ(error_of(head + ",0,1,1\n"), "[f.csv] line 2, field id: is empty; name the buffer");
  EXPECT_EQ(error_of(head + "a,0,1,1\nb,0,1,1\na,0,1,1\n"),
            "[f.csv] line 4, field id: \"a\" stands in line 2 already; give every buffer its own");
  EXPECT_EQ(error_of(head + "a,5,5,1\n"),
            "[f.csv] line 2, field upper: 5 is not above lower 5; a buffer lives from lower up to, "
            "not including, upper");
}

TEST(pack_csv, rejects_bad_numbers) {
  const std::string head = "id,lower,upper,size,alignment\n";
  const auto field_of = [&](const std::string& row) {
    const std::string error = error_of(head + row);
    const size_t at = error.find("field ") + 6;
    return error.substr(at, error.find(':', at) - at);
  };
  EXPECT_EQ(error_of(head + "a,0,1,-4,1\n"),
            "[f.csv] line 2, field size: \"-4\" is not a whole number from 0 to "
            "2305843009213693952; write one");
  EXPECT_EQ(field_of("a,,1,1,1\n"), "lower");
  EXPECT_EQ(field_of("a,0,1e3,1,1\n"), "upper");
  EXPECT_EQ(field_of("a,0,+1,1,1\n"), "upper");
  EXPECT_EQ(field_of("a,0,0x1,1,1\n"), "upper");
  EXPECT_EQ(field_of("a,0,1,1.5,1\n"), "size");
  EXPECT_EQ(field_of("a,0,1,99999999999999999999,1\n"), "size");
  EXPECT_EQ(field_of("a,-9223372036854775808,1,1,1\n"), "lower");
  EXPECT_EQ(field_of("a,0,1,1,0\n"), "alignment");
  EXPECT_EQ(field_of("a,0,1,2000000000000000000,1\nb,0,1,2000000000000000000,1\n"), "size");
  EXPECT_EQ(error_of(head + "a,0,1,2000000000000000000,1\nb,0,1,2000000000000000000,1\n"),
            "[f.csv] line 3, field size: all sizes together exceed 2^61 bytes; split the problem");
}

// A cell of a file is not printed at length or with its control characters.
TEST(pack_csv, shows_hostile_cells_safely) {
  const std::string error =
      error_of("id,lower,upper,size\na,\x1b[2J" + std::string(500, '9') + ",1,1\n");
  EXPECT_EQ(error.find('\x1b'), std::string::npos);
  EXPECT_LT(error.size(), 200U);
}

}  // namespace
}  // namespace thimble::io::pack_csv_test
