#include <gtest/gtest.h>
#include <thimble/graph.h>
#include <thimble/ops.h>

#include <cstring>

#include "exec/program.h"

namespace thimble::exec {
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
  ThreadPool pool(1);
  const Block arena(program.plan().arena_bytes);
  Session session(program, store, {arena.data(), static_cast<size_t>(arena.bytes())}, pool);
  EXPECT_TRUE(session.run());
  float y = 0.0F;
  std::memcpy(&y, session.output("y").data(), sizeof(y));
  return y;
}

TEST(constants, of_one_name_differ_between_programs_that_share_a_store) {
  const Program three = folded(1.0F, 2.0F);
  const Program seven = folded(3.0F, 4.0F);
  Store store({&three.graph(), &seven.graph()});
  store.initialize(1);
  EXPECT_EQ(result(three, store), 3.0F);
  EXPECT_EQ(result(seven, store), 7.0F);
}

TEST(constants, need_no_place_in_the_store) {
  const Program three = folded(1.0F, 2.0F);
  Store store({&three.graph()});
  store.initialize(1);
  EXPECT_EQ(result(folded(30.0F, 40.0F), store), 70.0F);
}

}  // namespace
}  // namespace thimble::exec
