// The public problems of MiniMalloc, each at its best known peak.
#include <gtest/gtest.h>

#include "harness/given_data.h"
#include "io/atomic_file.h"
#include "io/pack_csv/pack_csv.h"
#include "plan/pack/pack.h"

namespace thimble::plan::minimalloc_test {
namespace {

struct Known {
  const char* name;
  const char* file;
  size_t buffers;
  int64_t peak;
};

class minimalloc : public ::testing::TestWithParam<Known> {};

TEST_P(minimalloc, is_packed_at_the_best_known_peak) {
  const std::string path = test::given_data(std::string("minimalloc/") + GetParam().file);
  if (path.empty()) {
    GTEST_SKIP() << "set THIMBLE_DATA to a folder that holds minimalloc/" << GetParam().file;
  }
  constexpr size_t kMostBytes = size_t{1} << 20;
  const io::PackTable table = io::parse_pack_csv(path, io::read_file(path, kMostBytes));
  ASSERT_EQ(table.buffers.size(), GetParam().buffers);
  const Packing packing = pack(table.buffers);
  check(table.buffers, packing);
  EXPECT_EQ(packing.peak_bytes, GetParam().peak);
  EXPECT_TRUE(packing.optimal);
}

INSTANTIATE_TEST_SUITE_P(problems, minimalloc,
                         ::testing::Values(Known{"A", "A.1048576.csv", 154, 1048576},
                                           Known{"C", "C.1048576.csv", 203, 1039360},
                                           Known{"E", "E.1048576.csv", 215, 1048576},
                                           Known{"G", "G.1048576.csv", 308, 1048576},
                                           Known{"I", "I.1048576.csv", 374, 1048576},
                                           Known{"K", "K.1048576.csv", 454, 1048576},
                                           Known{"input12", "input.12.csv", 5, 12}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace thimble::plan::minimalloc_test
