#include <gtest/gtest.h>
#include <thimble/graph.h>
#include <thimble/ops.h>

#include <cstring>

#include "exec/program.h"

namespace thimble::exec::constants_test {
namespace {

// A program of w * (a + b) whose two constants are folded into one.
Program folded(float a, float b) {
  Graph model;
  const Value w = model.parameter("w", {}, init::ones());
  const Value sum = add(model.constant("a", {}, {a}), model.constant("b", {}, {b}));
  model.output("y", mul(w, sum));
  return {model.ir(), {}};
}

float result(const Program& program, const Store& store) {
  parallel::ThreadPool pool(1);
  const Block arena(program.plan().arena_bytes);
  Session session(program.data(), store, {arena.data(), static_cast<size_t>(arena.bytes())}, pool);
  EXPECT_TRUE(session.run());
  float y = 0.0F;
  std::memcpy(&y, session.output("y").data(), sizeof(y));
  return y;
}

TEST(constants, of_one_name_differ_between_programs_that_share_a_store) {
  const Program three = folded(1.0F, 2.0F);
  const Program seven = folded(3.0F, 4.0F);
  Store store(std::vector<const program::Program*>{&three.data(), &seven.data()});
  store.initialize(1);
  EXPECT_EQ(result(three, store), 3.0F);
  EXPECT_EQ(result(seven, store), 7.0F);
}

TEST(constants, are_stored_once_for_programs_that_share_them_and_counted_where_used) {
  Graph model;
  model.output(
      "y", mul(model.input("x", {16}), model.constant("c", {16}, std::vector<float>(16, 2.0F))));
  const ir::Graph two = ir::with_batch(model.ir(), 2);
  const ir::Graph three = ir::with_batch(model.ir(), 3);
  const auto only = [](const Program& program) { return program.data().constants.at(0).get(); };
  const auto held = [] { return std::make_shared<Account>(); };
  const std::shared_ptr<Account> first = held();
  const std::shared_ptr<Account> second = held();
  {
    const Counting counting(first);
    const Program a(two, {});
    const Program b(three, {}, {&a});
    for (const ir::ValueData& value : a.graph().values) EXPECT_EQ(value.data->elements(), 0);
    EXPECT_EQ(only(a), only(b));
    EXPECT_EQ(first->held(), 64);
    // Equal content in another account: one block, counted in both.
    const Counting other(second);
    const Program c(two, {});
    EXPECT_EQ(only(c), only(a));
    EXPECT_EQ(second->held(), 64);
    EXPECT_EQ(reinterpret_cast<const float*>(only(c))[15], 2.0F);
  }
  EXPECT_EQ(first->held(), 0);
  EXPECT_EQ(second->held(), 0);
}

TEST(constants, need_no_place_in_the_store) {
  const Program three = folded(1.0F, 2.0F);
  Store store(std::vector<const program::Program*>{&three.data()});
  store.initialize(1);
  EXPECT_EQ(result(folded(30.0F, 40.0F), store), 70.0F);
}

}  // namespace
}  // namespace thimble::exec::constants_test
