#include <fmt/format.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/time_distributed.h>

#include "ir/graph.h"

// Two reshapes: it has a builder, but no op of its own.
THIMBLE_OP_FOLDER(time_distributed) { return {}; }

namespace thimble {

Value time_distributed(Value x, const std::function<Value(Value)>& function) {
  const std::vector<int64_t> dims = x.shape().dims();  // a copy: adding nodes moves shapes
  if (dims.size() < 2) {
    throw Error("time_distributed",
                fmt::format("expected x [N, T, ...], got {}", to_string(x.shape())));
  }
  std::vector<int64_t> step(dims.begin() + 1, dims.end());
  step[0] = -1;
  const Value y = function(reshape(x, Shape(std::move(step))));
  if (y.shape().rank() < 1 || y.shape()[0] != dims[0] * dims[1]) {
    throw Error("time_distributed",
                fmt::format("expected a function that keeps the first of its dimensions, N * T; it "
                            "gives {}",
                            to_string(y.shape())));
  }
  std::vector<int64_t> sequence{-1, dims[1]};
  sequence.insert(sequence.end(), y.shape().dims().begin() + 1, y.shape().dims().end());
  return reshape(y, Shape(std::move(sequence)));
}

}  // namespace thimble
