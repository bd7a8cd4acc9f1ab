#include "data/batch_reader.h"

#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "data/random.h"

namespace thimble::data {
namespace {

constexpr uint64_t kOrderStream = 1;
constexpr uint64_t kAugmentStream = 2;

void write_order(std::span<int64_t> order, uint64_t seed, int64_t epoch) {
  std::iota(order.begin(), order.end(), 0);
  shuffle(order, Random(key_of(kOrderStream, seed, epoch)));
}

}  // namespace

std::vector<int64_t> epoch_order(int64_t size, uint64_t seed, int64_t epoch) {
  if (size < 0) throw Error("epoch_order", fmt::format("size is {}", size));
  std::vector<int64_t> order(static_cast<size_t>(size));
  write_order(order, seed, epoch);
  return order;
}

BatchReader::BatchReader(Dataset dataset, LoaderOptions options)
    : dataset_(std::move(dataset)), options_(std::move(options)) {
  if (options_.batch < 1) {
    throw Error("loader", fmt::format("batch is {}; it must be at least 1", options_.batch));
  }
  if (options_.prefetch < 0) {
    throw Error("loader", fmt::format("prefetch is {}; it must be at least 0", options_.prefetch));
  }
  if (options_.drop_last && dataset_.size() < options_.batch) {
    throw Error("loader", fmt::format("{} samples make no batch of {}, and drop_last leaves out a "
                                      "smaller one",
                                      dataset_.size(), options_.batch));
  }
  for (const Field& field : dataset_.fields()) {
    sample_bytes_.push_back(size_bytes(field.dtype, field.shape));
  }
  if (options_.shuffle) order_.resize(static_cast<size_t>(dataset_.size()));
  row_.resize(sample_bytes_.size());
}

int64_t BatchReader::batches() const {
  const int64_t whole = dataset_.size() / options_.batch;
  const bool rest = dataset_.size() % options_.batch != 0;
  return whole + (rest && !options_.drop_last ? 1 : 0);
}

int64_t BatchReader::batch_bytes() const {
  int64_t sum = 0;
  for (const int64_t bytes : sample_bytes_) sum += field_bytes(bytes);
  return sum;
}

void BatchReader::place(std::byte* buffer, Batch& batch) const {
  for (const int64_t bytes : sample_bytes_) {
    batch.fields.push_back(buffer);
    buffer += field_bytes(bytes);
  }
}

void BatchReader::start(int64_t epoch) {
  epoch_ = epoch;
  if (options_.shuffle) write_order(order_, options_.seed, epoch);
}

void BatchReader::read(int64_t number, Batch& batch) {
  batch.number = number;
  batch.first = number * options_.batch;
  batch.count = std::min(options_.batch, dataset_.size() - batch.first);
  for (int64_t i = 0; i < batch.count; ++i) {
    for (size_t f = 0; f < row_.size(); ++f) row_[f] = row_of(batch, f, i);
    const int64_t position = batch.first + i;
    const int64_t index = options_.shuffle ? order_[static_cast<size_t>(position)] : position;
    dataset_.read(index, row_);
    const uint64_t random = key_of(kAugmentStream, options_.seed, epoch_, index);
    if (options_.training) dataset_.augment(random, row_);
    if (options_.augment) options_.augment(random, row_);
  }
  const int64_t missing = options_.batch - batch.count;
  for (size_t f = 0; f < row_.size(); ++f) {
    std::memset(row_of(batch, f, batch.count), 0, static_cast<size_t>(missing * sample_bytes_[f]));
  }
}

int64_t BatchReader::field_bytes(int64_t sample_bytes) const {
  return (options_.batch * sample_bytes + kBatchAlignment - 1) / kBatchAlignment * kBatchAlignment;
}

std::byte* BatchReader::row_of(const Batch& batch, size_t field, int64_t row) const {
  return static_cast<std::byte*>(batch.fields[field]) + row * sample_bytes_[field];
}

}  // namespace thimble::data
