#include "train/pipeline_bytes.h"

#include <thimble/error.h>

#include <fmt/format.h>

#include "plan/arena.h"
#include "train/batch_stream.h"

namespace thimble::train {
namespace {

constexpr int64_t kBatches = 2;  // one in use, one read ahead
// Of a step, an epoch and an evaluation; their mean, as numbers of 64 and of 32 bits.
constexpr int64_t kSums = 5;

// Calls use(dtype, sample, samples) for the inputs and labels of a model. sample: shape of one.
template <class Use>
void for_each_field(const ir::Graph& model, int64_t batch, const Use& use) {
  for (const ir::ValueData& data : model.values) {
    if (data.role != ir::Role::input && data.role != ir::Role::label) continue;
    const Shape shape = ir::with_batch(data.type.shape, batch);
    const std::vector<int64_t>& dims = shape.dims();
    const bool is_one = dims.empty();
    use(data.type.dtype, Shape(is_one ? dims : std::vector<int64_t>(dims.begin() + 1, dims.end())),
        is_one ? 1 : dims[0]);
  }
}

}  // namespace

int64_t pipeline_bytes(const ir::Graph& model, const TrainerOptions& options) {
  if (options.input_pipeline_bytes < 0) {
    throw Error("input_pipeline_bytes",
                fmt::format("expected 0 or more, got {}", options.input_pipeline_bytes));
  }
  if (options.input_pipeline_bytes > 0) return options.input_pipeline_bytes;
  int64_t bytes = 0;
  for_each_field(model, options.batch, [&](DType dtype, const Shape& sample, int64_t samples) {
    // Every sample of bool or i4 begins at a byte while it is read.
    bytes += plan::aligned(samples * size_bytes(dtype, sample));
  });
  return kBatches * bytes;
}

int64_t unpacked_bytes(const ir::Graph& model, int64_t batch) {
  int64_t bytes = 0;
  for_each_field(model, batch, [&](DType dtype, const Shape& sample, int64_t samples) {
    if (has_gaps(dtype, sample.elements())) bytes += samples * size_bytes(dtype, sample);
  });
  return bytes;
}

int64_t sums_bytes(const ir::Graph& model) {
  int64_t elements = 0;
  for (const auto& [name, id] : model.metrics) {
    const int64_t of_metric = model.type(id).shape.elements();
    if (of_metric > 1) elements += of_metric;
  }
  return kSums * static_cast<int64_t>(sizeof(double)) * elements;
}

}  // namespace thimble::train
