#include "train/pipeline_bytes.h"

#include <thimble/error.h>

#include <fmt/format.h>

#include "plan/arena.h"

namespace thimble::train {
namespace {

constexpr int64_t kBatches = 2;  // one in use, one read ahead

}  // namespace

int64_t pipeline_bytes(const ir::Graph& model, const TrainerOptions& options) {
  if (options.input_pipeline_bytes < 0) {
    throw Error("input_pipeline_bytes",
                fmt::format("expected 0 or more, got {}", options.input_pipeline_bytes));
  }
  if (options.input_pipeline_bytes > 0) return options.input_pipeline_bytes;
  int64_t batch = 0;
  for (const ir::ValueData& data : model.values) {
    if (data.role != ir::Role::input && data.role != ir::Role::label) continue;
    const Shape shape = ir::with_batch(data.type.shape, options.batch);
    // Every sample of bool or i4 begins at a byte while it is read.
    const std::vector<int64_t>& dims = shape.dims();
    const bool is_one = dims.empty();
    const Shape sample(is_one ? dims : std::vector<int64_t>(dims.begin() + 1, dims.end()));
    batch += plan::aligned((is_one ? 1 : dims[0]) * size_bytes(data.type.dtype, sample));
  }
  return kBatches * batch;
}

}  // namespace thimble::train
