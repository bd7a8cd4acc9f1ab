#include "data/batch_reader.h"

#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "data/random.h"
#include "ir/sizes.h"

namespace thimble::data {
namespace {

constexpr uint64_t kOrderStream = 1;
constexpr uint64_t kAugmentStream = 2;

Random order_of(uint64_t seed, int64_t epoch) { return Random(key_of(kOrderStream, seed, epoch)); }

int64_t aligned_bytes(int64_t batch, int64_t sample_bytes) {
  return (batch * sample_bytes + kBatchAlignment - 1) / kBatchAlignment * kBatchAlignment;
}

void check(const Dataset& dataset, const LoaderOptions& options) {
  if (options.batch < 1) {
    throw Error("loader", fmt::format("batch is {}; it must be at least 1", options.batch));
  }
  if (options.prefetch < 0) {
    throw Error("loader", fmt::format("prefetch is {}; it must be at least 0", options.prefetch));
  }
  // So that no number of bytes overflows, for all batches that are read ahead together.
  constexpr int64_t kMostBytes = int64_t{1} << 50;
  const int64_t most = kMostBytes / (int64_t{options.prefetch} + 1) / options.batch;
  for (const Field& field : dataset.fields()) {
    if (ir::bounded_elements(field.shape) <= most / 8) continue;
    throw Error("loader",
                fmt::format("{} batches of {} samples of \"{}\" {}{} take more bytes than "
                            "any memory has; take a smaller batch",
                            int64_t{options.prefetch} + 1, options.batch, field.name,
                            to_string(field.dtype), to_string(field.shape)));
  }
  if (options.drop_last && dataset.size() < options.batch) {
    throw Error("loader", fmt::format("{} samples make no batch of {}, and drop_last leaves out a "
                                      "smaller one",
                                      dataset.size(), options.batch));
  }
}

}  // namespace

std::vector<int64_t> epoch_order(int64_t size, uint64_t seed, int64_t epoch) {
  if (size < 0) throw Error("epoch_order", fmt::format("size is {}", size));
  std::vector<int64_t> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  shuffle(std::span(order), order_of(seed, epoch));
  return order;
}

int64_t loader_bytes(const Dataset& dataset, const LoaderOptions& options) {
  check(dataset, options);
  int64_t batch = 0;
  for (const Field& field : dataset.fields()) {
    batch += aligned_bytes(options.batch, size_bytes(field.dtype, field.shape));
  }
  const int64_t order = options.shuffle ? SampleNumbers::bytes(dataset.size(), dataset.size()) : 0;
  return (options.prefetch + 1) * batch + order;
}

int64_t batch_count(const Dataset& dataset, const LoaderOptions& options) {
  const int64_t whole = dataset.size() / options.batch;
  const bool rest = dataset.size() % options.batch != 0;
  return whole + (rest && !options.drop_last ? 1 : 0);
}

BatchReader::BatchReader(Dataset dataset, LoaderOptions options)
    : dataset_(std::move(dataset)), options_(std::move(options)) {
  check(dataset_, options_);
  for (const Field& field : dataset_.fields()) {
    sample_bytes_.push_back(size_bytes(field.dtype, field.shape));
  }
  if (options_.shuffle) order_ = SampleNumbers(dataset_.size(), dataset_.size());
  row_.resize(sample_bytes_.size());
}

int64_t BatchReader::batch_bytes() const {
  int64_t sum = 0;
  for (const int64_t bytes : sample_bytes_) sum += aligned_bytes(options_.batch, bytes);
  return sum;
}

void BatchReader::place(std::byte* buffer, Batch& batch) const {
  for (const int64_t bytes : sample_bytes_) {
    batch.fields.push_back(buffer);
    buffer += aligned_bytes(options_.batch, bytes);
  }
}

void BatchReader::start(int64_t epoch) {
  epoch_ = epoch;
  if (options_.shuffle) order_.fill_shuffled(order_of(options_.seed, epoch));
}

void BatchReader::describe(int64_t number, Batch& batch) const {
  batch.number = number;
  batch.first = number * options_.batch;
  batch.count = std::min(options_.batch, dataset_.size() - batch.first);
}

void BatchReader::read(int64_t number, Batch& batch) {
  describe(number, batch);
  read_rows(batch, 0, batch.count, batch.fields);
  const int64_t missing = options_.batch - batch.count;
  for (size_t f = 0; f < row_.size(); ++f) {
    std::memset(row_of(batch.fields, f, batch.count), 0,
                static_cast<size_t>(missing * sample_bytes_[f]));
  }
}

void BatchReader::read_rows(const Batch& batch, int64_t first, int64_t count,
                            std::span<void* const> fields) {
  for (int64_t i = 0; i < count; ++i) {
    for (size_t f = 0; f < row_.size(); ++f) row_[f] = row_of(fields, f, i);
    const int64_t position = batch.first + first + i;
    const int64_t index = options_.shuffle ? order_[position] : position;
    dataset_.read(index, row_);
    const uint64_t random = key_of(kAugmentStream, options_.seed, epoch_, index);
    if (options_.training) dataset_.augment(random, row_);
    if (options_.augment) options_.augment(random, row_);
  }
}

void* BatchReader::row_of(std::span<void* const> fields, size_t field, int64_t row) {
  if (fields[field] != nullptr) {
    return static_cast<std::byte*>(fields[field]) + row * sample_bytes_[field];
  }
  if (unwanted_.empty()) {
    int64_t bytes = 0;
    for (const int64_t sample : sample_bytes_) bytes += aligned_bytes(1, sample);
    unwanted_.resize(static_cast<size_t>(bytes));
  }
  std::byte* place = unwanted_.data();
  for (size_t f = 0; f < field; ++f) place += aligned_bytes(1, sample_bytes_[f]);
  return place;
}

}  // namespace thimble::data
