// `thimble pack`: what it prints and writes, and how it fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/process.h"
#include "io/pack_csv/pack_csv.h"

namespace thimble::test::pack_test {
namespace {

using ::testing::HasSubstr;

const char* const kProblem =
    "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n";

TEST(cli_pack, prints_one_object) {
  const TemporaryFolder folder;
  write_text(folder / "in.csv", kProblem);
  const Outcome outcome = run({"pack", folder / "in.csv", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(lines(outcome.out), 1);
  const auto json = last_line_json(outcome.out);
  EXPECT_EQ(keys(json), "peak_bytes lower_bound_bytes seconds");
  EXPECT_EQ(json["peak_bytes"], 12);
  EXPECT_EQ(json["lower_bound_bytes"], 12);
  EXPECT_GE(json["seconds"].get<double>(), 0.0);
}

TEST(cli_pack, says_the_same_to_a_person) {
  const TemporaryFolder folder;
  write_text(folder / "in.csv", kProblem);
  const Outcome outcome = run({"pack", folder / "in.csv"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("12 B, the lowest there is"));
  EXPECT_THAT(outcome.out, HasSubstr("5 buffers"));
}

TEST(cli_pack, writes_the_rows_with_valid_offsets) {
  const TemporaryFolder folder;
  write_text(folder / "in.csv", kProblem);
  ASSERT_EQ(run({"pack", folder / "in.csv", "--out", folder / "out.csv"}).code, 0);
  const std::string text = read_text(folder / "out.csv");
  EXPECT_THAT(text, HasSubstr("id,lower,upper,size,offset\nb1,0,3,4,"));
  const io::PackTable table = io::parse_pack_csv("out.csv", text);
  plan::Packing packing;
  packing.peak_bytes = 12;
  for (size_t at = text.find('\n'); at + 1 < text.size(); at = text.find('\n', at + 1)) {
    const size_t end = text.find('\n', at + 1);
    packing.offsets.push_back(std::stoll(text.substr(text.rfind(',', end) + 1)));
  }
  EXPECT_NO_THROW(plan::check(table.buffers, packing));
  // A packed table is a valid problem, too.
  EXPECT_EQ(run({"pack", folder / "out.csv", "--json"}).code, 0);
}

TEST(cli_pack, fails_in_one_line_and_leaves_the_old_file) {
  const TemporaryFolder folder;
  write_text(folder / "bad.csv", "id,lower,upper,size\na,3,3,4\n");
  write_text(folder / "out.csv", "old");
  const Outcome bad = run({"pack", folder / "bad.csv", "--out", folder / "out.csv", "--json"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_EQ(bad.out, "");
  EXPECT_EQ(lines(bad.err), 1);
  EXPECT_THAT(bad.err, HasSubstr("bad.csv] line 2, field upper"));
  EXPECT_EQ(read_text(folder / "out.csv"), "old");

  const Outcome missing = run({"pack", folder / "none.csv"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("none.csv"));

  write_text(folder / "in.csv", kProblem);
  const Outcome nowhere = run({"pack", folder / "in.csv", "--out", folder / "no/such/out.csv"});
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("no/such"));
  EXPECT_EQ(run({"pack"}).code, 2);
}

}  // namespace
}  // namespace thimble::test::pack_test
