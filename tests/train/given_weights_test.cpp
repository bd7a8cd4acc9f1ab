// Layers as functions of given weights: shared, and unrolled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/model_file.h>
#include <thimble/ops.h>
#include <thimble/optimizers.h>
#include <thimble/predictor.h>
#include <thimble/trainer.h>

#include <cmath>

#include "harness/error_of.h"

namespace thimble::given_weights_test {
namespace {

using test::error_of;
using testing::HasSubstr;
using Values = std::map<std::string, std::vector<float>>;

constexpr int64_t kBatch = 4;
// Sums in another order.
constexpr double kRounding = 2e-6;

Initializer some() { return init::uniform(-0.5, 0.5); }

data::Dataset samples(const Shape& shape) {
  std::vector<float> x;
  for (int64_t i = 0; i < kBatch * shape.elements(); ++i) {
    x.push_back(std::sin(0.61F * static_cast<float>(i * i % 97)));
  }
  return data::in_memory({{"x", shape}}, {x});
}

// Gradients of the loss mean(y^2), by parameter.
Values gradients_of(Graph& g, Value y, const Shape& sample) {
  g.minimize(mean(y * y));
  Trainer trainer(g, {.batch = kBatch, .seed = 3, .threads = 1});
  Values values;
  for (const auto& [name, gradient] : trainer.gradients(samples(sample)).values) {
    values[name] = gradient.floats();
  }
  return values;
}

void expect_same(const Values& have, const Values& want) {
  ASSERT_EQ(have.size(), want.size());
  for (const auto& [name, values] : want) {
    ASSERT_EQ(have.count(name), 1U) << name;
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(have.at(name)[i], values[i], kRounding) << name << " " << i;
    }
  }
}

TEST(given_weights, of_a_shared_dense_layer_get_the_sum_of_gradients) {
  const auto layer = [](bool first, bool second) {
    Graph g;
    const Value x = g.input("x", {6});
    const Value w = g.parameter("w", {6, 6}, some());
    const Value b = g.parameter("b", {6}, some());
    // Values that get no gradient are constants.
    const auto weight = [&](bool counts) { return counts ? w : stop_gradient(w); };
    const auto bias = [&](bool counts) { return counts ? b : stop_gradient(b); };
    const Value h = tanh(dense(x, weight(first), bias(first)));
    return gradients_of(g, dense(h, weight(second), bias(second)), {6});
  };
  Values sum = layer(true, false);
  for (const auto& [name, values] : layer(false, true)) {
    for (size_t i = 0; i < values.size(); ++i) sum[name][i] += values[i];
  }
  expect_same(layer(true, true), sum);
}

RecurrentWeights weights(Graph& g, int64_t gates, int64_t features, int64_t units,
                         const std::string& suffix) {
  const int64_t rows = gates * units;
  return {.ih = g.parameter("ih" + suffix, {rows, features}, some()),
          .hh = g.parameter("hh" + suffix, {rows, units}, some()),
          .bias_ih = g.parameter("bias_ih" + suffix, {rows}, some()),
          .bias_hh = g.parameter("bias_hh" + suffix, {rows}, some())};
}

// Step t of [N, T, features].
Value step_of(Value x, int64_t t) { return reshape(slice(x, 1, t, t + 1), {-1, x.shape()[2]}); }

TEST(given_weights, an_unrolled_lstm_cell_is_the_sequence_layer) {
  const auto run = [](bool unrolled) {
    Graph g;
    const Value x = g.input("x", {5, 3});
    const RecurrentWeights w = weights(g, 4, 3, 4, "");
    if (!unrolled) return gradients_of(g, lstm(x, {}, {}, {w}).h, {5, 3});
    LstmState state;
    for (int64_t t = 0; t < 5; ++t) state = lstm_cell(step_of(x, t), state.h, state.c, w);
    return gradients_of(g, state.h, {5, 3});
  };
  expect_same(run(true), run(false));
}

TEST(given_weights, unrolled_gru_and_rnn_cells_are_the_sequence_layers) {
  for (const int64_t gates : {3, 1}) {
    const auto run = [&](bool unrolled) {
      Graph g;
      const Value x = g.input("x", {4, 3});
      const RecurrentWeights w = weights(g, gates, 3, 4, "");
      if (!unrolled) {
        const RnnResult r = gates == 3 ? gru(x, {}, std::vector{w}) : rnn(x, {}, std::vector{w});
        return gradients_of(g, r.h, {4, 3});
      }
      Value h;
      for (int64_t t = 0; t < 4; ++t) {
        h = gates == 3 ? gru_cell(step_of(x, t), h, w) : rnn_cell(step_of(x, t), h, w);
      }
      return gradients_of(g, h, {4, 3});
    };
    expect_same(run(true), run(false));
  }
}

// Layers and directions, named as the layer names its own parameters.
TEST(given_weights, of_layers_and_directions_stand_in_pytorchs_order) {
  const auto run = [](bool given) {
    Graph g;
    const Value x = g.input("x", {5, 3});
    if (!given) {
      return gradients_of(
          g, gru(x, {.units = 2, .layers = 2, .bidirectional = true, .name = "r"}).y, {5, 3});
    }
    std::vector<RecurrentWeights> all;
    for (const char* suffix : {"_l0", "_l0_reverse", "_l1", "_l1_reverse"}) {
      const bool first = std::string(suffix).find("_l0") == 0;
      const auto own = [&](const char* name, const Shape& shape) {
        const double bound = 1.0 / std::sqrt(2.0);
        return g.parameter(std::string("r.") + name + suffix, shape, init::uniform(-bound, bound));
      };
      all.push_back({own("weight_ih", {6, first ? 3 : 4}), own("weight_hh", {6, 2}),
                     own("bias_ih", {6}), own("bias_hh", {6})});
    }
    return gradients_of(g, gru(x, {}, all, {.bidirectional = true}).y, {5, 3});
  };
  expect_same(run(true), run(false));
}

TEST(given_weights, of_attention_are_those_of_the_layer) {
  const auto run = [](bool given) {
    Graph g;
    const Value x = g.input("x", {5, 6});
    if (!given) {
      return gradients_of(
          g, multi_head_attention(x, x, x, {}, {.heads = 2, .add_bias_kv = true, .name = "a"}),
          {5, 6});
    }
    MultiHeadAttentionWeights w;
    w.in_proj_weight = g.parameter("a.in_proj_weight", {18, 6}, init::xavier_uniform());
    w.in_proj_bias = g.parameter("a.in_proj_bias", {18}, init::zeros());
    w.out_proj_weight = g.parameter("a.out_proj.weight", {6, 6}, init::torch_default());
    w.out_proj_bias = g.parameter("a.out_proj.bias", {6}, init::zeros());
    w.bias_k = g.parameter("a.bias_k", {1, 1, 6}, init::normal(0.0, 1.0 / std::sqrt(6.0)));
    w.bias_v = g.parameter("a.bias_v", {1, 1, 6}, init::normal(0.0, 1.0 / std::sqrt(6.0)));
    return gradients_of(g, multi_head_attention(x, x, x, {}, w, {.heads = 2}), {5, 6});
  };
  expect_same(run(true), run(false));
}

TEST(given_weights, of_additive_attention_are_those_of_the_layer) {
  const auto run = [](bool given) {
    Graph g;
    const Value x = g.input("x", {5, 6});
    if (!given) {
      return gradients_of(g, additive_attention(x, x, x, {.units = 3, .name = "a"}), {5, 6});
    }
    const double bound = 1.0 / std::sqrt(6.0);
    const AdditiveAttentionWeights w{
        .query = g.parameter("a.query_weight", {3, 6}, init::torch_default()),
        .key = g.parameter("a.key_weight", {3, 6}, init::torch_default()),
        .bias = g.parameter("a.bias", {3}, init::uniform(-bound, bound)),
        .score = g.parameter("a.score_weight", {1, 3}, init::torch_default())};
    return gradients_of(g, additive_attention(x, x, x, {}, w), {5, 6});
  };
  expect_same(run(true), run(false));
}

TEST(given_weights, of_depthwise_convolutions_are_those_of_the_layer) {
  const auto run = [](bool given) {
    Graph g;
    const Value x = g.input("x", {6, 6, 3});
    if (!given) {
      return gradients_of(g, depthwise_conv2d(x, {.kernel = 3, .bias = false, .name = "d"}),
                          {6, 6, 3});
    }
    const Value w = g.parameter("d.weight", {3, 3, 3, 1}, init::torch_default());
    return gradients_of(g, depthwise_conv2d(x, w, {}), {6, 6, 3});
  };
  expect_same(run(true), run(false));
}

TEST(given_weights, of_depthwise_convolutions_of_sequences_are_those_of_the_layer) {
  const auto run = [](bool given) {
    Graph g;
    const Value x = g.input("x", {9, 3});
    if (!given) {
      const Conv1dOptions options{
          .channels = 6, .kernel = 3, .stride = 2, .padding = 1, .bias_init = some(), .name = "d"};
      return gradients_of(g, depthwise_conv1d(x, options), {9, 3});
    }
    const Value w = g.parameter("d.weight", {6, 3, 1}, init::torch_default());
    const Value b = g.parameter("d.bias", {6}, some());
    return gradients_of(g, depthwise_conv1d(x, w, b, {.stride = 2, .padding = 1}), {9, 3});
  };
  expect_same(run(true), run(false));
}

// A norm's frozen parameters as running statistics.
struct Statistics {
  Value mean;
  Value variance;
};

Statistics statistics(Graph& g, int64_t channels) {
  const Statistics made{g.parameter("n.running_mean", {channels}, init::zeros()),
                        g.parameter("n.running_var", {channels}, init::ones())};
  g.freeze("n.running_*");
  return made;
}

// After one step of training: gradients of gamma and beta, statistics, and a prediction.
Values trained(Graph& g, Value y, const Shape& sample) {
  g.output("y", y);
  g.minimize(mean(y * y * y));
  Trainer trainer(g, {.batch = kBatch, .seed = 3, .threads = 1});
  Values all;
  for (const auto& [name, array] : trainer.gradients(samples(sample)).values) {
    all[name] = array.floats();
  }
  trainer.step(samples(sample));
  for (const char* name : {"n.running_mean", "n.running_var"}) {
    all[name] = trainer.parameter(name).floats();
  }
  all["y"] = trainer.predict(samples(sample), "y").floats();
  return all;
}

TEST(given_weights, of_norms_are_those_of_the_layer) {
  for (const bool batch : {true, false}) {
    const auto run = [&](bool given) {
      Graph g;
      const Value x = g.input("x", {5, 3});
      if (!given) {
        return trained(
            g,
            batch
                ? batch_norm(x, {.momentum = 0.3, .name = "n"})
                : instance_norm(
                      x,
                      {.momentum = 0.3, .affine = true, .track_running_stats = true, .name = "n"}),
            {5, 3});
      }
      const Value gamma = g.parameter("n.weight", {3}, init::ones());
      const Value beta = g.parameter("n.bias", {3}, init::zeros());
      const auto [mean, variance] = statistics(g, 3);
      return trained(g,
                     batch ? batch_norm(x, gamma, beta, mean, variance, {.momentum = 0.3})
                           : instance_norm(x, gamma, beta, mean, variance, {.momentum = 0.3}),
                     {5, 3});
    };
    SCOPED_TRACE(batch ? "batch_norm" : "instance_norm");
    const Values own = run(false);
    EXPECT_NE(own.at("n.running_mean"), std::vector<float>(3));
    expect_same(run(true), own);
  }
}

// Both norms move the statistics; the second starts where the first left them.
TEST(given_weights, norms_that_share_statistics_move_them_one_after_the_other) {
  const auto run = [](bool batch, double momentum, int times) {
    Graph g;
    const Value x = g.input("x", {5, 3});
    const Value gain = g.parameter("gain", {3}, init::ones());
    const auto [mean, variance] = statistics(g, 3);
    Value y = gain * x;
    for (int i = 0; i < times; ++i) {
      y = y + (batch ? batch_norm(x, {}, {}, mean, variance, {.momentum = momentum})
                     : instance_norm(x, {}, {}, mean, variance, {.momentum = momentum}));
    }
    return trained(g, y, {5, 3});
  };
  for (const bool batch : {true, false}) {
    const Values twice = run(batch, 0.5, 2);
    const Values once = run(batch, 0.75, 1);  // 1 - 0.75 = (1 - 0.5)^2
    for (const char* name : {"n.running_mean", "n.running_var"}) {
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_NEAR(twice.at(name)[i], once.at(name)[i], kRounding) << name << " " << i;
      }
    }
  }
}

TEST(given_weights, statistics_that_are_constants_are_only_read) {
  Graph g;
  const Value x = g.input("x", {2});
  const Value mean = g.constant("mean", {2}, {1.0F, 2.0F});
  const Value variance = g.constant("variance", {2}, {4.0F, 9.0F});
  g.output("y", batch_norm(x, {}, {}, mean, variance, {.epsilon = 0.0}));
  Predictor predictor(g, 1);
  const std::vector<float> y =
      predictor.run({{"x", Array(std::vector<float>{3.0F, 5.0F})}}).at("y").floats();
  EXPECT_NEAR(y[0], 1.0, kRounding);
  EXPECT_NEAR(y[1], 1.0, kRounding);
}

TEST(given_weights, that_do_not_fit_are_refused) {
  Graph g;
  const Value x = g.input("x", {5, 6});
  const Value wrong = g.parameter("wrong", {7, 7}, some());
  const auto message = [](auto build) { return error_of([&] { static_cast<void>(build()); }); };
  EXPECT_THAT(message([&] { return dense(x, wrong, {}); }),
              HasSubstr("[dense] expected a weight [units, 6], got [7, 7]"));
  RecurrentWeights w = weights(g, 4, 6, 3, "");
  EXPECT_THAT(message([&] {
                return lstm(x, {}, {}, {w, w}).y;
              }),
              HasSubstr("expected a given weight ih [12, 3], got [12, 6]"));
  w.bias_hh = {};
  EXPECT_THAT(message([&] { return lstm(x, {}, {}, {w}).y; }), HasSubstr("bias_hh [12], got none"));
  EXPECT_THAT(message([&] {
                return gru(x, {}, std::vector{w, w, w}, {.bidirectional = true}).y;
              }),
              HasSubstr("forward and then backward, got 3 of them"));
  EXPECT_THAT(message([&] { return rnn(x, {}, std::vector<RecurrentWeights>(1)).y; }),
              HasSubstr("given weights are at least ih"));
  EXPECT_THAT(message([&] {
                return multi_head_attention(x, x, x, {}, MultiHeadAttentionWeights{}, {.heads = 2});
              }),
              HasSubstr("expected a given weight in_proj_weight [18, 6], got none"));
  EXPECT_THAT(message([&] {
                return depthwise_conv2d(g.input("image", {4, 4, 2}), wrong, {});
              }),
              HasSubstr("expected a weight [channels, kh, kw, 1], got [7, 7]"));
  EXPECT_THAT(message([&] {
                return depthwise_conv1d(g.input("sequence", {4, 2}), wrong, {});
              }),
              HasSubstr("expected a weight [channels, k, 1], got [7, 7]"));
  for (const bool batch : {true, false}) {
    const auto norm = [&](Value v, Value gamma, Value mean) {
      return message([&] {
        return batch ? batch_norm(v, gamma, {}, mean, {}) : instance_norm(v, gamma, {}, mean, {});
      });
    };
    EXPECT_THAT(norm(x, wrong, {}), HasSubstr("expected gamma of shape [6]"));
    EXPECT_THAT(norm(x, {}, g.parameter(batch ? "a" : "b", {6}, some())),
                HasSubstr("expected both running statistics or none"));
    EXPECT_THAT(norm(mean(x), {}, {}), HasSubstr("expected x [N, ..., C]"));
  }
  EXPECT_THAT(message([&] { return batch_norm(x, {}, {}, {}, {}, {.cumulative = true}); }),
              HasSubstr("cumulative statistics are a layer's own"));
}

TEST(given_weights, of_a_graph_are_set_from_memory) {
  Graph g;
  const Value x = g.input("x", {2});
  const Value w = g.parameter("w", {1, 2}, some());
  g.output("y", dense(x, w, Value(), "l"));
  set_weights(g, {{"w", Array(std::vector<float>{2.0F, 3.0F}, {1, 2})}});
  Predictor predictor(g);
  EXPECT_EQ(predictor.run({{"x", Array{1.0F, 10.0F}}}).at("y").floats(),
            (std::vector<float>{32.0F}));
  EXPECT_THAT(error_of([&] { set_weights(g, {{"v", Array{1.0F}}}); }), HasSubstr("no parameter"));
  EXPECT_THAT(error_of([&] {
                set_weights(g, {{"w", Array{1.0F, 2.0F}}});
              }),
              HasSubstr("expected f32 [1, 2], got f32 [2]"));
}

TEST(given_weights, go_on_with_the_state_of_another_optimizer) {
  const auto trainer = [] {
    Graph g;
    const Value x = g.input("x", {2});
    const Value y = dense(x, {.units = 1, .name = "l"});
    g.minimize(mean(y * y));
    return Trainer(g, {.optimizer = Adam{.lr = 0.1}, .batch = kBatch, .threads = 1});
  };
  Trainer one = trainer();
  Trainer other = trainer();
  const data::Dataset data = samples({2});
  for (int i = 0; i < 3; ++i) one.step(data);
  for (const char* name : {"l.weight", "l.weight.exp_avg", "l.weight.exp_avg_sq", "l.bias",
                           "l.bias.exp_avg", "l.bias.exp_avg_sq"})
    other.set_parameter(name, one.parameter(name));
  other.set_steps(one.steps());
  EXPECT_EQ(one.step(data).loss, other.step(data).loss);
  EXPECT_EQ(one.weights_sha256(), other.weights_sha256());
  EXPECT_THAT(error_of([&] { other.set_steps(-1); }), HasSubstr("from 0"));
}

}  // namespace
}  // namespace thimble::given_weights_test
