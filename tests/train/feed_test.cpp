#include "train/feed.h"

#include <gmock/gmock.h>
#include <thimble/ops.h>

#include "harness/error_of.h"
#include "models/small_models.h"
#include "train/compile.h"
#include "train/stepper.h"

namespace thimble::feed_test {
namespace {

using testing::HasSubstr;

// Both ways to a program's memory: from a batch, and directly from the data set.
TEST(feed, refuses_a_program_for_other_numbers_of_samples) {
  const Graph model = test::small_network();
  const ir::Graph four = train::inference_graph(model.ir(), 4, true);
  test::Stepper program({&four});
  for (const int prefetch : {0, 1}) {
    train::LoaderStream stream(
        test::small_data(8),
        {.batch = 8, .shuffle = false, .training = false, .prefetch = prefetch});
    train::Feed feed(model.ir(), stream, true);
    stream.start(0, 0);
    const data::Batch* const batch = stream.next();
    ASSERT_NE(batch, nullptr);
    feed.copy(*batch, {2, 4}, program.session());
    for (const int64_t count : {2, 6}) {
      const std::string what = test::error_of([&] {
        feed.copy(*batch, {0, count}, program.session());
      });
      EXPECT_THAT(what, HasSubstr("[image] the program takes 2048 bytes of this field"));
      EXPECT_THAT(
          what, HasSubstr(std::to_string(count) + " samples have " + std::to_string(512 * count)));
    }
  }
}

}  // namespace
}  // namespace thimble::feed_test
