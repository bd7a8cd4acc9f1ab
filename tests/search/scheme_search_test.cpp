// What parts of a network add, and the sparse update that adds most within a budget.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/scheme_search.h>
#include <thimble/thimble.h>

#include <filesystem>
#include <set>

#include "io/atomic_file.h"
#include "io/temporary_folder.h"
#include "search/parts.h"

namespace thimble::test::scheme_search_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Four layers with weights for the digits.
Graph network() {
  Graph g;
  const Value image = g.input("image", {28, 28, 1});
  Value h = relu(conv2d(image, {.channels = 4, .kernel = 5, .stride = 3, .name = "c1"}));
  h = relu(conv2d(h, {.channels = 8, .kernel = 3, .stride = 2, .name = "c2"}));
  h = relu(dense(flatten(h), {.units = 12, .bias = false, .name = "d1"}));
  const Value logits = dense(h, {.units = 10, .name = "d2"});
  const Value digit = g.label("digit");
  g.minimize(softmax_cross_entropy(logits, digit));
  g.metric("accuracy", accuracy(logits, digit));
  return g;
}

// It with the weights of a short training.
const Graph& trained() {
  static const Graph graph = [] {
    const TemporaryFolder folder;
    Trainer trainer(network(), {.optimizer = Adam{.lr = 0.003}, .batch = 16, .seed = 2});
    trainer.fit(data::digits(400, 1), {.epochs = 2});
    trainer.save_model(folder / "m");
    return load_model(folder / "m");
  }();
  return graph;
}

// Inverted digits, which it does not know.
const data::Dataset& inverted(data::Split split) {
  static const auto make = [](data::Split of) {
    const data::Dataset digits = data::digits(128, 5, of);
    return data::generator(digits.size(), digits.fields(),
                           [digits](int64_t index, std::span<void* const> out) {
                             digits.read(index, out);
                             auto* pixels = static_cast<float*>(out[0]);
                             for (int i = 0; i < 28 * 28; ++i) pixels[i] = 1.0F - pixels[i];
                           });
  };
  static const data::Dataset train = make(data::Split::train);
  static const data::Dataset test = make(data::Split::test);
  return split == data::Split::train ? train : test;
}

AnalyzeOptions settings() {
  return {.training = {.optimizer = SGD{.lr = 0.05}, .batch = 8, .seed = 1}, .ratios = {0.5, 1.0}};
}

Contributions contributions() {
  static const Contributions made =
      analyze(trained(), inverted(data::Split::train), inverted(data::Split::test), settings());
  return made;
}

TEST(analyze, scores_biases_and_the_weights_of_each_layer) {
  const Contributions found = contributions();
  EXPECT_EQ(found.metric, "accuracy");
  EXPECT_EQ(found.last_layer, "d2");
  // Layers with biases: d2, c2, c1. Those of d2 are in the base.
  ASSERT_EQ(found.biases.size(), 2U);
  EXPECT_EQ(found.biases[0].last, 2);
  EXPECT_EQ(found.biases[1].last, 3);
  // One input channel: all or nothing.
  std::vector<std::pair<std::string, double>> parts;
  for (const Contributions::Weights& part : found.weights)
    parts.emplace_back(part.layer, part.ratio);
  EXPECT_EQ(parts, (std::vector<std::pair<std::string, double>>{
                       {"c1", 1.0}, {"c2", 0.5}, {"c2", 1.0}, {"d1", 0.5}, {"d1", 1.0}}));
  EXPECT_EQ(found.weights[0].biases, 3);
  EXPECT_EQ(found.weights.back().biases, 1);
  EXPECT_DOUBLE_EQ(found.gain(found.weights.back()), found.weights.back().score - found.base);
  EXPECT_DOUBLE_EQ(found.gain(found.weights[1]), found.weights[1].score - found.biases[0].score);
  // A training of the part by itself has the score.
  TrainerOptions options = settings().training;
  options.scheme = UpdateScheme{.bias_last = 2, .weights = {{"d2", {}}, {"c2", {.ratio = 0.5}}}};
  Trainer trainer(trained(), options);
  trainer.fit(inverted(data::Split::train), {.epochs = 1});
  EXPECT_EQ(trainer.evaluate(inverted(data::Split::test)).metrics.at("accuracy"),
            found.weights[1].score);
}

TEST(analyze, goes_on_where_it_was_stopped) {
  const TemporaryFolder folder;
  AnalyzeOptions options = settings();
  options.cache = folder / "cache";
  const auto run = [&](int64_t most) {
    int64_t last = 0;
    options.on_progress = [&](const AnalyzeProgress& now) {
      EXPECT_EQ(now.total, 8);
      last = now.done;
      return now.done < most;
    };
    try {
      const Contributions found =
          analyze(trained(), inverted(data::Split::train), inverted(data::Split::test), options);
      EXPECT_EQ(found.text(), contributions().text());
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("stopped after 3 of 8 trainings"));
    }
    return last;
  };
  EXPECT_EQ(run(3), 3);
  EXPECT_EQ(run(100), 8);
  // Trainings of the cache are not made again: with its scores changed, they are taken as they are.
  std::string text = io::read_file(folder / "cache", 1 << 20);
  const std::string base = R"("{\"bias_last\":1,\"weights\":{\"d2\":1.0}}": )";
  const size_t at = text.find(base);
  ASSERT_NE(at, std::string::npos) << text;
  text.insert(at + base.size(), "7");
  io::AtomicFile file(folder / "cache");
  file.write(text);
  file.commit();
  options.on_progress = {};
  EXPECT_GE(
      analyze(trained(), inverted(data::Split::train), inverted(data::Split::test), options).base,
      7.0);
  // Other settings are other trainings; another number of threads is not.
  const auto base_of = [](const AnalyzeOptions& changed) {
    return analyze(trained(), inverted(data::Split::train), inverted(data::Split::test), changed)
        .base;
  };
  AnalyzeOptions changed = options;
  changed.training.threads = 2;
  EXPECT_GE(base_of(changed), 7.0);
  changed.training.seed = 9;
  EXPECT_LE(base_of(changed), 1.0);
  changed = options;
  changed.training.clip = GradientClip::by_global_norm(0.1);
  EXPECT_LE(base_of(changed), 1.0);
  changed = options;
  changed.training.optimizer = SGD{.lr = 0.04};
  EXPECT_LE(base_of(changed), 1.0);
}

TEST(analyze, refuses_a_cache_that_is_none) {
  const TemporaryFolder folder;
  AnalyzeOptions options = settings();
  options.cache = folder / "cache";
  for (const char* text : {"[]", "{", R"({"a": 1})", R"({"a": {"b": "c"}})"}) {
    io::AtomicFile file(options.cache);
    file.write(std::string(text));
    file.commit();
    EXPECT_ANY_THROW((void)analyze(trained(), inverted(data::Split::train),
                                   inverted(data::Split::test), options))
        << text;
    EXPECT_EQ(io::read_file(options.cache, 100), text);
  }
}

TEST(analyze, says_what_it_cannot_do) {
  const auto error = [](AnalyzeOptions options) {
    try {
      (void)analyze(trained(), inverted(data::Split::train), inverted(data::Split::test), options);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  AnalyzeOptions options = settings();
  options.metric = "f1";
  EXPECT_THAT(error(options), HasSubstr("no metric \"f1\"; take one of loss, accuracy"));
  options = settings();
  options.layers = {"c*", "z*"};
  EXPECT_THAT(error(options), HasSubstr("matches \"z*\""));
  options = settings();
  options.ratios = {0.5, 1.5};
  EXPECT_THAT(error(options), HasSubstr("at most 1, got 1.5"));
}

TEST(contributions, are_the_same_after_a_file) {
  const Contributions found = contributions();
  EXPECT_EQ(Contributions::parse(found.text(), "file").text(), found.text());
  for (const char* text :
       {"[]", "{}",
        R"({"metric": "a", "last_layer": "d", "base": "x", "biases": [], "weights": []})",
        R"({"metric": "a", "last_layer": "d", "base": 0, "biases": [{"last": -1, "score": 0}],
           "weights": []})",
        R"({"metric": "a", "last_layer": "d", "base": 0, "biases": [],
           "weights": [{"layer": "c", "ratio": 2, "biases": 1, "score": 0}]})",
        R"({"metric": "a", "last_layer": "d", "base": 0, "biases": [], "weights": [],
           "settings": {"epochs": 1}})"}) {
    EXPECT_THAT([&] { (void)Contributions::parse(text, "some file"); },
                ThrowsMessage<Error>(HasSubstr("some file")))
        << text;
  }
}

TEST(contributions, require_the_settings_that_they_were_made_with) {
  const Contributions found = Contributions::parse(contributions().text(), "file");
  EXPECT_EQ(found.settings.at("epochs"), "1");
  const auto error = [&](const AnalyzeOptions& options) {
    try {
      found.require_settings(trained(), options);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  AnalyzeOptions options = settings();
  // What changes no result, or is an error of chance.
  options.training.threads = 2;
  options.training.seed = 7;
  options.training.memory_budget = 1 << 20;
  options.training.scheme = UpdateScheme{.bias_last = 1};
  EXPECT_EQ(error(options), "no error");
  options.epochs = 3;
  options.training.batch = 16;
  EXPECT_THAT(error(options), AllOf(HasSubstr(R"(batch "8" (now "16"), epochs "1" (now "3"))"),
                                    HasSubstr("with the same settings, or analyze with these")));
  options = settings();
  options.training.optimizer = SGD{.lr = 0.04};
  EXPECT_THAT(error(options), AllOf(HasSubstr("lr=0.05"), HasSubstr("lr=0.04")));
  options = settings();
  options.training.optimizer = Adam{.lr = 0.05};
  EXPECT_THAT(error(options), HasSubstr("optimizer \"sgd"));
  options = settings();
  options.metric = "loss";
  EXPECT_THAT(error(options), HasSubstr(R"(metric "accuracy" (now "loss"))"));
  // A verification asks, too; contributions of an older version do not know.
  FoundScheme scheme;
  scheme.settings = found.settings;
  EXPECT_THAT(
      [&] {
        (void)verify_scheme(trained(), scheme, inverted(data::Split::train),
                            inverted(data::Split::test), options);
      },
      ThrowsMessage<Error>(HasSubstr("the parts were analyzed with")));
}

// All schemes of the contributions' parts.
std::vector<UpdateScheme> all_schemes(const Contributions& parts) {
  std::vector<UpdateScheme> all{{.bias_last = 1, .weights = {{"d2", {}}}}};
  const std::vector<UpdateScheme> none = all;
  for (const Contributions::Biases& part : parts.biases) {
    for (UpdateScheme one : none) {
      one.bias_last = part.last;
      all.push_back(one);
    }
  }
  for (const char* layer : {"c1", "c2", "d1"}) {
    const std::vector<UpdateScheme> before = all;
    for (const Contributions::Weights& part : parts.weights) {
      if (part.layer != layer) continue;
      for (UpdateScheme one : before) {
        one.weights[layer].ratio = part.ratio;
        all.push_back(std::move(one));
      }
    }
  }
  return all;
}

double gain_of(const Contributions& parts, const UpdateScheme& scheme) {
  double gain = 0.0;
  for (const Contributions::Biases& part : parts.biases) {
    if (part.last == scheme.bias_last) gain += parts.gain(part);
  }
  for (const Contributions::Weights& part : parts.weights) {
    const auto chosen = scheme.weights.find(part.layer);
    if (chosen != scheme.weights.end() && chosen->second.ratio == part.ratio)
      gain += parts.gain(part);
  }
  return gain;
}

TEST(search_scheme, finds_the_best_of_all) {
  const Contributions parts = contributions();
  for (const bool in_flash : {false, true}) {
    SchemeSearchOptions options{.training = settings().training, .frozen_in_flash = in_flash};
    const auto bytes = [&](const UpdateScheme& scheme) {
      TrainerOptions training = options.training;
      training.scheme = scheme;
      if (!in_flash) return plan_training(trained(), training).planned_peak_bytes;
      training.threads = 1;
      training.swap = Swap::never;
      training.input_pipeline_bytes = 1;
      const Plan plan = CompiledTraining(trained(), training, {.reference_kernels = true}).plan();
      return plan.planned_peak_bytes - plan.read_only_bytes - plan.constant_bytes -
             plan.constant_padding_bytes;
    };
    std::vector<std::pair<int64_t, double>> all;
    for (const UpdateScheme& scheme : all_schemes(parts)) {
      all.emplace_back(bytes(scheme), gain_of(parts, scheme));
    }
    EXPECT_EQ(all.size(), 3U * 2 * 3 * 3);
    std::sort(all.begin(), all.end());
    for (size_t budget = 0; budget < all.size(); budget += 7) {
      options.memory_budget = all[budget].first;
      // Training more may lower a peak by the alignment of a few buffers, which the search does not
      // follow.
      constexpr int64_t kAlignment = 128;
      double best = 0.0;
      double within_less = 0.0;
      for (const auto& [of_one, gain] : all) {
        if (of_one <= options.memory_budget) best = std::max(best, gain);
        if (of_one <= options.memory_budget - kAlignment) within_less = std::max(within_less, gain);
      }
      const FoundScheme found = search_scheme(trained(), parts, options);
      EXPECT_TRUE(found.is_best);
      EXPECT_LE(found.bytes, options.memory_budget);
      EXPECT_EQ(found.bytes, bytes(found.scheme));
      EXPECT_LE(found.gain, best + 1e-12) << options.memory_budget;
      EXPECT_GE(found.gain, within_less - 1e-12) << options.memory_budget;
    }
    options.memory_budget = 1000;
    EXPECT_THAT([&] { (void)search_scheme(trained(), parts, options); },
                ThrowsMessage<Error>(HasSubstr("d2 alone takes ")));
  }
}

TEST(search_scheme, refuses_contributions_of_another_network) {
  Contributions parts = contributions();
  const SchemeSearchOptions options{.training = settings().training, .memory_budget = 1 << 20};
  parts.weights[0].layer = "c9";
  EXPECT_THAT([&] { (void)search_scheme(trained(), parts, options); },
              ThrowsMessage<Error>(HasSubstr("a layer c9, which this network has not")));
  parts = contributions();
  parts.last_layer = "head";
  EXPECT_THAT([&] { (void)search_scheme(trained(), parts, options); },
              ThrowsMessage<Error>(HasSubstr("whose last layer is head; here it is d2")));
}

constexpr int64_t kCandidateBytes = 57000;

FoundScheme with_others(int64_t others, std::vector<UpdateScheme> given = {}) {
  return search_scheme(trained(), contributions(),
                       {.training = settings().training,
                        .memory_budget = kCandidateBytes,
                        .others = others,
                        .given = std::move(given)});
}

TEST(search_scheme, finds_other_candidates) {
  const FoundScheme alone = with_others(0);
  EXPECT_TRUE(alone.others.empty());
  const UpdateScheme given{.bias_last = 1, .weights = {{"d2", {}}, {"c1", {}}}};
  const FoundScheme found = with_others(4, {given, alone.scheme, given});
  EXPECT_EQ(found.scheme, alone.scheme);
  EXPECT_EQ(found.settings, contributions().settings);
  // The given one, and up to four: scores decide how many schemes chance reaches.
  ASSERT_GE(found.others.size(), 3U);
  ASSERT_LE(found.others.size(), 5U);
  EXPECT_EQ(found.others[0].scheme, given);
  std::set<std::string> texts{found.scheme.text()};
  std::set<int64_t> biases{found.scheme.bias_last};
  for (const FoundScheme& other : found.others) {
    EXPECT_LE(other.bytes, kCandidateBytes);
    TrainerOptions training = settings().training;
    training.scheme = other.scheme;
    EXPECT_EQ(other.bytes, plan_training(trained(), training).planned_peak_bytes);
    texts.insert(other.scheme.text());
    biases.insert(other.scheme.bias_last);
    if (other.scheme == given) continue;
    EXPECT_NEAR(other.gain, gain_of(contributions(), other.scheme), 1e-12);
  }
  EXPECT_EQ(texts.size(), found.others.size() + 1);
  EXPECT_GT(biases.size(), 1U);
  const UpdateScheme all{.bias_last = 3,
                         .weights = {{"d2", {}}, {"d1", {}}, {"c2", {}}, {"c1", {}}}};
  EXPECT_THAT([&] { (void)with_others(0, {all}); },
              ThrowsMessage<Error>(HasSubstr("more than the budget of 55.66 KiB")));
}

TEST(verify_scheme, takes_the_candidate_that_trains_best) {
  FoundScheme found{.scheme = {.bias_last = 1, .weights = {{"d2", {}}}}, .bytes = 4};
  found.others = {{.scheme = {.bias_last = 2, .weights = {{"d2", {}}, {"d1", {}}}}, .bytes = 3},
                  {.scheme = {.bias_last = 3, .weights = {{"d2", {}}, {"c1", {}}}}, .bytes = 2},
                  {.scheme = {.bias_last = 3, .weights = {{"d2", {}}, {"c2", {}}}}, .bytes = 1}};
  found.evaluations = 5;
  const TemporaryFolder folder;
  AnalyzeOptions options = settings();
  options.cache = folder / "cache";
  int64_t trainings = 0;
  options.on_progress = [&](const AnalyzeProgress& now) {
    EXPECT_EQ(now.total, 8);
    return ++trainings < 6;
  };
  const auto verify = [&] {
    return verify_scheme(trained(), found, inverted(data::Split::train),
                         inverted(data::Split::test), options, 2);
  };
  EXPECT_THAT([&] { (void)verify(); },
              ThrowsMessage<Error>(HasSubstr("stopped after 6 of 8 trainings")));
  trainings = -8;
  const FoundScheme best = verify();
  EXPECT_EQ(best.evaluations, 5);
  // By trainings of one's own.
  const auto score = [&](const UpdateScheme& scheme) {
    double sum = 0.0;
    for (const uint64_t seed : {1, 2}) {
      TrainerOptions training = settings().training;
      training.scheme = scheme;
      training.seed = seed;
      Trainer trainer(trained(), training);
      trainer.fit(inverted(data::Split::train), {.epochs = 1});
      sum += trainer.evaluate(inverted(data::Split::test)).metrics.at("accuracy");
    }
    return sum / 2.0;
  };
  EXPECT_DOUBLE_EQ(best.score.value(), score(best.scheme));
  ASSERT_EQ(best.others.size(), 3U);
  const FoundScheme* before = &best;
  for (const FoundScheme& other : best.others) {
    EXPECT_DOUBLE_EQ(other.score.value(), score(other.scheme));
    EXPECT_TRUE(before->score > other.score ||
                (before->score == other.score && before->bytes <= other.bytes));
    before = &other;
  }
  EXPECT_LT(best.others.back().score, best.score);
}

}  // namespace
}  // namespace thimble::test::scheme_search_test
