// A memory budget is kept without changing a bit, or refused with the nearest one that can be kept.
#include <thimble/trainer.h>

#include <array>
#include <cstring>

#include "models/nearest_budget.h"
#include "properties/random_models.h"
#include "train/micro_batches.h"

namespace thimble::test::budget_test {
namespace {

constexpr int64_t kSamples = 13;
constexpr uint32_t kOneIn =
    8;  // one of so many models trains, and the first; each is planned often
// A smaller last batch has a plan of its own, which may need more by one part in so many at most.
constexpr int64_t kPartForLast = 20;

// How many models trained without a swap file, and with one allowed.
std::array<int, 2> trained = {};

TrainerOptions options_of(const RandomModel& model, uint32_t seed) {
  const auto below = [&seed](uint32_t n) {
    const uint32_t number = seed % n;
    seed /= n;
    return number;
  };
  static const Optimizer kOptimizers[] = {SGD{0.01}, AdamW{}, RMSProp{}};
  TrainerOptions options{.optimizer = kOptimizers[below(3)], .batch = 2 + below(5), .threads = 1};
  options.accumulate = 1 + below(2);
  options.micro_batches = 1 + below(2);
  if (!train::why_not_micro_batches(model.graph.ir(), options).empty()) options.micro_batches = 1;
  // With a swap file allowed, its rates are measured, which takes long.
  const bool swaps = below(4) == 0 || (trained[0] > 0 && trained[1] == 0);
  options.swap = swaps ? Swap::automatic : Swap::never;
  return options;
}

template <class T>
std::vector<T> numbers_in(const ir::Bytes& bytes) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

data::Dataset samples_for(const RandomModel& model, uint32_t seed) {
  const ir::Graph graph = ir::with_batch(model.graph.ir(), kSamples);
  const Contents contents = random_contents(model, graph, seed);
  std::vector<data::Field> fields;
  std::vector<data::Values> values;
  for (const ir::ValueData& data : graph.values) {
    const bool is_label = data.role == ir::Role::label;
    if (data.role != ir::Role::input && !is_label) continue;
    const std::vector<int64_t>& dims = data.type.shape.dims();
    const Shape sample(std::vector<int64_t>(dims.begin() + 1, dims.end()));
    fields.push_back({data.name, sample, data.type.dtype, is_label});
    const ir::Bytes bytes = contents.bytes(data.name, ir::Precision::f32);
    if (data.type.dtype == DType::f32) {
      values.emplace_back(numbers_in<float>(bytes));
    } else {
      values.emplace_back(numbers_in<int32_t>(bytes));
    }
  }
  return data::in_memory(fields, values);
}

// The result of two epochs and an evaluation. A loss that is not finite or a batch norm of one
// value ends them with an error, which must be the same with and without a budget.
std::string outcome_of(const RandomModel& model, const TrainerOptions& options,
                       const data::Dataset& samples) {
  Trainer trainer(model.graph, options);
  try {
    const FitResult fit = trainer.fit(samples, {.epochs = 2});
    const std::string text =
        fmt::format("loss {}, evaluated {}, weights {}", fit.epochs.back().train.loss,
                    trainer.evaluate(samples).loss, trainer.weights_sha256());
    const bool is_kept =
        options.memory_budget <= 0 || fit.measured_peak_bytes <= options.memory_budget;
    return is_kept ? text : fmt::format("took {} bytes", fit.measured_peak_bytes);
  } catch (const Error& error) {
    return error.what();
  }
}

// The budget that a refusal names; 0: the text is none.
int64_t budget_named_in(const std::string& text) {
  static const std::string kWords = "Nearest budget that works: ";
  const size_t at = text.find(kWords);
  return at == std::string::npos ? 0 : std::stoll(text.substr(at + kWords.size()));
}

std::string breaks_its_budget(const RandomModel& model, uint32_t seed) {
  if (trained[0] > 0 && trained[1] > 0 && seed % kOneIn != 0) return "";
  seed /= kOneIn;
  TrainerOptions options = options_of(model, seed);
  const data::Dataset samples = samples_for(model, seed);
  const Plan free = plan_training(model.graph, options);
  const std::string wanted = outcome_of(model, options, samples);
  const int64_t sum = free.planned_peak_bytes + free.input_pipeline_bytes + free.reserved_bytes;
  const int64_t nearest = nearest_budget(model.graph, options);
  if (nearest <= 0 || nearest > sum) return fmt::format("nearest {} of {}", nearest, sum);
  for (const int64_t budget : {nearest - 1, nearest * 3 / 4}) {
    options.memory_budget = budget;
    const Plan plan = plan_training(model.graph, options);
    // The search need not find the smallest budget, but one near it.
    const bool is_near = budget == nearest - 1;
    if (plan.fits ? !is_near : plan.nearest_feasible_bytes != nearest) {
      return fmt::format("{} {}, named {}, not {}", budget, plan.fits ? "is kept" : "is refused",
                         plan.nearest_feasible_bytes, nearest);
    }
  }
  for (const int64_t budget : {nearest, (nearest + sum) / 2, sum}) {
    options.memory_budget = budget;
    std::string got = outcome_of(model, options, samples);
    if (const int64_t named = budget_named_in(got); named > 0) {
      if (named > budget + budget / kPartForLast) return fmt::format("{}: {}", budget, got);
      options.memory_budget = named;
      got = outcome_of(model, options, samples);
    }
    if (got != wanted) return fmt::format("within {}: {}\nwithout: {}", budget, got, wanted);
  }
  const size_t swaps = options.swap == Swap::never ? 0 : 1;
  trained[swaps] += wanted.rfind("loss", 0) == 0 ? 1 : 0;
  return "";
}

TEST(random_model, trains_within_every_budget_that_is_not_refused) {
  trained = {};
  expect_of_random_models(breaks_its_budget);
  EXPECT_GT(trained[0], 0);
  EXPECT_GT(trained[1], 0);
}

}  // namespace
}  // namespace thimble::test::budget_test
