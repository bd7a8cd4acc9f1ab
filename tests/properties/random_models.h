// Properties checked on random models by RapidCheck, which shrinks what fails to few ops and prints
// how to run it again: RC_PARAMS="reproduce=...". More runs: RC_PARAMS="max_success=10000".
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "autodiff/autodiff.h"
#include "harness/op_random_graphs.h"
#include "passes/passes.h"

namespace thimble::test {

inline constexpr int kMostOps = 14;

// Says what is wrong with a model, or nothing.
using Property = std::string (*)(const RandomModel& model, uint32_t seed);

// round: changes the models, because RapidCheck's numbers are the same at every call.
inline void expect_of_random_models(Property property, uint32_t round = 0) {
  rc::detail::checkGTest([property, round] {
    constexpr uint32_t kNumbers = 1U << 30U;
    constexpr uint32_t kApart = 0x9E3779B9;
    const auto drawn = rc::gen::resize(rc::kNominalSize, rc::gen::inRange<uint32_t>(0, kNumbers));
    const auto number = rc::gen::noShrink(
        rc::gen::map(drawn, [round](uint32_t n) { return (n + round * kApart) % kNumbers; }));
    const auto seed = *number;
    const auto ops = *rc::gen::resize(kMostOps, rc::gen::container<std::vector<uint32_t>>(number));
    const RandomModel model = random_model(seed, ops);
    std::string error;
    try {
      error = property(model, seed);
    } catch (const Error& thrown) {
      error = thrown.what();
    }
    if (!error.empty()) {
      RC_FAIL(fmt::format("{}\nbatch {}\n{}", error, model.batch, model.graph.text()));
    }
  });
}

// The training step of a model up to its gradients, each the output "grad(<parameter>)" besides the
// outputs of the model. pass: run before the gradients are appended; null: none.
inline ir::Graph with_gradients(const RandomModel& model,
                                ir::Graph (*pass)(const ir::Graph&) = nullptr) {
  ir::Graph graph =
      passes::specialize(ir::with_batch(model.graph.ir(), model.batch), ir::Phase::training);
  if (pass != nullptr) graph = pass(graph);
  for (const autodiff::Gradient& gradient : autodiff::append_loss_gradients(graph)) {
    if (gradient.gradient < 0) continue;
    graph.outputs.emplace_back("grad(" + graph.data(gradient.value).name + ")", gradient.gradient);
  }
  return graph;
}

}  // namespace thimble::test
