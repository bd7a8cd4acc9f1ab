// The cache finds compiled steps by content.
#include "exec/compile_cache.h"

#include <gtest/gtest.h>
#include <thimble/ops.h>
#include <thimble/trainer.h>

#include <functional>
#include <set>
#include <thread>

#include "exec/program.h"
#include "models/small_models.h"
#include "train/compile.h"

namespace thimble::exec::compile_cache_test {
namespace {

ir::Graph step_of(const Graph& model, int64_t batch) {
  return train::training_graph(model.ir(), {.batch = batch}, batch, train::StepKind::update);
}

Compiled fitted(int nodes) {
  Compiled compiled;
  compiled.step.graph.nodes.resize(static_cast<size_t>(nodes));
  return compiled;
}

// Number of programs that an action has to compile.
int64_t misses(const std::function<void()>& action) {
  const int64_t before = compile_cache().counts().misses;
  action();
  return compile_cache().counts().misses - before;
}

TEST(compile_cache, lets_a_second_trainer_of_the_same_content_compile_no_step) {
  const auto train = [](int64_t batch) {
    const Trainer trainer(test::small_network(), {.batch = batch, .threads = 1});
    return trainer.plan().arena_bytes;
  };
  int64_t first = 0;
  int64_t second = 0;
  // The training step and the evaluation, at least.
  EXPECT_GE(misses([&] { first = train(11); }), 2);
  // The evaluation was dropped.
  EXPECT_EQ(misses([&] { second = train(11); }), 1);
  EXPECT_EQ(first, second);
  EXPECT_GE(misses([&] { train(12); }), 2);
}

TEST(compile_cache, finds_plans_with_a_budget) {
  const auto train = [](int64_t budget) {
    const Trainer trainer(
        test::small_network(),
        {.batch = 13, .memory_budget = budget, .swap = Swap::never, .threads = 1});
    return trainer.plan().planned_peak_bytes;
  };
  const int64_t whole = train(0);
  EXPECT_GT(misses([&] { train(whole * 4); }), 0);
  EXPECT_EQ(misses([&] { train(whole * 4); }), 0);
}

TEST(compile_cache, has_keys_of_the_content_alone) {
  const ir::Graph graph = step_of(test::small_network(), 4);
  const std::string hash = content_hash(graph, {});
  EXPECT_EQ(content_hash(step_of(test::small_network(), 4), {}), hash);
  std::set<std::string> hashes{hash};
  const auto differs = [&](const std::function<void(ir::Graph&)>& change) {
    ir::Graph other = graph;
    change(other);
    return hashes.insert(content_hash(other, {})).second;
  };
  EXPECT_TRUE(differs([](ir::Graph& g) { g.values[0].name += "x"; }));
  EXPECT_TRUE(differs([](ir::Graph& g) { g.values[1].init = init::constant(1.0); }));
  EXPECT_TRUE(differs([](ir::Graph& g) { g.values[1].trainable = !g.values[1].trainable; }));
  EXPECT_TRUE(differs([](ir::Graph& g) { g.values.back().role = ir::Role::constant; }));
  EXPECT_TRUE(differs([](ir::Graph& g) { g.values[2].data = Array{1.0F}; }));
  EXPECT_TRUE(differs([](ir::Graph& g) { g.nodes.pop_back(); }));
  EXPECT_TRUE(differs([](ir::Graph& g) { std::swap(g.nodes[0].inputs[0], g.nodes[0].inputs[1]); }));
  EXPECT_TRUE(differs([](ir::Graph& g) { g.layers.back().name += "x"; }));
  EXPECT_TRUE(differs([](ir::Graph& g) { g.outputs.emplace_back("y", 0); }));
  EXPECT_TRUE(differs([](ir::Graph& g) { g.loss.reset(); }));
  EXPECT_TRUE(hashes.insert(content_hash(graph, {.threads = 2})).second);
  EXPECT_TRUE(hashes.insert(content_hash(graph, {.optimize = false})).second);
  EXPECT_TRUE(hashes.insert(content_hash(graph, {.budget = {.bytes = 1}})).second);
  EXPECT_TRUE(
      hashes.insert(content_hash(graph, {.budget = {.in_file = std::set<std::string>{"a"}}}))
          .second);
  const auto times = std::make_shared<plan::NodeTimes>(1.0, 2.0);
  EXPECT_TRUE(hashes.insert(content_hash(graph, {.budget = {.times = times}})).second);
}

// Other attributes, with all else equal.
TEST(compile_cache, tells_attributes_apart) {
  const auto graph = [](double slope) {
    Graph g;
    g.output("y", leaky_relu(g.input("x", {4}), {.slope = slope}));
    return ir::with_batch(g.ir(), 2);
  };
  EXPECT_NE(content_hash(graph(0.1), {}), content_hash(graph(0.2), {}));
}

TEST(compile_cache, keeps_its_bound_and_finds_entries_in_use) {
  const int64_t bytes = memory_bytes(fitted(10));
  EXPECT_GT(memory_bytes(fitted(20)), bytes);
  CompileCache cache(3 * bytes);
  int made = 0;
  const auto get = [&](const std::string& key, int nodes = 10) {
    return cache.get(key, {}, [&](const CompileCache::Rates&) {
      ++made;
      return fitted(nodes);
    });
  };
  const std::shared_ptr<const Compiled> held = get("a");
  for (const char* const key : {"b", "c", "d", "e"}) {
    static_cast<void>(get(key));
    EXPECT_LE(cache.counts().held_bytes, 3 * bytes);
  }
  EXPECT_EQ(made, 5);
  EXPECT_EQ(get("a"), held);
  EXPECT_EQ(made, 5);
  static_cast<void>(get("e"));
  EXPECT_EQ(made, 5);
  static_cast<void>(get("b"));  // was dropped
  EXPECT_EQ(made, 6);
  static_cast<void>(get("too large", 1000));
  EXPECT_LE(cache.counts().held_bytes, 3 * bytes);
  static_cast<void>(get("too large", 1000));
  EXPECT_EQ(made, 8);
  EXPECT_EQ(cache.counts().misses, made);
}

TEST(compile_cache, drops_given_entries) {
  CompileCache cache(1 << 20);
  int made = 0;
  const auto get = [&] {
    return cache.get("a", {}, [&](const CompileCache::Rates&) {
      ++made;
      return fitted(3);
    });
  };
  auto held = get();
  cache.let_go(*held);
  cache.let_go(*held);  // dropping it twice is allowed
  EXPECT_EQ(cache.counts().held_bytes, 0);
  EXPECT_EQ(get(), held);
  cache.let_go(*held);
  held.reset();
  EXPECT_EQ(made, 1);
  static_cast<void>(get());
  EXPECT_EQ(made, 2);
}

// A plan that asked for the speed of the swap file is found only at the same speed.
TEST(compile_cache, tells_plans_apart_by_the_speed_that_they_asked_for) {
  CompileCache cache(1 << 20);
  int made = 0;
  int measured = 0;
  const auto get = [&](const std::string& key, double speed, bool asks) {
    const CompileCache::Rates rates = [&, speed] {
      ++measured;
      return plan::SwapRates{.read_ms_per_byte = speed};
    };
    static_cast<void>(cache.get(key, rates, [&](const CompileCache::Rates& ask) {
      ++made;
      if (asks) {
        EXPECT_EQ(ask().read_ms_per_byte, speed);
        static_cast<void>(ask());
      }
      return fitted(5);
    }));
  };
  get("asks", 1.0, true);
  get("asks", 1.0, true);
  EXPECT_EQ(made, 1);
  get("asks", 2.0, true);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(measured, 3);
  get("does not", 1.0, false);
  get("does not", 2.0, false);
  EXPECT_EQ(made, 3);
  EXPECT_EQ(measured, 3);
}

TEST(compile_cache, serves_threads_at_once) {
  const ir::Graph graph = step_of(test::small_network(), 5);
  std::vector<std::thread> threads;
  std::vector<int64_t> bytes(8, 0);
  for (int64_t& found : bytes) {
    threads.emplace_back([&graph, &found] {
      for (int i = 0; i < 5; ++i) {
        found = Program(graph, {.threads = 1 + i % 2}).plan().arena_bytes;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int64_t b : bytes) EXPECT_EQ(b, bytes[0]);
}

}  // namespace
}  // namespace thimble::exec::compile_cache_test
