#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/schedule.h>

#include <cmath>
#include <numbers>

#include "goldens.h"
#include "harness/error_of.h"

namespace thimble::schedule_test {
namespace {

using test::error_of;
using testing::HasSubstr;

// PyTorch's schedulers multiply the last rate by a factor, so roundings add up over the steps.
constexpr double kTorchTolerance = 1e-9;

TEST(schedule, constant_never_changes) {
  const Schedule schedule = Schedule::constant(0.25);
  EXPECT_EQ(schedule.at(0), 0.25);
  EXPECT_EQ(schedule.at(1'000'000'000'000), 0.25);
}

TEST(schedule, step_falls_every_step_size_steps) {
  const Schedule schedule = Schedule::step({.lr = 1.0, .step_size = 3, .gamma = 0.5});
  EXPECT_EQ(schedule.at(0), 1.0);
  EXPECT_EQ(schedule.at(2), 1.0);
  EXPECT_EQ(schedule.at(3), 0.5);
  EXPECT_EQ(schedule.at(8), 0.25);
}

TEST(schedule, exponential_falls_every_step) {
  const Schedule schedule = Schedule::exponential({.lr = 2.0, .gamma = 0.5});
  EXPECT_EQ(schedule.at(0), 2.0);
  EXPECT_EQ(schedule.at(3), 0.25);
}

TEST(schedule, cosine_follows_its_formula_and_starts_again) {
  const double max = 1e-2;
  const double min = 1e-5;
  const Schedule schedule =
      Schedule::cosine_annealing({.max = max, .min = min, .decay_steps = 100});
  for (int64_t step = 0; step < 250; ++step) {
    const double part = static_cast<double>(step % 100) / 100.0;
    EXPECT_DOUBLE_EQ(schedule.at(step),
                     min + (max - min) / 2 * (1 + std::cos(std::numbers::pi * part)));
  }
  EXPECT_EQ(schedule.at(0), max);
  EXPECT_DOUBLE_EQ(schedule.at(50), (max + min) / 2);
  EXPECT_EQ(schedule.at(100), max);
}

TEST(schedule, linear_falls_evenly_and_then_stays) {
  const Schedule schedule = Schedule::linear({.max = 1.0, .min = 0.2, .decay_steps = 4});
  EXPECT_EQ(schedule.at(0), 1.0);
  EXPECT_DOUBLE_EQ(schedule.at(1), 0.8);
  EXPECT_DOUBLE_EQ(schedule.at(3), 0.4);
  EXPECT_EQ(schedule.at(4), 0.2);
  EXPECT_EQ(schedule.at(1000), 0.2);
}

TEST(schedule, warmup_rises_evenly_to_the_next_schedule) {
  const Schedule schedule =
      Schedule::warmup(4, Schedule::linear({.max = 1.0, .min = 0.0, .decay_steps = 10}));
  for (int64_t step = 0; step < 4; ++step) {
    EXPECT_DOUBLE_EQ(schedule.at(step), 0.2 * static_cast<double>(step + 1));
  }
  EXPECT_EQ(schedule.at(4), 1.0);
  EXPECT_DOUBLE_EQ(schedule.at(5), 0.9);
}

TEST(schedule, sequence_gives_each_stage_its_own_clock) {
  const Schedule fall = Schedule::linear({.max = 1.0, .min = 0.0, .decay_steps = 4});
  const Schedule schedule =
      Schedule::sequence({{2, fall}, {1, Schedule::constant(5.0)}, {3, fall}});
  const double expected[] = {1.0, 0.75, 5.0, 1.0, 0.75, 0.5, 0.25, 0.0, 0.0};
  for (int64_t step = 0; step < 9; ++step) {
    EXPECT_DOUBLE_EQ(schedule.at(step), expected[step]) << step;
  }
}

TEST(schedule, equals_pytorchs_schedulers) {
  const auto& goldens = test::optimizer_goldens()["schedules"];
  EXPECT_EQ(goldens.size(), 18U);
  for (const auto& golden : goldens) {
    const std::string text = golden["settings"];
    const auto rates = golden["rates"].get<std::vector<double>>();
    const Schedule schedule = Schedule::parse(text, 0.5, static_cast<int64_t>(rates.size()));
    for (size_t step = 0; step < rates.size(); ++step) {
      EXPECT_NEAR(schedule.at(static_cast<int64_t>(step)), rates[step], kTorchTolerance)
          << text << " at " << step;
    }
  }
}

TEST(schedule, reduces_on_a_plateau_as_pytorch_does) {
  const auto& goldens = test::optimizer_goldens()["plateaus"];
  EXPECT_EQ(goldens.size(), 8U);
  for (const auto& golden : goldens) {
    const std::string text = golden["settings"];
    const Schedule schedule = Schedule::parse(text, 0.5, 0);
    EXPECT_TRUE(schedule.watches());
    ScheduleFeedback feedback;
    EXPECT_EQ(schedule.at(0, feedback), 0.5);
    for (size_t epoch = 0; epoch < golden["losses"].size(); ++epoch) {
      schedule.observe(golden["losses"][epoch], feedback);
      EXPECT_NEAR(schedule.at(7, feedback), golden["rates"][epoch].get<double>(), kTorchTolerance)
          << text << " after epoch " << epoch;
    }
  }
}

TEST(schedule, warms_up_to_a_rate_that_watches_the_loss) {
  const Schedule schedule = Schedule::parse(
      "warmup:steps=3/reduce_on_plateau:patience=0,metric=accuracy,mode=max", 0.4, 9);
  EXPECT_EQ(schedule.metric(), "accuracy");
  ScheduleFeedback feedback;
  EXPECT_DOUBLE_EQ(schedule.at(0, feedback), 0.1);
  schedule.observe(0.5, feedback);
  schedule.observe(0.5, feedback);
  EXPECT_DOUBLE_EQ(schedule.at(3, feedback), 0.04);
}

TEST(schedule, follows_a_function) {
  const Schedule schedule =
      Schedule::lambda([](int64_t step) { return 1.0 - 0.25 * static_cast<double>(step); });
  EXPECT_EQ(schedule.at(2), 0.5);
  EXPECT_EQ(error_of([&] { (void)schedule.at(5); }),
            "[schedule] lambda: gave -0.25 for step 5, expected a rate");
  EXPECT_THAT(error_of([] { (void)Schedule::lambda(nullptr); }), HasSubstr("needs a function"));
}

TEST(schedule, parses_names_with_settings_left_out) {
  const auto parsed = [](const char* text) { return Schedule::parse(text, 0.5, 100).text(); };
  EXPECT_EQ(parsed("constant"), "constant:lr=0.5");
  EXPECT_EQ(parsed("constant:lr=0.25"), "constant:lr=0.25");
  EXPECT_EQ(parsed("step:step_size=7"), "step:lr=0.5,step_size=7,gamma=0.1");
  EXPECT_EQ(parsed("multi_step:milestones=30"), "multi_step:lr=0.5,milestones=30,gamma=0.1");
  EXPECT_EQ(parsed("cyclic:min=0.1"),
            "cyclic:max=0.5,min=0.1,step_size_up=2000,step_size_down=2000,mode=triangular,gamma=1");
  EXPECT_EQ(parsed("exponential:gamma=0.9"), "exponential:lr=0.5,gamma=0.9");
  EXPECT_EQ(parsed("cosine"), "cosine:max=0.5,min=0,decay_steps=100");
  EXPECT_EQ(parsed("cosine:min=1e-5,decay_steps=10"), "cosine:max=0.5,min=1e-05,decay_steps=10");
  EXPECT_EQ(parsed("linear:max=1"), "linear:max=1,min=0,decay_steps=100");
  EXPECT_EQ(parsed("cosine_restarts:t_0=4"), "cosine_restarts:max=0.5,min=0,t_0=4,t_mult=1");
  EXPECT_EQ(parsed("polynomial:power=2"), "polynomial:max=0.5,min=0,decay_steps=100,power=2");
  EXPECT_EQ(parsed("one_cycle:anneal=linear"),
            "one_cycle:max=0.5,total_steps=100,pct_start=0.3,anneal=linear,div_factor=25,"
            "final_div_factor=10000,three_phase=false");
  EXPECT_EQ(parsed("reduce_on_plateau:metric=accuracy,mode=max"),
            "reduce_on_plateau:lr=0.5,mode=max,factor=0.1,patience=10,threshold=0.0001,"
            "threshold_mode=rel,cooldown=0,min_lr=0,epsilon=1e-08,metric=accuracy");
  EXPECT_EQ(parsed("warmup:steps=10/cosine"),
            "warmup:steps=10/cosine:max=0.5,min=0,decay_steps=90");
  EXPECT_EQ(parsed("warmup:steps=10/constant:steps=20/linear:min=0.1"),
            "warmup:steps=10/constant:lr=0.5,steps=20/linear:max=0.5,min=0.1,decay_steps=70");
  EXPECT_EQ(parsed("cosine:steps=40/constant:lr=1e-3"),
            "cosine:max=0.5,min=0,decay_steps=40,steps=40/constant:lr=0.001");
}

TEST(schedule, parses_text) {
  for (const char* text :
       {"step:step_size=7", "multi_step:milestones=3:5", "cyclic:mode=triangular2,cycle_momentum",
        "cyclic:step_size_up=7,step_size_down=3,mode=exp_range,gamma=0.99",
        "cosine_restarts:t_0=3,t_mult=3", "polynomial:min=0.1,power=0.5", "one_cycle:three_phase",
        "one_cycle:cycle_momentum,base_momentum=0.5",
        "warmup:steps=5/reduce_on_plateau:patience=2,metric=accuracy",
        "warmup:steps=10/constant:steps=20/linear:min=0.1",
        "cosine:steps=40/exponential:gamma=0.5,steps=3/constant"}) {
    const Schedule schedule = Schedule::parse(text, 0.5, 100);
    const Schedule again = Schedule::parse(schedule.text(), 7.0, 0);
    EXPECT_EQ(again.text(), schedule.text());
    for (int64_t step = 0; step < 120; ++step) EXPECT_EQ(again.at(step), schedule.at(step));
  }
}

TEST(schedule, refuses_unknown_names_and_settings) {
  const auto parsing = [](const char* text, int64_t total = 100) {
    return error_of([&] { (void)Schedule::parse(text, 0.5, total); });
  };
  EXPECT_EQ(
      parsing("cosin"),
      "[schedule] unknown name \"cosin\"; known are constant, step, multi_step, exponential, "
      "cosine, cosine_restarts, linear, polynomial, one_cycle, cyclic, reduce_on_plateau, warmup");
  EXPECT_THAT(parsing("cosine:gamma=1"),
              HasSubstr("cosine has no setting \"gamma\"; it takes max, min, decay_steps"));
  EXPECT_THAT(parsing("constant:steps=3"), HasSubstr("constant has no setting \"steps\""));
  EXPECT_THAT(parsing("cosine:decay_steps=1.5"), HasSubstr("takes a whole number, got \"1.5\""));
  EXPECT_THAT(parsing("cosine:decay_steps=99999999999999999999"), HasSubstr("a whole number"));
  EXPECT_THAT(parsing("multi_step"), HasSubstr("milestones must name"));
  EXPECT_THAT(parsing("multi_step:milestones=1:x"), HasSubstr("takes whole numbers with \":\""));
  EXPECT_THAT(parsing("multi_step:milestones=1:"), HasSubstr("takes whole numbers with \":\""));
  EXPECT_THAT(parsing("cyclic:mode=round"), HasSubstr("triangular, triangular2, exp_range"));
  EXPECT_THAT(parsing("cosine", 0), HasSubstr("decay_steps is missing"));
  EXPECT_THAT(parsing("step"), HasSubstr("step_size must be at least 1, got 0"));
  EXPECT_THAT(parsing("warmup:steps=5"), HasSubstr("needs a schedule to lead to"));
  EXPECT_THAT(parsing("constant/cosine"), HasSubstr("steps must be at least 1 where another"));
  EXPECT_THAT(parsing("warmup:steps=100/cosine"), HasSubstr("leaves none of 100"));
  EXPECT_THAT(parsing("warmup:steps=10/"), HasSubstr("unknown name \"\""));
}

TEST(schedule, refuses_missing_and_contradictory_settings) {
  const auto refused = [](auto factory) { return error_of([&] { (void)factory(); }); };
  using S = Schedule;
  EXPECT_EQ(refused([] { return S::constant(-1.0); }),
            "[schedule] constant: lr must not be negative, got -1");
  EXPECT_THAT(refused([] { return S::constant(std::nan("")); }), HasSubstr("lr must not be"));
  EXPECT_THAT(refused([] { return S::step({.lr = 1.0}); }), HasSubstr("step_size must be"));
  EXPECT_THAT(refused([] { return S::step({.step_size = 1}); }), HasSubstr("lr must be above 0"));
  EXPECT_THAT(refused([] { return S::step({.lr = 1.0, .step_size = 1, .gamma = 1.5}); }),
              HasSubstr("gamma must be above 0 and at most 1, got 1.5"));
  EXPECT_THAT(refused([] { return S::exponential({.lr = 1.0}); }), HasSubstr("gamma"));
  EXPECT_THAT(refused([] { return S::cosine_annealing({.min = 0.1, .decay_steps = 5}); }),
              HasSubstr("max must be above 0, got 0"));
  EXPECT_THAT(
      refused([] { return S::cosine_annealing({.max = 0.1, .min = 0.5, .decay_steps = 5}); }),
      HasSubstr("min must not be above max, got 0.5 and 0.1"));
  EXPECT_THAT(refused([] { return S::cosine_annealing({.max = 0.1}); }),
              HasSubstr("decay_steps must be at least 1, got 0"));
  EXPECT_THAT(refused([] { return S::linear({.max = 1.0, .min = -0.1, .decay_steps = 5}); }),
              HasSubstr("min must not be negative"));
  EXPECT_THAT(refused([] { return S::linear({.max = 1.0, .decay_steps = -5}); }),
              HasSubstr("decay_steps must be at least 1, got -5"));
  EXPECT_THAT(refused([] { return S::cosine_restarts({.max = 1.0}); }),
              HasSubstr("t_0 must be at least 1, got 0"));
  EXPECT_THAT(refused([] { return S::cosine_restarts({.max = 1.0, .t_0 = 2, .t_mult = 0}); }),
              HasSubstr("t_mult must be at least 1, got 0"));
  EXPECT_THAT(refused([] { return S::polynomial({.max = 1.0, .decay_steps = 5, .power = -1.0}); }),
              HasSubstr("power must not be negative, got -1"));
  EXPECT_THAT(refused([] { return S::one_cycle({.max = 1.0, .total_steps = 9, .pct_start = 2}); }),
              HasSubstr("pct_start must be from 0 to 1, got 2"));
  EXPECT_THAT(refused([] { return S::one_cycle({.max = 1.0, .total_steps = 9, .div_factor = 0}); }),
              HasSubstr("must be at least 1, got 0"));
  EXPECT_THAT(refused([] { return S::multi_step({.lr = 1.0}); }),
              HasSubstr("milestones must name one step or more"));
  EXPECT_THAT(refused([] {
                return S::multi_step({.lr = 1.0, .milestones = {5, 3}});
              }),
              HasSubstr("in rising order, got 5:3"));
  EXPECT_THAT(refused([] {
                return S::multi_step({.lr = 1.0, .milestones = {0, 3}});
              }),
              HasSubstr("steps from 1 on"));
  EXPECT_THAT(refused([] { return S::cyclic({.max = 1.0, .step_size_up = 0}); }),
              HasSubstr("step_size_up must be at least 1, got 0"));
  EXPECT_THAT(refused([] { return S::cyclic({.max = 1.0, .step_size_down = -1}); }),
              HasSubstr("step_size_down must be at least 1, or 0"));
  EXPECT_THAT(refused([] { return S::cyclic({.max = 1.0, .min = 2.0}); }),
              HasSubstr("min must not be above max"));
  EXPECT_THAT(refused([] { return S::cyclic({.max = 1.0, .gamma = 0.9}); }),
              HasSubstr("gamma is of the mode exp_range alone"));
  EXPECT_THAT(refused([] { return S::cyclic({.max = 1.0, .max_momentum = 1.0}); }),
              HasSubstr("from 0 to below 1 in this order, got 0.8 and 1"));
  EXPECT_THAT(refused([] { return S::reduce_on_plateau({.lr = 1.0, .factor = 1.0}); }),
              HasSubstr("factor must be above 0 and below 1, got 1"));
  EXPECT_THAT(refused([] { return S::reduce_on_plateau({.lr = 1.0, .patience = -1}); }),
              HasSubstr("patience must not be negative"));
  EXPECT_THAT(refused([] {
                return S::sequence({{2, S::reduce_on_plateau({.lr = 1.0})}, {1, S::constant(1.0)}});
              }),
              HasSubstr("stage 1 watches the loss"));
  EXPECT_THAT(refused([] { return S::warmup(0, S::constant(1.0)); }),
              HasSubstr("steps must be at least 1"));
  EXPECT_THAT(refused([] { return S::sequence({}); }), HasSubstr("at least one stage"));
  EXPECT_THAT(refused([] {
                return S::sequence({{0, S::constant(1.0)}, {1, S::constant(1.0)}});
              }),
              HasSubstr("steps of stage 1 must be at least 1, got 0"));
}

}  // namespace
}  // namespace thimble::schedule_test
