// The sparse update that adds most within a budget.
#include <fmt/format.h>
#include <thimble/compiled_training.h>
#include <thimble/instruction_model.h>
#include <thimble/scheme_search.h>
#include <thimble/trainer.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "ir/graph.h"
#include "search/options.h"
#include "search/parts.h"
#include "train/state.h"

namespace thimble {
namespace {

class Searching {
 public:
  // limit: null for none.
  Searching(const Graph& graph, const Contributions& contributions,
            const SchemeSearchOptions& options, const InstructionLimit* limit)
      : graph_(graph),
        contributions_(contributions),
        options_(options),
        limit_(limit),
        parts_(search::parts_of(graph.ir())) {
    if (contributions.last_layer != parts_.last) {
      throw Error("search",
                  fmt::format("the contributions are of a network whose last layer is {}; "
                              "here it is {}",
                              contributions.last_layer, parts_.last));
    }
    add_biases();
    for (const search::Part& part : parts_.layers) add_layer(part);
    for (const Contributions::Weights& part : contributions.weights) {
      const bool known = std::any_of(parts_.layers.begin(), parts_.layers.end(),
                                     [&](const auto& one) { return one.name == part.layer; });
      if (!known) {
        throw Error("search", fmt::format("the contributions have a layer {}, which this network "
                                          "has not",
                                          part.layer));
      }
    }
  }

  FoundScheme run() {
    search::SearchLimits limits{.cost = options_.memory_budget,
                                .evaluations = options_.evaluations};
    if (options_.on_progress) {
      limits.stop = [this] { return !options_.on_progress(plans_); };
    }
    const UpdateScheme none = scheme(search::Chosen(items_.size(), 0));
    if (limit_ != nullptr && instructions(none) > limit_->instructions) {
      throw Error("search", fmt::format("{} alone takes {:.0f} instructions, more than {:.0f}",
                                        parts_.last, instructions(none), limit_->instructions));
    }
    const int64_t least = bytes(none).peak;
    if (least > options_.memory_budget) {
      throw Error("search",
                  fmt::format("{} alone takes {}, more than the budget of {}", parts_.last,
                              format_bytes(least), format_bytes(options_.memory_budget)));
    }
    set_own_bytes();
    const search::BestChoice best = best_of(items_, limits);
    FoundScheme found{.scheme = scheme(best.options),
                      .gain = best.gain,
                      .bytes = best.cost,
                      .is_best = best.is_best};
    for (const UpdateScheme& given : options_.given) add_given(given, found);
    add_others(limits, found);
    found.evaluations = plans_;
    found.settings = contributions_.settings;
    return found;
  }

 private:
  struct Bytes {
    int64_t peak = 0;  // as the budget counts it
    int64_t kept = 0;  // of it, what lives from step to step
  };

  [[nodiscard]] search::BestChoice best_of(const std::vector<search::Item>& items,
                                           const search::SearchLimits& limits) {
    return search::best_choice(
        items, [this](const search::Chosen& chosen) { return cost(scheme(chosen)); }, limits);
  }

  static bool has(const FoundScheme& found, const UpdateScheme& scheme) {
    return found.scheme == scheme ||
           std::any_of(found.others.begin(), found.others.end(),
                       [&](const FoundScheme& other) { return other.scheme == scheme; });
  }

  void add_given(const UpdateScheme& given, FoundScheme& found) {
    if (has(found, given)) return;
    if (limit_ != nullptr && instructions(given) > limit_->instructions) {
      throw Error("search", fmt::format("the scheme {} takes {:.0f} instructions, more than {:.0f}",
                                        given.text(), instructions(given), limit_->instructions));
    }
    const int64_t peak = cost(given);
    if (peak > options_.memory_budget) {
      throw Error("search",
                  fmt::format("the scheme {} takes {}, more than the budget of {}", given.text(),
                              format_bytes(peak), format_bytes(options_.memory_budget)));
    }
    found.others.push_back({.scheme = given,
                            .gain = std::numeric_limits<double>::quiet_NaN(),
                            .bytes = peak,
                            .is_best = false});
  }

  // The best choices of gains with errors, which grow from try to try up to the spread of gains.
  void add_others(const search::SearchLimits& limits, FoundScheme& found) {
    constexpr int64_t kTriesEach = 8;
    constexpr double kGrowingEach = 2.0;  // tries over which errors grow
    const size_t wanted = found.others.size() + static_cast<size_t>(options_.others);
    std::mt19937_64 random(limits.seed);
    for (int64_t tries = 1; tries <= kTriesEach * options_.others; ++tries) {
      if (found.others.size() >= wanted || (limits.stop && limits.stop())) return;
      const double part =
          static_cast<double>(tries) / (kGrowingEach * static_cast<double>(options_.others));
      const search::BestChoice best = best_of(with_errors(std::min(part, 1.0), random), limits);
      UpdateScheme other = scheme(best.options);
      if (has(found, other)) continue;
      double gain = 0.0;
      for (size_t i = 0; i < items_.size(); ++i) {
        const int option = best.options[i];
        if (option > 0) gain += items_[i].options[static_cast<size_t>(option - 1)].gain;
      }
      found.others.push_back(
          {.scheme = std::move(other), .gain = gain, .bytes = best.cost, .is_best = false});
    }
  }

  // Items with uniform errors of gains. Their standard deviation is so much of that of the gains
  // above 0.
  [[nodiscard]] std::vector<search::Item> with_errors(double part, std::mt19937_64& random) const {
    double sum = 0.0;
    double squares = 0.0;
    double count = 0.0;
    for (const search::Item& item : items_) {
      for (const search::Item::Option& option : item.options) {
        if (option.gain <= 0.0) continue;  // harm may be far larger than gains are
        sum += option.gain;
        squares += option.gain * option.gain;
        ++count;
      }
    }
    std::vector<search::Item> made = items_;
    if (count == 0.0) return made;
    const double mean = sum / count;
    const double most = part * std::sqrt(3.0 * std::max(squares / count - mean * mean, 0.0));
    for (search::Item& item : made) {
      for (search::Item::Option& option : item.options) {
        const double uniform = std::ldexp(static_cast<double>(random() >> 11U), -53);
        option.gain += most * (2.0 * uniform - 1.0);
      }
    }
    return made;
  }

  void add_biases() {
    search::Item& item = items_.emplace_back();
    for (const Contributions::Biases& part : contributions_.biases) {
      if (part.last <= parts_.last_biases || part.last > parts_.biases) {
        throw Error("search", fmt::format("the contributions have the biases of {} layers; this "
                                          "network has {}",
                                          part.last, parts_.biases));
      }
      item.options.push_back({.gain = contributions_.gain(part)});
    }
  }

  void add_layer(const search::Part& part) {
    search::Item item;
    std::vector<double> ratios;
    for (const Contributions::Weights& one : contributions_.weights) {
      if (one.layer != part.name || !search::has_ratio(part, one.ratio)) continue;
      item.options.push_back({.gain = contributions_.gain(one)});
      ratios.push_back(one.ratio);
    }
    if (ratios.empty()) return;
    items_.push_back(std::move(item));
    layers_.push_back(part.name);
    ratios_.push_back(std::move(ratios));
  }

  [[nodiscard]] UpdateScheme scheme(const search::Chosen& chosen) const {
    const int64_t biases =
        chosen[0] > 0 ? contributions_.biases[static_cast<size_t>(chosen[0] - 1)].last : 0;
    UpdateScheme made = search::scheme_of(parts_, biases);
    for (size_t i = 0; i < layers_.size(); ++i) {
      const int option = chosen[i + 1];
      if (option > 0) made.weights[layers_[i]].ratio = ratios_[i][static_cast<size_t>(option - 1)];
    }
    return made;
  }

  [[nodiscard]] TrainerOptions training(const UpdateScheme& scheme) const {
    TrainerOptions made = options_.training;
    made.scheme = scheme;
    made.memory_budget = 0;
    return made;
  }

  [[nodiscard]] double instructions(const UpdateScheme& scheme) const {
    return predict_instructions(graph_, training(scheme), limit_->core).total();
  }

  // Its planned peak; more than any budget where a step takes too many instructions.
  int64_t cost(const UpdateScheme& scheme) {
    const auto [known, is_new] = costs_.try_emplace(scheme.text(), 0);
    if (!is_new) return known->second;
    const bool is_long = limit_ != nullptr && instructions(scheme) > limit_->instructions;
    known->second = is_long ? std::numeric_limits<int64_t>::max() : bytes(scheme).peak;
    return known->second;
  }

  Bytes bytes(const UpdateScheme& scheme) {
    ++plans_;
    const Plan plan = options_.frozen_in_flash ? device_plan(training(scheme))
                                               : plan_training(graph_, training(scheme));
    const int64_t in_flash = options_.frozen_in_flash ? plan.read_only_bytes : 0;
    const int64_t constants =
        options_.frozen_in_flash ? plan.constant_bytes + plan.constant_padding_bytes : 0;
    return {plan.planned_peak_bytes - in_flash - constants,
            plan.parameter_bytes - in_flash + plan.state_bytes};
  }

  // As C of thimble export-c: reference kernels, one thread, samples of the caller.
  [[nodiscard]] Plan device_plan(TrainerOptions training) const {
    training.threads = 1;
    training.swap = Swap::never;
    training.input_pipeline_bytes = 1;
    const CompileFor device{.reference_kernels = true};
    return train::State(graph_.ir(), training, nullptr, &device).plan();
  }

  // What each option keeps from step to step adds to every choice.
  void set_own_bytes() {
    search::Chosen chosen(items_.size(), 0);
    const int64_t none = bytes(scheme(chosen)).kept;
    for (size_t i = 0; i < items_.size(); ++i) {
      for (size_t option = 0; option < items_[i].options.size(); ++option) {
        chosen[i] = static_cast<int>(option) + 1;
        items_[i].options[option].bytes = std::max<int64_t>(bytes(scheme(chosen)).kept - none, 0);
      }
      chosen[i] = 0;
    }
  }

  const Graph& graph_;
  const Contributions& contributions_;
  const SchemeSearchOptions& options_;
  const InstructionLimit* limit_;
  search::Parts parts_;
  std::vector<search::Item> items_;  // biases first, then layers
  std::vector<std::string> layers_;
  std::vector<std::vector<double>> ratios_;  // of each layer's options
  std::map<std::string, int64_t> costs_;     // of schemes, by their text
  int64_t plans_ = 0;
};

}  // namespace

namespace {

FoundScheme search_within(const Graph& graph, const Contributions& contributions,
                          const SchemeSearchOptions& options, const InstructionLimit* limit) {
  if (options.memory_budget <= 0) throw Error("search", "a memory budget in bytes is missing");
  if (options.others < 0) throw Error("search", "there cannot be fewer than 0 other schemes");
  return Searching(graph, contributions, options, limit).run();
}

}  // namespace

FoundScheme search_scheme(const Graph& graph, const Contributions& contributions,
                          const SchemeSearchOptions& options) {
  return search_within(graph, contributions, options, nullptr);
}

FoundScheme search_scheme(const Graph& graph, const Contributions& contributions,
                          const SchemeSearchOptions& options, const InstructionLimit& limit) {
  if (!(limit.instructions > 0.0)) throw Error("search", "a limit of instructions must be above 0");
  return search_within(graph, contributions, options, &limit);
}

}  // namespace thimble
