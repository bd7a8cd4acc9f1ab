// Weights that are stored in a narrow type, and mapped from a model file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/adapt.h>
#include <thimble/lora.h>
#include <thimble/ops.h>
#include <thimble/thimble.h>

#include <unistd.h>

#include <cmath>
#include <fstream>

#include "exec/heap.h"
#include "harness/error_of.h"
#include "io/safetensors/safetensors.h"
#include "io/temporary_folder.h"
#include "ir/graph.h"

namespace thimble::test::store_weights_test {
namespace {

using testing::AllOf;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

constexpr int64_t kTokens = 5;

// A table that is also the last layer's, a layer [in, out] and one [out, in] whose rows have two
// groups of 64.
Graph network() {
  Graph g;
  const Value ids = g.input("ids", {kTokens}, DType::i32);
  const Value table = g.parameter("table.weight", {11, 6}, init::zeros());
  const Value w = g.parameter("up.weight", {6, 128}, init::zeros());
  const Value h = tanh(matmul(embedding(ids, table), w));
  const Value y = dense(h, {.units = 6, .name = "down"});
  g.output("logits", dense(y, table, Value(), "head"));
  int number = 0;
  for (ir::ValueData& data : g.ir().values) {
    if (data.producer >= 0 || data.role != ir::Role::parameter) continue;
    std::vector<float> values;
    ++number;
    for (int64_t i = 0; i < data.type.shape.elements(); ++i) {
      values.push_back(
          static_cast<float>(0.4 * std::sin(0.37 * static_cast<double>(i * number + 1))));
    }
    data.data = Array(std::move(values), data.type.shape);
  }
  return g;
}

Array ids() { return Array(std::vector<int32_t>{1, 0, 10, 3, 3, 7, 2, 9, 4, 5}, {2, kTokens}); }

std::vector<float> run(const Graph& g) {
  return Predictor(g, 2).run({{"ids", ids()}}).at("logits").floats();
}

DType type_of(const Graph& g, const std::string& name) {
  for (const ir::ValueData& data : g.ir().values) {
    if (data.producer < 0 && *data.name == name) return data.type.dtype;
  }
  throw Error(name, "there is no such source");
}

Graph tuned(DType base) {
  return add_lora(adapt(store_weights(network(), base), {.loss = "softmax_cross_entropy"}),
                  {.rank = 2, .alpha = 4.0, .targets = {"up", "down"}});
}

data::Dataset samples() {
  return data::in_memory({{"ids", {kTokens}, DType::i32}, {"label", {kTokens}, DType::i32}},
                         {ids(), ids()});
}

TEST(store_weights, rounds_weights_and_nothing_else) {
  const std::vector<float> exact = run(network());
  // What rounding to so many bits changes in sums of some hundred products.
  for (const auto& [dtype, tolerance] :
       {std::pair(DType::bf16, 0.03F), std::pair(DType::f16, 4e-3F), std::pair(DType::i8, 0.03F),
        std::pair(DType::i4, 0.3F)}) {
    const Graph g = store_weights(network(), dtype);
    EXPECT_THAT(run(g), Pointwise(FloatNear(tolerance), exact)) << to_string(dtype);
    EXPECT_EQ(type_of(g, "up.weight"), dtype);
    EXPECT_EQ(type_of(g, "down.weight"), dtype);
    EXPECT_EQ(type_of(g, "down.bias"), DType::f32);
    EXPECT_EQ(type_of(g, "table.weight"), is_floating(dtype) ? dtype : DType::bf16);
  }
  EXPECT_THAT(error_of([] { static_cast<void>(store_weights(network(), DType::f64)); }),
              HasSubstr("expected bf16, f16, i8 or i4"));
  EXPECT_THAT(error_of([] {
                static_cast<void>(store_weights(store_weights(network(), DType::i8), DType::i8));
              }),
              HasSubstr("no weights"));
}

// bf16 is exact where the weights are bf16 already.
TEST(store_weights, has_the_steps_of_f32_weights_of_the_same_numbers) {
  Graph rounded = network();
  for (ir::ValueData& data : rounded.ir().values) {
    if (data.producer < 0 && data.role == ir::Role::parameter && data.type.shape.rank() == 2) {
      data.data = data.data->cast(DType::bf16).cast(DType::f32);
    }
  }
  const Graph plain = add_lora(adapt(rounded, {.loss = "softmax_cross_entropy"}),
                               {.rank = 2, .alpha = 4.0, .targets = {"up", "down"}});
  Trainer expected(plain, {.optimizer = SGD{.lr = 0.5}, .batch = 2, .seed = 3});
  Trainer trainer(tuned(DType::bf16), {.optimizer = SGD{.lr = 0.5}, .batch = 2, .seed = 3});
  for (int step = 0; step < 4; ++step) {
    EXPECT_NEAR(trainer.step(samples()).loss, expected.step(samples()).loss, 2e-6);
  }
}

// Two numbers of i4 lie in a byte, unless the file is of before.
TEST(store_weights, holds_i4_in_half_of_a_byte) {
  const TemporaryFolder folder;
  save_model(tuned(DType::i4), folder / "m", 3);
  const io::Safetensors file = io::Safetensors::read(folder / "m");
  const Graph graph = load_model(folder / "m");
  std::vector<io::TensorView> tensors;
  std::vector<std::vector<std::byte>> wide;
  for (const ir::ValueData& value : graph.ir().values) {
    if (value.producer >= 0 || value.type.dtype != DType::i4) continue;
    const io::TensorView& packed = *file.find(*value.name);
    EXPECT_EQ(packed.dtype, DType::u8);
    EXPECT_EQ(static_cast<int64_t>(packed.bytes.size()), (value.type.shape.elements() + 1) / 2);
    EXPECT_TRUE(std::equal(packed.bytes.begin(), packed.bytes.end(), value.data->bytes().begin()));
    wide.push_back(io::unpacked(DType::i4, value.type.shape, packed.bytes));
    tensors.push_back({.name = *value.name, .dtype = DType::i8, .shape = value.type.shape});
  }
  ASSERT_GE(tensors.size(), 2U);
  for (size_t i = 0; i < tensors.size(); ++i) tensors[i].bytes = wide[i];
  for (const io::TensorView& tensor : file.tensors()) {
    if (tensor.dtype != DType::u8) tensors.push_back(tensor);
  }
  io::write_safetensors(folder / "before", tensors, file.metadata());
  EXPECT_EQ(run(load_model(folder / "before")), run(graph));
  const TrainerOptions options{.optimizer = SGD{.lr = 0.5}, .batch = 2, .seed = 3};
  Trainer before(load_graph(folder / "before"), options);
  before.load_weights(folder / "before");
  Trainer now(load_graph(folder / "m"), options);
  now.load_weights(folder / "m");
  EXPECT_EQ(before.weights_sha256(), now.weights_sha256());
  EXPECT_EQ(before.step(samples()).loss, now.step(samples()).loss);
  tensors[0].shape = {tensors[0].shape.elements()};
  io::write_safetensors(folder / "wrong", tensors, file.metadata());
  EXPECT_THAT(error_of([&] { static_cast<void>(load_model(folder / "wrong")); }),
              HasSubstr("the model has i4"));
}

TEST(store_weights, maps_weights_from_a_model_file) {
  const TemporaryFolder folder;
  for (const DType base : {DType::bf16, DType::f16, DType::i8, DType::i4}) {
    SCOPED_TRACE(to_string(base));
    save_model(tuned(base), folder / "m", 3);
    const TrainerOptions options{.optimizer = SGD{.lr = 0.5}, .batch = 2, .seed = 3};
    Trainer in_memory(load_model(folder / "m"), options);
    Trainer mapped(load_graph(folder / "m"), options);
    mapped.load_weights(folder / "m");
    EXPECT_EQ(mapped.weights_sha256(), in_memory.weights_sha256());
    for (int step = 0; step < 3; ++step) {
      EXPECT_EQ(mapped.step(samples()).loss, in_memory.step(samples()).loss);
    }
    const int64_t narrow = 11 * 6 + 6 * 128 + 128 * 6;
    for (const Plan& plan : {mapped.plan(), in_memory.plan()}) {
      EXPECT_LE(plan.parameter_bytes, 4 * (plan.parameters - narrow));
    }
    EXPECT_THAT(error_of([&] { mapped.set_parameter("up.weight", mapped.parameter("up.weight")); }),
                HasSubstr("mapped read-only"));
    mapped.save(folder / "c");
    Trainer resumed(load_graph(folder / "m"), options);
    resumed.resume(folder / "c");
    EXPECT_EQ(resumed.weights_sha256(), mapped.weights_sha256());
    EXPECT_EQ(resumed.step(samples()).loss, mapped.step(samples()).loss);
    EXPECT_EQ(run(load_model(folder / "c")),
              Predictor(folder / "c", 2).run({{"ids", ids()}}).at("logits").floats());
  }
}

// A line of /proc/self/status, in bytes; -1 where there is none.
int64_t status(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    int64_t kib = 0;
    if (word == name && file >> kib) return kib * 1024;
  }
  return -1;
}

// The most resident bytes since forget(), beyond those of then.
class ResidentPeak {
 public:
  ResidentPeak() { forget(); }
  [[nodiscard]] bool is_known() const { return is_known_; }
  void forget() {
    exec::trim_heap();  // what is freed already shall hide nothing
    std::ofstream clear("/proc/self/clear_refs");
    is_known_ = static_cast<bool>(clear << 5 << std::flush) && status("VmHWM:") >= 0;
    before_ = status("VmRSS:");
  }
  [[nodiscard]] int64_t bytes() const { return status("VmHWM:") - before_; }

 private:
  int64_t before_ = 0;
  bool is_known_ = false;
};

constexpr int64_t kMebibyte = int64_t{1} << 20;
constexpr int64_t kWidth = 2048;
constexpr int kWeights = 4;

std::string weight_name(int i) { return "w" + std::to_string(i); }

// A product with each of kWeights frozen matrices after another.
Graph deep(DType dtype) {
  Graph g;
  const Value x = g.input("x", {1});
  Value h = dense(x, {.units = kWidth, .bias = false, .name = "first"});
  for (int i = 0; i < kWeights; ++i) {
    h = frozen_dense(h, g.parameter(weight_name(i), {kWidth, kWidth}, init::zeros(), dtype));
  }
  g.minimize(mean(h));
  return g;
}

// bf16: 1.0386e-8 in each place; i4: 2 and 3 in turn.
Array contents(DType dtype) {
  const int64_t bytes = size_bytes(dtype, {kWidth, kWidth});
  return Array::of_bytes(dtype, {kWidth, kWidth},
                         std::vector<std::byte>(static_cast<size_t>(bytes), std::byte{0x32}));
}

data::Dataset one_number() {
  return data::in_memory({{"x", {1}, DType::f32}}, {Array(std::vector<float>{1.0F}, {1, 1})});
}

TrainerOptions tight() { return {.batch = 1, .memory_budget = 4 * kMebibyte, .threads = 1}; }

// The plan counts no bytes for such weights, so they take none wherever they come from: but one at
// a time is read or written.
class frozen_memory : public testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    if (THIMBLE_SANITIZED) GTEST_SKIP() << "sanitizers keep freed memory";
    if (!peak_.is_known()) GTEST_SKIP() << "needs /proc/self/clear_refs";
    all_ = kWeights * size_bytes(GetParam(), {kWidth, kWidth});
  }
  ResidentPeak peak_;
  int64_t all_ = 0;
};

TEST_P(frozen_memory, of_weights_that_are_set_is_none) {
  Trainer trainer(deep(GetParam()), tight());
  EXPECT_LE(trainer.plan().planned_peak_bytes, tight().memory_budget);
  const data::Dataset samples = one_number();
  EXPECT_EQ(trainer.step(samples).loss, 0.0);
  const Array values = contents(GetParam());
  peak_.forget();
  for (int i = 0; i < kWeights; ++i) trainer.set_parameter(weight_name(i), values);
  EXPECT_LT(peak_.bytes(), all_ / 2);
  peak_.forget();
  EXPECT_NE(trainer.step(samples).loss, 0.0);
  EXPECT_NE(trainer.step(samples).loss, 0.0);
  EXPECT_LT(peak_.bytes(), all_ / 2);
  EXPECT_EQ(trainer.parameter("w2").bytes()[77], std::byte{0x32});
}

// Without the graph, as `thimble train PROGRAM` does.
TEST_P(frozen_memory, of_a_compiled_training_is_none) {
  const TemporaryFolder folder;
  const data::Dataset samples = one_number();
  double loss = 0.0;
  {
    Graph g = deep(GetParam());
    for (ir::ValueData& data : g.ir().values) {
      if (data.type.dtype == GetParam() && data.producer < 0) data.data = contents(GetParam());
    }
    CompiledTraining(g, tight()).save(folder / "step.thimble");
    loss = Trainer(g, tight()).step(samples).loss;
  }
  CompiledTraining program = CompiledTraining::load(folder / "step.thimble");
  EXPECT_LE(program.plan().planned_peak_bytes, tight().memory_budget);
  peak_.forget();
  Trainer trainer(std::move(program));
  EXPECT_EQ(trainer.step(samples).loss, loss);
  EXPECT_NE(loss, 0.0);
  EXPECT_LT(peak_.bytes(), all_ / 2 + kMebibyte);
}

INSTANTIATE_TEST_SUITE_P(store_weights, frozen_memory, testing::Values(DType::bf16, DType::i4),
                         [](const auto& info) { return to_string(info.param); });

TEST(store_weights, needs_a_disk_where_there_is_a_budget) {
  if (!std::ofstream("/dev/shm/thimble-test")) GTEST_SKIP() << "needs a folder in memory";
  ::unlink("/dev/shm/thimble-test");
  TrainerOptions options = tight();
  options.swap = Swap::never;
  options.swap_dir = "/dev/shm";
  const Array values = contents(DType::i4);
  Trainer refused(deep(DType::i4), options);
  EXPECT_THAT(
      error_of([&] { refused.set_parameter("w1", values); }),
      AllOf(HasSubstr("w1"), HasSubstr("would lie in memory: /dev/shm"), HasSubstr("--swap-dir")));
  options.memory_budget = 0;
  Trainer trainer(deep(DType::i4), options);
  for (int i = 0; i < kWeights; ++i) trainer.set_parameter(weight_name(i), values);
  EXPECT_NE(trainer.step(one_number()).loss, 0.0);
  EXPECT_EQ(trainer.parameter("w1").bytes()[77], std::byte{0x32});
}

TEST(store_weights, refuses_what_whole_numbers_have_not) {
  Graph g = network();
  for (ir::ValueData& data : g.ir().values) {
    if (data.producer >= 0 || *data.name != "up.weight") continue;
    std::vector<float> values = data.data->floats();
    values[5] = NAN;
    data.data = Array(std::move(values), data.type.shape);
  }
  EXPECT_THAT(error_of([&] { static_cast<void>(store_weights(g, DType::i8)); }),
              HasSubstr("up.weight has a value that is not finite"));
  EXPECT_EQ(error_of([&] { static_cast<void>(store_weights(g, DType::bf16)); }), kNoError);
}

TEST(store_weights, merges_adapters_into_16_bit_weights) {
  Graph g = tuned(DType::bf16);
  Trainer trainer(g, {.optimizer = SGD{.lr = 0.5}, .batch = 2});
  for (int step = 0; step < 5; ++step) static_cast<void>(trainer.step(samples()));
  const TemporaryFolder folder;
  trainer.save_model(folder / "m");
  const Graph model = load_model(folder / "m");
  EXPECT_THAT(run(merge_lora(model)), Pointwise(FloatNear(0.05F), run(model)));
  save_model(tuned(DType::i8), folder / "i8");
  EXPECT_THAT(error_of([&] { static_cast<void>(merge_lora(load_model(folder / "i8"))); }),
              HasSubstr("floating-point weights"));
}

}  // namespace
}  // namespace thimble::test::store_weights_test
