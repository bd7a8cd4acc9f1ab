// The choice of options: branch and bound against all choices, and the evolutionary search.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>

#include <random>

#include "search/options.h"

namespace thimble::test::search_options_test {
namespace {

using search::BestChoice;
using search::Chosen;
using search::Item;

struct Problem {
  std::vector<Item> items;
  // Each option of an item is alive at a time of its own: the largest sum alive counts, as of
  // buffers, and the bytes of all.
  std::vector<std::vector<std::pair<int, int64_t>>> alive;

  [[nodiscard]] int64_t cost(const Chosen& chosen) const {
    int64_t kept = 100;
    int64_t peak = 0;
    std::vector<int64_t> at(4, 0);
    for (size_t i = 0; i < items.size(); ++i) {
      if (chosen[i] == 0) continue;
      const auto option = static_cast<size_t>(chosen[i] - 1);
      kept += items[i].options[option].bytes;
      const auto& [time, bytes] = alive[i][option];
      at[static_cast<size_t>(time)] += bytes;
      peak = std::max(peak, at[static_cast<size_t>(time)]);
    }
    return kept + peak;
  }
  [[nodiscard]] double gain(const Chosen& chosen) const {
    double sum = 0.0;
    for (size_t i = 0; i < items.size(); ++i) {
      if (chosen[i] > 0) sum += items[i].options[static_cast<size_t>(chosen[i] - 1)].gain;
    }
    return sum;
  }
};

Problem random_problem(uint64_t seed, size_t count, size_t options) {
  std::mt19937_64 random(seed);
  Problem made;
  for (size_t i = 0; i < count; ++i) {
    Item& item = made.items.emplace_back();
    made.alive.emplace_back();
    for (size_t o = 0; o < 1 + random() % options; ++o) {
      // Some options do harm, and some take no bytes.
      item.options.push_back(
          {static_cast<double>(random() % 100) - 10.0, static_cast<int64_t>(random() % 40)});
      made.alive.back().emplace_back(static_cast<int>(random() % 4),
                                     static_cast<int64_t>(random() % 60));
    }
  }
  return made;
}

double best_of_all(const Problem& problem, int64_t limit) {
  double best = 0.0;
  Chosen chosen(problem.items.size(), 0);
  while (true) {
    if (problem.cost(chosen) <= limit) best = std::max(best, problem.gain(chosen));
    size_t i = 0;
    while (i < chosen.size() && ++chosen[i] > static_cast<int>(problem.items[i].options.size())) {
      chosen[i++] = 0;
    }
    if (i == chosen.size()) return best;
  }
}

TEST(search_options, are_the_best_of_all) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Problem problem = random_problem(seed, 1 + seed % 7, 3);
    for (const int64_t limit : {100, 130, 160, 200, 300}) {
      const BestChoice found = search::best_choice(
          problem.items, [&](const Chosen& c) { return problem.cost(c); }, {.cost = limit});
      EXPECT_TRUE(found.is_best);
      EXPECT_LE(found.cost, limit);
      EXPECT_EQ(found.cost, problem.cost(found.options));
      EXPECT_DOUBLE_EQ(found.gain, problem.gain(found.options));
      EXPECT_DOUBLE_EQ(found.gain, best_of_all(problem, limit)) << seed << " " << limit;
    }
  }
}

TEST(search_options, need_few_costs_where_bytes_decide) {
  std::mt19937_64 random(3);
  Problem problem;
  for (size_t i = 0; i < 40; ++i) {
    Item& item = problem.items.emplace_back();
    problem.alive.emplace_back();
    for (int64_t o = 1; o <= 4; ++o) {
      item.options.push_back(
          {static_cast<double>(random() % 1000 * static_cast<uint64_t>(o)) / 999.0,
           static_cast<int64_t>(random() % 100) * o});
      problem.alive.back().emplace_back(0, 0);
    }
  }
  const BestChoice found = search::best_choice(
      problem.items, [&](const Chosen& c) { return problem.cost(c); }, {.cost = 1000});
  EXPECT_TRUE(found.is_best);
  EXPECT_LT(found.evaluations, 20000);
}

TEST(search_options, evolve_where_they_are_too_many) {
  const Problem problem = random_problem(11, 40, 4);
  const auto cost = [&](const Chosen& c) { return problem.cost(c); };
  const BestChoice few =
      search::best_choice(problem.items, cost, {.cost = 250, .evaluations = 60, .seed = 1});
  const BestChoice many =
      search::best_choice(problem.items, cost, {.cost = 250, .evaluations = 3000, .seed = 1});
  EXPECT_FALSE(few.is_best);
  EXPECT_LE(few.cost, 250);
  EXPECT_GE(many.gain, few.gain);
  EXPECT_EQ(few.options,
            search::best_choice(problem.items, cost, {.cost = 250, .evaluations = 60, .seed = 1})
                .options);
}

TEST(search_options, stop_when_they_are_told) {
  const Problem problem = random_problem(12, 30, 4);
  int asked = 0;
  const BestChoice found =
      search::best_choice(problem.items, [&](const Chosen& c) { return problem.cost(c); },
                          {.cost = 300, .stop = [&asked] { return ++asked > 20; }});
  EXPECT_FALSE(found.is_best);
  EXPECT_LT(found.evaluations, 40);
}

TEST(search_options, say_that_nothing_fits) {
  const Problem problem = random_problem(1, 3, 2);
  EXPECT_THAT(
      [&] {
        (void)search::best_choice(problem.items, [&](const Chosen& c) { return problem.cost(c); },
                                  {.cost = 90});
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("the least takes 100 bytes, 10 more")));
}

}  // namespace
}  // namespace thimble::test::search_options_test
