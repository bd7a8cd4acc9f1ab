// Models may call their values as thimble calls what it adds to a training.
#include <gmock/gmock.h>
#include <thimble/compiled_training.h>
#include <thimble/model_file.h>
#include <thimble/ops.h>
#include <thimble/trainer.h>

#include <string>
#include <utility>

#include "harness/error_of.h"
#include "io/safetensors/safetensors.h"
#include "io/temporary_folder.h"
#include "ops/families/builder/compose.h"
#include "train/state.h"

namespace thimble::own_names_test {
namespace {

using test::error_of;
using testing::HasSubstr;

// A model with two parameters, w and another, each [3, 2]. All begin with the same values.
Graph model(const std::string& input, const std::string& other) {
  Graph g;
  const Value x = g.input(input, {3});
  const Value w = g.parameter("w", {3, 2}, init::constant(0.5));
  const Value v = g.parameter(other, {3, 2}, init::constant(-0.25));
  const Value y = add(matmul(dropout(x, {.p = 0.25}), w), mul(matmul(x, v), ops::number(x, 2.0)));
  g.minimize(mean(square(y)));
  g.output("y", y);
  return g;
}

data::Dataset samples(const std::string& input) {
  std::vector<float> values(16 * 3);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) - 2.5F;
  return data::in_memory({{input, {3}}}, {Array(std::move(values), {16, 3})});
}

std::vector<TrainerOptions> all_options() {
  const TrainerOptions plain{.optimizer = AdamW{.lr = 0.01}, .batch = 8, .threads = 1};
  std::vector<TrainerOptions> all{plain};
  all.push_back(plain);
  all.back().optimizer = SGD{.lr = 0.01, .momentum = 0.9};
  all.back().schedule = Schedule::one_cycle({.max = 0.01, .total_steps = 4});
  all.back().groups = {{.pattern = "w", .lr_scale = 0.5}};
  all.push_back(plain);
  all.back().accumulate = 2;
  all.push_back(plain);
  all.back().precision = DType::f16;
  all.push_back(plain);
  all.back().ema_decay = 0.5;
  return all;
}

Array trained(const std::string& input, const std::string& other, const TrainerOptions& options) {
  Trainer trainer(model(input, other), options);
  trainer.fit(samples(input), {.epochs = 2});
  return trainer.predict(samples(input), "y");
}

// Names of an input and a parameter.
constexpr std::pair<const char*, const char*> kNames[] = {
    {"lr", "w.ema"},
    {"step", "w.exp_avg"},
    {"momentum", "w.exp_avg_sq"},
    {"total_weight", "w.grad_sum"},
    {"one", "w.momentum_buffer"},
    {"rng", "loss_scale"},
    {"loss_scale.good_steps", "lr"},
    {"loss_scale.skipped", "step"},
    {"number 2", "momentum"},
    {"lr_scale_0.5", "one"},
    {"constant_3", "total_weight"},
    {"w.ema", "rng"},
};

TEST(own_names, are_none_that_a_model_has) {
  for (const TrainerOptions& options : all_options()) {
    const Array wanted = trained("x", "v", options);
    for (const auto& [input, other] : kNames) {
      EXPECT_EQ(trained(input, other, options), wanted) << input << ", " << other;
    }
  }
}

TEST(own_names, are_refused_where_a_model_is_described) {
  constexpr const char* kMessage = "[@lr] names that begin with @ are thimble's own; take another";
  Graph g;
  const Value x = g.input("x", {3});
  EXPECT_EQ(error_of([&] { g.input("@lr", {3}); }), kMessage);
  EXPECT_EQ(error_of([&] { g.label("@lr"); }), kMessage);
  EXPECT_EQ(error_of([&] { g.parameter("@lr", {3}, init::zeros()); }), kMessage);
  EXPECT_EQ(error_of([&] { g.constant("@lr", {1}, {1}); }), kMessage);
  EXPECT_EQ(error_of([&] { dense(x, {.units = 2, .name = "@lr"}); }), kMessage);
  EXPECT_NO_THROW(g.input("x@lr", {3}));
  // The graph stays as it was.
  EXPECT_NE(error_of([&] { dense(x, {.units = 2, .name = "two\nlines"}); }), "");
  EXPECT_NO_THROW(dense(dense(x, {.units = 2}), {.units = 2}));
}

TEST(own_names, of_another_kind_in_a_model_file_are_refused) {
  Graph g;
  const Value x = g.input("x", {3});
  const Value rate = g.ir().own_source("@lr", {DType::f32, {}}, ir::Role::constant);
  g.minimize(mean(square(dense(x, {.units = 3}) + rate)));
  EXPECT_EQ(error_of([&] { const Trainer trainer(g, all_options().front()); }),
            "[@lr] the name is thimble's own: expected a scalar f32[], and the model has a "
            "constant f32[]");
}

class averages : public testing::Test {
 protected:
  averages() : trainer_(model("x", "w.ema"), options()) { trainer_.fit(samples("x")); }
  static TrainerOptions options() { return all_options().back(); }
  // The numbers of the same training of a model whose other parameter is called "v".
  static Array of_other_names(const std::string& name) {
    Trainer trainer(model("x", "v"), options());
    trainer.fit(samples("x"));
    return trainer.parameter(name);
  }
  Array read(const std::string& path, const std::string& parameter) const {
    Trainer reader(load_model(path), {.threads = 1});
    return reader.parameter(parameter);
  }

  test::TemporaryFolder folder_;
  Trainer trainer_;
};

TEST_F(averages, belong_to_their_parameters_whatever_these_are_called) {
  EXPECT_EQ(trainer_.parameter("w"), of_other_names("w"));
  EXPECT_EQ(trainer_.parameter("w.ema"), of_other_names("v"));
  EXPECT_EQ(trainer_.parameter("@w.ema"), of_other_names("w.ema"));
  EXPECT_EQ(trainer_.parameter("w.ema.ema"), of_other_names("v.ema"));
  trainer_.set_parameter("w", Array(std::vector<float>(6, 7.0F), {3, 2}));
  EXPECT_EQ(trainer_.parameter("@w.ema"), trainer_.parameter("w"));
  EXPECT_EQ(trainer_.parameter("w.ema"), of_other_names("v"));
}

TEST_F(averages, are_what_files_give_for_their_parameters) {
  trainer_.save(folder_ / "checkpoint");
  trainer_.save_model(folder_ / "model");
  CompiledTraining(model("x", "w.ema"), options()).save(folder_ / "program");
  Trainer of_program(CompiledTraining::load(folder_ / "program"));
  of_program.fit(samples("x"));
  of_program.save_model(folder_ / "model_of_program");
  for (const char* const file : {"checkpoint", "model", "model_of_program"}) {
    EXPECT_EQ(read(folder_ / file, "w"), of_other_names("w.ema")) << file;
    EXPECT_EQ(read(folder_ / file, "w.ema"), of_other_names("v.ema")) << file;
  }
  of_program.resume(folder_ / "checkpoint");
  EXPECT_EQ(of_program.parameter("@w.ema"), trainer_.parameter("@w.ema"));
}

// A parameter of such a name is not taken for an average where a training keeps none.
TEST(averages_in_files, are_none_of_a_training_without) {
  const test::TemporaryFolder folder;
  Trainer trainer(model("x", "w.ema"), all_options()[0]);
  trainer.fit(samples("x"));
  trainer.save(folder / "checkpoint");
  Trainer reader(load_model(folder / "checkpoint"), {.threads = 1});
  EXPECT_EQ(reader.parameter("w"), trainer.parameter("w"));
  EXPECT_EQ(reader.parameter("w.ema"), trainer.parameter("w.ema"));
}

// The file as thimble wrote it before it said whose average a tensor is, and before names of its
// own had a prefix.
void write_as_before(const std::string& path, const std::string& to) {
  const io::Safetensors file = io::Safetensors::open(path);
  io::Metadata metadata;
  for (const auto& [key, value] : file.metadata()) {
    if (!key.starts_with("average_of.") && !key.starts_with("checksum")) metadata[key] = value;
  }
  std::vector<std::vector<std::byte>> contents;
  std::vector<io::TensorView> tensors;
  for (const io::TensorView& tensor : file.tensors()) {
    contents.emplace_back(static_cast<size_t>(size_bytes(tensor.dtype, tensor.shape)));
    file.load(tensor, 0, contents.back());
  }
  for (size_t i = 0; const io::TensorView& tensor : file.tensors()) {
    const bool is_own = tensor.name.starts_with("@loss_scale");
    tensors.push_back({.name = is_own ? tensor.name.substr(1) : tensor.name,
                       .dtype = tensor.dtype,
                       .shape = tensor.shape,
                       .bytes = contents[i++]});
  }
  io::write_safetensors(to, tensors, metadata);
}

TEST(averages_in_files, are_found_by_their_names_in_files_that_do_not_say) {
  const test::TemporaryFolder folder;
  TrainerOptions options = all_options().back();
  options.precision = DType::f16;
  Trainer trainer(model("x", "v"), options);
  trainer.fit(samples("x"));
  trainer.save(folder / "now");
  write_as_before(folder / "now", folder / "before");
  Trainer reader(load_model(folder / "before"), {.threads = 1});
  EXPECT_EQ(reader.parameter("w"), trainer.parameter("w.ema"));
  Trainer resumed(model("x", "v"), options);
  resumed.resume(folder / "before");
  resumed.fit(samples("x"), {.epochs = 2, .initial_epoch = 1});
  trainer.fit(samples("x"), {.epochs = 2, .initial_epoch = 1});
  EXPECT_EQ(resumed.weights_sha256(), trainer.weights_sha256());
  EXPECT_EQ(resumed.parameter("w.ema"), trainer.parameter("w.ema"));
  EXPECT_EQ(resumed.loss_scale(), trainer.loss_scale());
}

TEST(averages_in_files, of_tensors_that_are_not_there_are_refused) {
  const test::TemporaryFolder folder;
  const std::vector<float> values(6, 1.0F);
  const io::TensorView w{
      .name = "w", .dtype = DType::f32, .shape = {3, 2}, .bytes = std::as_bytes(std::span(values))};
  io::write_safetensors(folder / "a", {{w}}, {{"average_of.w.ema", "w"}});
  Graph graph = model("x", "v");
  EXPECT_THAT(error_of([&] { load_weights(graph, folder / "a"); }),
              HasSubstr("metadata average_of.w.ema: there is no tensor of this name"));
}

}  // namespace
}  // namespace thimble::own_names_test
