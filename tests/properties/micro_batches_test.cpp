// Where a model is said to allow micro-batches, the weighted mean of its parts' losses and
// gradients is that of the whole batch, in double precision.
#include "train/micro_batches.h"

#include <cmath>

#include "ir/reference.h"
#include "properties/random_models.h"

namespace thimble::test::micro_batches_test {
namespace {

using ir::Bytes;
using ir::Precision;

constexpr int64_t kWhole = 5;
constexpr double kRounding = 1e-9;

// The step up to the gradients, which are outputs.
ir::Graph step_of(const RandomModel& model, int64_t batch) {
  ir::Graph graph =
      passes::specialize(ir::with_batch(model.graph.ir(), batch), ir::Phase::training);
  graph.outputs.clear();
  for (const autodiff::Gradient& gradient : autodiff::append_loss_gradients(graph)) {
    if (gradient.gradient >= 0) {
      graph.outputs.emplace_back(graph.data(gradient.value).name, gradient.gradient);
    }
  }
  return graph;
}

// The rows of a batch's contents that form one micro-batch.
Contents samples_of(const Contents& whole, const ir::Graph& model,
                    const train::MicroBatch& micro_batch) {
  Contents contents = whole;
  for (const ir::ValueData& data : model.values) {
    if (data.role != ir::Role::input && data.role != ir::Role::label) continue;
    const auto cut = [&](auto& values) {
      const auto each = static_cast<std::ptrdiff_t>(values.size() / kWhole);
      const auto first = values.begin() + micro_batch.first * each;
      values = {first, first + micro_batch.count * each};
    };
    const auto numbers = contents.numbers.find(data.name);
    if (numbers != contents.numbers.end()) cut(numbers->second);
    const auto raw = contents.raw.find(data.name);
    if (raw != contents.raw.end()) cut(raw->second);
  }
  const auto rng = contents.raw.find(ir::kRngName);
  if (rng != contents.raw.end()) {
    const uint32_t words[] = {static_cast<uint32_t>(micro_batch.first),
                              static_cast<uint32_t>(micro_batch.count)};
    std::memcpy(rng->second.data() + 4 * sizeof(uint32_t), words, sizeof words);
  }
  return contents;
}

// The loss and the gradients, one after the other.
std::vector<double> results_of(const ir::Graph& step, const Contents& contents) {
  const std::vector<Bytes> all = run_on(step, contents, Precision::f64);
  const auto of = [&](int id) {
    return ir::to_doubles(all[static_cast<size_t>(id)], Precision::f64);
  };
  std::vector<double> results = of(*step.loss);
  for (const auto& [name, id] : step.outputs) {
    const std::vector<double> gradient = of(id);
    results.insert(results.end(), gradient.begin(), gradient.end());
  }
  return results;
}

int allowed = 0;

std::string micro_batches_differ(const RandomModel& model, uint32_t seed) {
  const TrainerOptions options{.optimizer = SGD{}, .batch = kWhole, .micro_batches = kWhole};
  if (!train::why_not_micro_batches(model.graph.ir(), options).empty()) return "";
  ++allowed;
  const ir::Graph step = step_of(model, kWhole);
  const Contents contents = random_contents(model, step, seed);
  const std::vector<double> whole = results_of(step, samples_of(contents, step, {0, kWhole}));
  std::vector<double> sum(whole.size(), 0.0);
  train::for_each_micro_batch(
      kWhole, 1 + seed % (kWhole - 1), [&](const train::MicroBatch& micro_batch) {
        const ir::Graph smaller = step_of(model, micro_batch.count);
        const std::vector<double> results =
            results_of(smaller, samples_of(contents, smaller, micro_batch));
        for (size_t i = 0; i < sum.size(); ++i) {
          sum[i] += results[i] * static_cast<double>(micro_batch.count) / kWhole;
        }
      });
  double largest = 1.0;
  for (const double v : whole) largest = std::max(largest, std::abs(v));
  for (size_t i = 0; i < sum.size(); ++i) {
    if (std::isnan(whole[i]) || std::abs(sum[i] - whole[i]) <= kRounding * largest) continue;
    return fmt::format("result {} is {} of the whole batch and {} of its micro-batches", i,
                       whole[i], sum[i]);
  }
  return "";
}

TEST(micro_batches, have_the_gradients_of_the_whole_batch) {
  allowed = 0;
  // About one model in eight allows micro-batches.
  for (uint32_t round = 0; round < 200 && allowed < 100; ++round) {
    expect_of_random_models(micro_batches_differ, round);
  }
  EXPECT_GE(allowed, 100);
}

}  // namespace
}  // namespace thimble::test::micro_batches_test
