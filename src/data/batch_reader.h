// Reads the batches of an epoch into memory of the caller. Single-threaded.
#pragma once

#include <thimble/data_loader.h>

#include <cstddef>
#include <span>
#include <vector>

#include "data/sample_numbers.h"

namespace thimble::data {

// Of every field's buffer: the widest vector and a cache line.
inline constexpr int64_t kBatchAlignment = 64;

// Bytes of a loader of these beside the samples: batches, and the order of an epoch. Throws as
// Loader's constructor does.
[[nodiscard]] int64_t loader_bytes(const Dataset& dataset, const LoaderOptions& options);

// Batches of one epoch.
[[nodiscard]] int64_t batch_count(const Dataset& dataset, const LoaderOptions& options);

class BatchReader {
 public:
  // Throws as Loader's constructor does.
  BatchReader(Dataset dataset, LoaderOptions options);

  [[nodiscard]] const Dataset& dataset() const { return dataset_; }
  [[nodiscard]] const LoaderOptions& options() const { return options_; }
  [[nodiscard]] int64_t batches() const { return batch_count(dataset_, options_); }
  // Size of one batch's buffer, every field rounded up to the alignment.
  [[nodiscard]] int64_t batch_bytes() const;
  [[nodiscard]] int64_t order_bytes() const { return order_.bytes(); }

  // Points the batch's fields into a buffer of batch_bytes().
  void place(std::byte* buffer, Batch& batch) const;
  // Sets the order of the samples.
  void start(int64_t epoch);
  // Numbers a batch of the epoch: all but its fields.
  void describe(int64_t number, Batch& batch) const;
  // Reads batch `number` of the epoch into the batch's fields.
  void read(int64_t number, Batch& batch);
  // Reads samples first to first + count - 1 of a batch, one after another, to the place of each
  // field; null: it is not wanted.
  void read_rows(const Batch& batch, int64_t first, int64_t count, std::span<void* const> fields);

 private:
  // Of a field's place. Of one that is not wanted, a place for one sample.
  [[nodiscard]] void* row_of(std::span<void* const> fields, size_t field, int64_t row);

  Dataset dataset_;
  LoaderOptions options_;
  std::vector<int64_t> sample_bytes_;  // per field
  SampleNumbers order_;                // empty without shuffling
  std::vector<void*> row_;             // destinations of the sample being read
  std::vector<std::byte> unwanted_;    // samples of fields that are not wanted; empty: all are
  int64_t epoch_ = 0;
};

}  // namespace thimble::data
