#include "train/batch_stream.h"

#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "data/batch_reader.h"

namespace thimble::train {

int64_t stream_bytes(const data::Dataset& dataset, const data::LoaderOptions& options) {
  const int64_t read_ahead = data::loader_bytes(dataset, options);  // also throws
  if (options.prefetch > 0) return read_ahead;
  int64_t bytes = options.shuffle ? data::SampleNumbers::bytes(dataset.size(), dataset.size()) : 0;
  for (const data::Field& field : dataset.fields()) {
    if (!has_gaps(field.dtype, field.shape.elements())) continue;
    bytes += options.batch * size_bytes(field.dtype, field.shape);
  }
  return bytes;
}

bool has_gaps(DType dtype, int64_t elements) { return elements * bits(dtype) % 8 != 0; }

LoaderStream::LoaderStream(data::Dataset dataset, data::LoaderOptions options)
    : dataset_(std::move(dataset)), options_(std::move(options)) {
  static_cast<void>(
      data::loader_bytes(dataset_, options_));  // throws now if the options are invalid
}

int64_t LoaderStream::batches() const { return data::batch_count(dataset_, options_); }

void LoaderStream::start(int64_t epoch, int64_t first_batch) {
  if (!is_direct()) {
    if (!loader_) loader_.emplace(dataset_, options_);
    loader_->start(epoch, first_batch);
    return;
  }
  if (!direct_) {
    exec::Held held(stream_bytes(dataset_, options_));
    direct_.emplace(Direct{std::move(held), data::BatchReader(dataset_, options_), {}, 0});
    direct_->batch.fields.assign(dataset_.fields().size(), nullptr);
  }
  direct_->reader.start(epoch);
  direct_->next = first_batch;
}

const data::Batch* LoaderStream::next() {
  if (loader_) return loader_->next();
  if (!direct_ || direct_->next >= batches()) return nullptr;
  direct_->reader.describe(direct_->next++, direct_->batch);
  return &direct_->batch;
}

void LoaderStream::read_rows(const data::Batch& batch, int64_t first, int64_t count,
                             std::span<void* const> fields) {
  direct_->reader.read_rows(batch, first, count, fields);
}

void LoaderStream::release() {
  loader_.reset();
  direct_.reset();
}

int64_t LoaderStream::bytes() const { return dataset_.bytes() + stream_bytes(dataset_, options_); }

void LoaderStream::keep_to(int64_t bytes) {
  data::LoaderOptions fitting = options_;
  while (fitting.prefetch > 0 && stream_bytes(dataset_, fitting) > bytes) --fitting.prefetch;
  const int64_t needed = stream_bytes(dataset_, fitting);
  if (needed > bytes) {
    throw Error("memory budget",
                fmt::format("reading {} samples takes {} bytes; the budget leaves {}. Set "
                            "input_pipeline_bytes to {} or more, which keeps so many free, or "
                            "do not shuffle; a program is compiled for a number of samples",
                            dataset_.size(), needed, std::max<int64_t>(bytes, 0), needed));
  }
  if (fitting.prefetch == options_.prefetch) return;
  options_.prefetch = fitting.prefetch;
  release();
}

}  // namespace thimble::train
