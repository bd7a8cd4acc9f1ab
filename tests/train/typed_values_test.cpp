// Inputs, outputs and parameters of any type in trainers and predictors.
#include <gmock/gmock.h>
#include <thimble/ops.h>
#include <thimble/predictor.h>
#include <thimble/trainer.h>

#include "harness/error_of.h"
#include "io/temporary_folder.h"

namespace thimble::typed_values_test {
namespace {

using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

// Rows of a table by their number, the class that they score highest, and what else is not f32.
Graph model() {
  Graph g;
  const Value token = g.input("token", {}, DType::i32);
  const Value wide = g.input("wide", {2}, DType::i64);
  const Value target = g.label("target");
  const Value logits = embedding(token, {.embeddings = 4, .width = 3, .name = "table"});
  const Value offset = g.parameter("offset", {2}, init::constant(3.0), DType::i64);
  // A training holds only what its loss reads.
  g.minimize(softmax_cross_entropy(logits, target) + 0.0 * mean(cast(offset, DType::f32)));
  g.output("logits", logits);
  g.output("class", argmax(logits));
  g.output("twice", wide + wide);
  g.output("bits", cast(wide, DType::boolean));
  g.output("half", cast(logits, DType::f16));
  g.output("moved", wide + offset);
  return g;
}

data::Dataset rows() {
  const int64_t large = int64_t{1} << 40;
  return data::in_memory(
      {{"token", {}, DType::i32}, {"wide", {2}, DType::i64}, {"target", {}, DType::i32, true}},
      {std::vector<int32_t>{3, 1, 0}, std::vector<int64_t>{large, 0, -1, 2, 0, 0},
       std::vector<int32_t>{0, 1, 2}});
}

TEST(typed_values, keep_their_types_in_a_predictor) {
  const test::TemporaryFolder folder;
  Trainer trainer(model(), {.batch = 2, .threads = 1});
  trainer.set_parameter("table.weight", Array{0, 0, 1, 0, 5, 0, 0, 0, 0, 9, 1, 1});
  trainer.save(folder / "c");
  Predictor predictor(model(), folder / "c", 2);
  const int64_t large = int64_t{1} << 40;
  const auto out =
      predictor.run({{"token", std::vector<int32_t>{3, 1, 0}},
                     {"wide", Array(std::vector<int64_t>{large, 0, -1, 2, 0, 0}, {3, 2})}});
  EXPECT_THAT(out.at("class").as<int32_t>(), ElementsAre(0, 1, 2));
  EXPECT_EQ(out.at("logits").shape(), (Shape{3, 3}));
  EXPECT_THAT(out.at("logits").as<float>(), ElementsAre(9, 1, 1, 0, 5, 0, 0, 0, 1));
  EXPECT_THAT(out.at("twice").as<int64_t>(), ElementsAre(2 * large, 0, -2, 4, 0, 0));
  EXPECT_THAT(out.at("moved").as<int64_t>(), ElementsAre(large + 3, 3, 2, 5, 3, 3));
  EXPECT_EQ(out.at("bits").dtype(), DType::boolean);
  EXPECT_THAT(out.at("bits").integers(), ElementsAre(1, 0, 1, 1, 0, 0));
  EXPECT_EQ(out.at("half").dtype(), DType::f16);
  EXPECT_EQ(out.at("half").floats(), out.at("logits").floats());
  EXPECT_EQ(trainer.predict(rows(), "class"), out.at("class"));
  EXPECT_EQ(trainer.predict(rows(), "twice"), out.at("twice"));
  EXPECT_EQ(trainer.predict(rows(), "bits"), out.at("bits"));
}

// Samples of three bits and of three nibbles, in batches of two with one left over.
TEST(typed_values, of_packed_types_need_not_fill_whole_bytes) {
  Graph g;
  const Value mask = g.input("mask", {3}, DType::boolean);
  const Value nibble = g.input("nibble", {3}, DType::i4);
  const Value target = g.label("target", {3}, DType::boolean);
  const Value x = cast(mask, DType::f32) + cast(nibble, DType::f32);
  g.output("sum", cast(x, DType::i32));
  g.output("mask", reshape(mask, {-1, 3}));
  g.minimize(mse(dense(x, {.units = 3}), cast(target, DType::f32)));
  const Array masks = Array{1, 0, 1, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0, 0}.reshaped({5, 3});
  const Array nibbles = Array{-8, 7, 1, 2, -3, 4, 5, -6, 7, 0, 1, -1, 3, -4, 6}.reshaped({5, 3});
  const data::Dataset rows = data::in_memory(
      {{"mask", {3}, DType::boolean},
       {"nibble", {3}, DType::i4},
       {"target", {3}, DType::boolean, true}},
      {masks.cast(DType::boolean), nibbles.cast(DType::i4), masks.cast(DType::boolean)});
  Trainer trainer(g, {.optimizer = Adam{.lr = 0.05F}, .batch = 2, .threads = 1});
  EXPECT_EQ(trainer.predict(rows, "mask"), masks.cast(DType::boolean));
  const std::vector<float> a = masks.floats();
  const std::vector<float> b = nibbles.floats();
  const std::vector<int64_t> sums = trainer.predict(rows, "sum").integers();
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(static_cast<float>(sums[i]), a[i] + b[i]) << i;
  const double before = trainer.evaluate(rows).loss;
  trainer.fit(rows, {.epochs = 40});
  EXPECT_LT(trainer.evaluate(rows).loss, 0.7 * before);
}

TEST(typed_values, of_another_type_or_shape_are_errors) {
  const test::TemporaryFolder folder;
  Trainer trainer(model(), {.batch = 2, .threads = 1});
  trainer.save(folder / "c");
  Predictor predictor(model(), folder / "c", 2);
  const Array wide(DType::i64, {3, 2});
  const auto fails = [&](const std::map<std::string, Array>& inputs) {
    return error_of([&] { static_cast<void>(predictor.run(inputs)); });
  };
  EXPECT_THAT(fails({{"token", std::vector<float>{3, 1, 0}}, {"wide", wide}}),
              HasSubstr("expected i32[count], got f32[3]: convert it"));
  EXPECT_THAT(fails({{"token", std::vector<int32_t>{3, 1}}, {"wide", wide}}),
              HasSubstr("holds 3 samples, the other inputs hold 2"));
  EXPECT_THAT(fails({{"token", std::vector<int32_t>{3}}, {"wide", wide.reshaped({2, 3})}}),
              HasSubstr("expected i64[count, 2], got i64[2, 3]: give whole samples"));
  EXPECT_THAT(fails({{"token", std::vector<int32_t>{3}}}), HasSubstr("missing"));
  EXPECT_THAT(error_of([&] {
                trainer.set_parameter("offset", Array{1.0F, 2.0F});
              }),
              HasSubstr("is i64[2], got f32[2]"));
}

TEST(typed_values, of_frozen_parameters_are_kept_saved_and_loaded) {
  const test::TemporaryFolder folder;
  Trainer trainer(model(), {.batch = 3, .threads = 1});
  EXPECT_THAT(trainer.parameter("offset").as<int64_t>(), ElementsAre(3, 3));
  trainer.set_parameter("offset", std::vector<int64_t>{int64_t{1} << 50, -7});
  trainer.fit(rows(), {.epochs = 2});
  trainer.save(folder / "c");
  Trainer other(model(), {.batch = 3, .threads = 1});
  other.resume(folder / "c");
  EXPECT_THAT(other.parameter("offset").as<int64_t>(), ElementsAre(int64_t{1} << 50, -7));
  EXPECT_EQ(other.weights_sha256(), trainer.weights_sha256());
}

TEST(typed_values, that_are_packed_are_saved_and_loaded) {
  const auto packed = [] {
    Graph g;
    const Value x = g.input("x", {3});
    const Value w = g.parameter("w", {3}, init::ones());
    const Value nibbles = g.parameter("nibbles", {3}, init::constant(-5.0), DType::i4);
    const Value bits = g.parameter("bits", {3}, init::ones(), DType::boolean);
    const Value y = x * w + cast(nibbles, DType::f32) * cast(bits, DType::f32);
    g.minimize(mean(y));
    g.output("y", y);
    return g;
  };
  const test::TemporaryFolder folder;
  Trainer trainer(packed(), {.optimizer = SGD{}, .batch = 1, .threads = 1});
  EXPECT_THAT(trainer.parameter("nibbles").integers(), ElementsAre(-5, -5, -5));
  trainer.set_parameter("nibbles", Array{7, -8, 0}.cast(DType::i4));
  trainer.set_parameter("bits", Array{1, 0, 1}.cast(DType::boolean));
  trainer.save(folder / "c");
  Predictor predictor(packed(), folder / "c");
  const auto out = predictor.run({{"x", Array{1, 1, 1}}});
  EXPECT_THAT(out.at("y").as<float>(), ElementsAre(8, 1, 1));
}

}  // namespace
}  // namespace thimble::typed_values_test
