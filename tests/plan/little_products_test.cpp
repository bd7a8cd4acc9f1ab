// Convolutions that take little work are recomputed with any budget.
#include <gtest/gtest.h>
#include <thimble/ops.h>
#include <thimble/trainer.h>

#include <algorithm>

namespace thimble::little_products_test {
namespace {

// The first convolution sees one channel and makes the largest tensor; the others do all the work.
Graph model(int64_t first_channels) {
  Graph g;
  Value x = g.input("x", {32, 32, first_channels});
  x = conv2d(x, {.channels = 16, .kernel = 3, .padding = 1, .name = "first"});
  for (const char* const name : {"a", "b", "c", "d"}) {
    const Value y = swish(group_norm(x, {.groups = 4}));
    x = x + conv2d(y, {.channels = 16, .kernel = 7, .padding = 3, .name = name});
  }
  g.minimize(mean(square(x)));
  return g;
}

bool recomputes(const Plan& plan, const std::string& layer) {
  return std::any_of(plan.buffers.begin(), plan.buffers.end(), [&](const PlanBuffer& buffer) {
    return buffer.made == Made::recomputed && buffer.name.rfind(layer + "/conv2d", 0) == 0;
  });
}

TEST(little_products, are_recomputed_where_they_are_hardly_any_work) {
  const TrainerOptions options{.batch = 2, .memory_budget = int64_t{1} << 40, .threads = 1};
  const Plan little = plan_training(model(1), options);
  const Plan much = plan_training(model(16), options);
  EXPECT_TRUE(recomputes(little, "first"));
  EXPECT_FALSE(recomputes(much, "first"));
  for (const char* const name : {"a", "b", "c", "d"}) EXPECT_FALSE(recomputes(little, name));
}

}  // namespace
}  // namespace thimble::little_products_test
