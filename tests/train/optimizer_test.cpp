#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/optimizers.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "harness/error_of.h"

namespace thimble::optimizer_test {
namespace {

using test::error_of;
using testing::HasSubstr;

TEST(optimizer, is_made_from_any_kind_with_pytorchs_defaults) {
  const Optimizer sgd = SGD{};
  EXPECT_EQ(sgd.learning_rate(), 1e-3);
  const Optimizer rmsprop = RMSProp{};
  EXPECT_EQ(rmsprop.learning_rate(), 1e-2);
  EXPECT_EQ(rmsprop, Optimizer(RMSProp{.alpha = 0.99}));
  const Optimizer adamw = AdamW{.lr = 1e-3F};
  EXPECT_EQ(adamw.learning_rate(), static_cast<double>(1e-3F));
  EXPECT_EQ(Optimizer(AdamW{}), Optimizer(AdamW{.weight_decay = 0.01}));
  EXPECT_EQ(Optimizer(Adam{}), Optimizer(Adam{.weight_decay = 0.0}));
  EXPECT_NE(Optimizer(Adam{}), Optimizer(AdamW{.weight_decay = 0.0}));
}

TEST(optimizer, changes_one_setting_and_keeps_the_rest) {
  const Optimizer optimizer = SGD{.lr = 0.1, .momentum = 0.9};
  EXPECT_EQ(optimizer.with_learning_rate(0.5), Optimizer(SGD{.lr = 0.5, .momentum = 0.9}));
  EXPECT_EQ(optimizer.with_weight_decay(0.2),
            Optimizer(SGD{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.2}));
}

TEST(optimizer, parses_text) {
  const Optimizer all[] = {
      SGD{},
      SGD{.lr = 0.5, .momentum = 0.9, .nesterov = true, .weight_decay = 1e-4},
      SGD{.momentum = 0.9, .dampening = 0.25, .maximize = true},
      Adam{.beta1 = 0.5, .beta2 = 0.75, .epsilon = 1e-6, .amsgrad = true},
      Adam{.state_bits = 8, .min_8bit_size = 100},
      AdamW{.lr = 0.002, .weight_decay = 0.0, .maximize = true},
      RMSProp{.lr = 0.125, .alpha = 0.9, .epsilon = 1e-3, .momentum = 0.5, .centered = true},
      RMSProp{.weight_decay = 0.1, .maximize = true, .epsilon_inside_root = true},
      Adagrad{.lr_decay = 0.5, .initial_accumulator_value = 0.1},
      NAdam{.momentum_decay = 0.01, .decoupled_weight_decay = true},
      Adafactor{.beta2_decay = -0.5, .epsilon2 = 0.01, .d = 2.0}};
  for (const Optimizer& optimizer : all) {
    EXPECT_EQ(Optimizer::parse(optimizer.text()), optimizer) << optimizer.text();
  }
  EXPECT_EQ(Optimizer(AdamW{}).text(), "adamw");
  EXPECT_EQ(Optimizer(SGD{.momentum = 0.9, .nesterov = true}).text(),
            "sgd:momentum=0.9,nesterov=true");
  for (const std::string& name : Optimizer::names()) {
    EXPECT_EQ(Optimizer::parse(name).text(), name);
  }
}

TEST(optimizer, takes_missing_settings_from_an_optimizer_of_the_same_name) {
  const Optimizer base = AdamW{.lr = 1e-2, .beta1 = 0.5};
  EXPECT_EQ(Optimizer::parse("adamw:weight_decay=0", base),
            Optimizer(AdamW{.lr = 1e-2, .beta1 = 0.5, .weight_decay = 0.0}));
  EXPECT_EQ(Optimizer::parse("adamw:lr=1e-3", base), Optimizer(AdamW{.lr = 1e-3, .beta1 = 0.5}));
  EXPECT_EQ(Optimizer::parse("adam", base), Optimizer(Adam{}));
}

TEST(optimizer, refuses_unknown_names_and_settings) {
  const auto parsing = [](const char* text) {
    return error_of([text] { (void)Optimizer::parse(text); });
  };
  EXPECT_EQ(parsing("adamx"), fmt::format("[optimizer] unknown name \"adamx\"; known are {}",
                                          fmt::join(Optimizer::names(), ", ")));
  EXPECT_THAT(parsing(""), HasSubstr("unknown name \"\""));
  EXPECT_EQ(parsing("sgd:beta1=0.9"),
            "[optimizer] sgd has no setting \"beta1\"; it takes lr, momentum, dampening, nesterov, "
            "weight_decay, maximize, state_bits, min_8bit_size");
  EXPECT_THAT(parsing("sgd:lr=fast"), HasSubstr("lr of sgd takes a number, got \"fast\""));
  EXPECT_THAT(parsing("sgd:lr"), HasSubstr("lr of sgd takes a number, got \"\""));
  EXPECT_THAT(parsing("sgd:lr=0.1x"), HasSubstr("takes a number"));
  EXPECT_THAT(parsing("sgd:lr=nan"), HasSubstr("takes a number"));
  EXPECT_THAT(parsing("sgd:lr=1,lr=2"), HasSubstr("lr is given twice"));
  EXPECT_THAT(parsing("adam:amsgrad=maybe"), HasSubstr("takes true or false, got \"maybe\""));
  EXPECT_THAT(parsing("adam:,"), HasSubstr("has no setting \"\""));
}

TEST(optimizer, refuses_settings_out_of_range) {
  const auto message = [](const auto& settings) {
    return error_of([&settings] { (void)Optimizer(settings); });
  };
  EXPECT_EQ(message(SGD{.lr = -0.1}), "[optimizer] sgd: lr must not be negative, got -0.1");
  EXPECT_THAT(message(SGD{.momentum = -1.0}), HasSubstr("momentum must not be negative"));
  EXPECT_THAT(message(SGD{.nesterov = true}), HasSubstr("nesterov needs a momentum"));
  EXPECT_THAT(message(SGD{.momentum = 0.9, .dampening = 0.1, .nesterov = true}),
              HasSubstr("nesterov needs a dampening of 0"));
  EXPECT_THAT(message(Adam{.beta1 = 1.0}), HasSubstr("beta1 must be at least 0 and below 1"));
  EXPECT_THAT(message(AdamW{.beta2 = -0.1}), HasSubstr("beta2 must be at least 0 and below 1"));
  EXPECT_THAT(message(AdamW{.weight_decay = -0.1}), HasSubstr("weight_decay"));
  EXPECT_THAT(message(RMSProp{.alpha = 1.0}), HasSubstr("alpha must be"));
  EXPECT_THAT(message(RMSProp{.epsilon = std::numeric_limits<double>::quiet_NaN()}),
              HasSubstr("epsilon"));
  EXPECT_THAT(message(Adam{.state_bits = 16}), HasSubstr("state_bits must be 32 or 8, got 16"));
  EXPECT_THAT(message(AdamW{.amsgrad = true, .state_bits = 8}),
              HasSubstr("amsgrad needs a state_bits of 32"));
  EXPECT_THAT(message(Adagrad{.lr_decay = -1.0}), HasSubstr("lr_decay must not be negative"));
  EXPECT_THAT(message(Adadelta{.rho = 1.5}), HasSubstr("rho must be from 0 to 1, got 1.5"));
  EXPECT_THAT(message(Adafactor{.beta2_decay = 0.5}), HasSubstr("beta2_decay must not be above 0"));
  EXPECT_THAT(message(Adafactor{.d = 0.5}), HasSubstr("d must be at least 1"));
  EXPECT_THAT(message(SignSGD{.momentum = 1.0}), HasSubstr("momentum must be at least 0 and"));
  EXPECT_THAT(error_of([] { (void)Optimizer(SGD{}).with_learning_rate(-1.0); }),
              HasSubstr("lr must not be negative"));
}

}  // namespace
}  // namespace thimble::optimizer_test
