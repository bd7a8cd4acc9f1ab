#include "train/batch_stream.h"

#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "data/batch_reader.h"

namespace thimble::train {

LoaderStream::LoaderStream(data::Dataset dataset, data::LoaderOptions options)
    : dataset_(std::move(dataset)), options_(std::move(options)) {
  static_cast<void>(data::loader_bytes(dataset_, options_));  // what makes no loader is said now
}

int64_t LoaderStream::batches() const { return data::batch_count(dataset_, options_); }

void LoaderStream::start(int64_t epoch, int64_t first_batch) {
  if (!loader_) loader_.emplace(dataset_, options_);
  loader_->start(epoch, first_batch);
}

const data::Batch* LoaderStream::next() { return loader_ ? loader_->next() : nullptr; }

int64_t LoaderStream::bytes() const {
  return dataset_.bytes() + data::loader_bytes(dataset_, options_);
}

void LoaderStream::keep_to(int64_t bytes) {
  data::LoaderOptions fitting = options_;
  while (fitting.prefetch > 0 && data::loader_bytes(dataset_, fitting) > bytes) --fitting.prefetch;
  const int64_t needed = data::loader_bytes(dataset_, fitting);
  if (needed > bytes) {
    throw Error(
        "memory budget",
        fmt::format("reading batches of {} takes {} bytes at least, for one batch{}; the budget "
                    "leaves {}. Set input_pipeline_bytes to {} or more, which keeps so many free, "
                    "or take a smaller batch",
                    options_.batch, needed,
                    options_.shuffle ? fmt::format(" and the order of {} samples", dataset_.size())
                                     : std::string(),
                    std::max<int64_t>(bytes, 0), needed));
  }
  if (fitting.prefetch == options_.prefetch) return;
  options_.prefetch = fitting.prefetch;
  loader_.reset();
}

}  // namespace thimble::train
