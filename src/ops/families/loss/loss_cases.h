// Test cases of the losses that sum over pairs of elements.
#pragma once

#include "harness/op_cases.h"
#include "ops/families/loss/loss.h"

namespace thimble::test {

// Ranges of predictions and targets; the shapes of the specs are ignored.
struct LossRanges {
  TensorSpec x;
  TensorSpec t;
};

// by: returns the attributes for a Reduction.
template <class By>
OpCase loss_case(const char* name, const Shape& shape, Reduction reduction, const By& by,
                 const LossRanges& ranges) {
  OpCase test{.name = name,
              .inputs = {ranges.x, ranges.t},
              .attrs = by(reduction),
              .expect = {reduction == Reduction::none ? shape : Shape{}}};
  for (TensorSpec& input : test.inputs) input.shape = shape;
  return test;
}

// Every reduction, empty and single inputs, and one or many whole tiles.
template <class By>
OpCases loss_cases(const By& by, const LossRanges& ranges) {
  const auto of = [&](const char* name, const Shape& shape, Reduction reduction) {
    return loss_case(name, shape, reduction, by, ranges);
  };
  return {
      .cases = {of("mean", {3, 7}, Reduction::mean), of("terms", {3, 7}, Reduction::none),
                of("many_terms", {3, 9001}, Reduction::none), of("sum", {3, 7}, Reduction::sum),
                of("batch_mean", {3, 4, 5}, Reduction::batch_mean),
                of("batch_of_1", {1, 37}, Reduction::batch_mean), of("scalar", {}, Reduction::mean),
                of("sum_of_nothing", {0, 4}, Reduction::sum), of("many", {3, 9001}, Reduction::sum),
                of("one_tile", {8192}, Reduction::mean)},
      .rejects = {{"shapes", {{.shape = {3}}, {.shape = {4}}}, by(Reduction::mean), "of one shape"},
                  {"integers",
                   {{.shape = {3}}, {.shape = {3}, .dtype = DType::i32}},
                   by(Reduction::mean),
                   "must be floating"},
                  {"no_batch",
                   {{.shape = {}}, {.shape = {}}},
                   by(Reduction::batch_mean),
                   "needs a batch"}},
  };
}

}  // namespace thimble::test
