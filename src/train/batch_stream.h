// Sources of a trainer's batches: a loader over a data set, or any other iterator.
#pragma once

#include <thimble/data_loader.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "data/batch_reader.h"
#include "exec/accounting.h"

namespace thimble::train {

// Epochs of batches. Thread safety: used from one thread.
class BatchStream {
 public:
  virtual ~BatchStream() = default;
  // The fields of every batch, one pointer per field.
  [[nodiscard]] virtual const std::vector<data::Field>& fields() const = 0;
  // Samples and batches of an epoch; 0 if unknown before its end.
  [[nodiscard]] virtual int64_t samples() const = 0;
  [[nodiscard]] virtual int64_t batches() const = 0;
  // Begins an epoch at one of its batches.
  virtual void start(int64_t epoch, int64_t first_batch) = 0;
  // The next batch, valid until the next call, or null at the end of the epoch. A batch may hold
  // fewer samples than the trainer's, never more.
  [[nodiscard]] virtual const data::Batch* next() = 0;
  // Whether batches have no memory: their fields are null, and read_rows reads them.
  [[nodiscard]] virtual bool is_direct() const { return false; }
  // Reads samples first to first + count - 1 of the batch that next returned, the same each time,
  // to one destination per field; null: the field is not wanted.
  virtual void read_rows(const data::Batch& /*batch*/, int64_t /*first*/, int64_t /*count*/,
                         std::span<void* const> /*fields*/) {}
  // Bytes of the input pipeline, with the samples that the data set holds.
  [[nodiscard]] virtual int64_t bytes() const = 0;
  // Limits the memory for reading to this many bytes, from the next start on. Throws Error if that
  // is too little. Memory held by others, such as a data set, is not counted.
  virtual void keep_to(int64_t /*bytes*/) {}
  // Frees the memory for reading until the next start.
  virtual void release() {}
};

// Whether samples of this type begin within a byte where they lie one after another.
[[nodiscard]] bool has_gaps(DType dtype, int64_t elements);

// Reads ahead as its options and its memory allow. Without memory for it, reads directly to the
// destination.
class LoaderStream : public BatchStream {
 public:
  // Throws as data::Loader's constructor does.
  LoaderStream(data::Dataset dataset, data::LoaderOptions options);
  [[nodiscard]] const std::vector<data::Field>& fields() const override {
    return dataset_.fields();
  }
  [[nodiscard]] int64_t samples() const override { return dataset_.size(); }
  [[nodiscard]] int64_t batches() const override;
  void start(int64_t epoch, int64_t first_batch) override;
  [[nodiscard]] const data::Batch* next() override;
  [[nodiscard]] bool is_direct() const override { return options_.prefetch == 0; }
  void read_rows(const data::Batch& batch, int64_t first, int64_t count,
                 std::span<void* const> fields) override;
  [[nodiscard]] int64_t bytes() const override;
  void keep_to(int64_t bytes) override;
  void release() override;

 private:
  // Reads batches directly to their destination, one after another.
  struct Direct {
    exec::Held held;
    data::BatchReader reader;
    data::Batch batch;
    int64_t next = 0;
  };
  data::Dataset dataset_;
  data::LoaderOptions options_;
  // One of the two is set between a start and a release.
  std::optional<data::Loader> loader_;
  std::optional<Direct> direct_;
};

// Bytes of such a stream beside the samples: the batch in use and those read ahead; if nothing is
// read ahead, rows of bool and i4 alone, which are read before their bits are packed; and the order
// of an epoch. Throws as data::Loader's constructor does.
[[nodiscard]] int64_t stream_bytes(const data::Dataset& dataset,
                                   const data::LoaderOptions& options);

}  // namespace thimble::train
