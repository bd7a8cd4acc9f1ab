// Where a trainer's batches come from: a loader over a data set, or anything else that iterates.
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
  // What every batch holds, one pointer a field.
  [[nodiscard]] virtual const std::vector<data::Field>& fields() const = 0;
  // Samples and batches of an epoch; 0 where nobody knows before its end.
  [[nodiscard]] virtual int64_t samples() const = 0;
  [[nodiscard]] virtual int64_t batches() const = 0;
  // Begins an epoch at one of its batches.
  virtual void start(int64_t epoch, int64_t first_batch) = 0;
  // The next batch, valid until the next call, or null at the end of the epoch. A batch may hold
  // fewer samples than the trainer's, never more.
  [[nodiscard]] virtual const data::Batch* next() = 0;
  // Whether batches lie nowhere: their fields are null, and read_rows reads them.
  [[nodiscard]] virtual bool is_direct() const { return false; }
  // Reads samples first to first + count - 1 of what next returned, the same each time, to one
  // place a field; null: it is not wanted.
  virtual void read_rows(const data::Batch& /*batch*/, int64_t /*first*/, int64_t /*count*/,
                         std::span<void* const> /*fields*/) {}
  // Memory of the input pipeline, samples that the data set holds counted in.
  [[nodiscard]] virtual int64_t bytes() const = 0;
  // Makes what it reads into take no more than so many bytes, from the next start on. Throws Error
  // where it cannot. What others hold, such as a data set in memory, is not counted.
  virtual void keep_to(int64_t /*bytes*/) {}
  // Gives back what it reads into, until the next start.
  virtual void release() {}
};

// Reads ahead as far as its options say and its memory allows; where that is nothing, straight to
// where samples are wanted.
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
  // Reads batches where they are wanted, one after another.
  struct Direct {
    exec::Held held;
    data::BatchReader reader;
    data::Batch batch;
    int64_t next = 0;
  };
  data::Dataset dataset_;
  data::LoaderOptions options_;
  // Either of them from a start to a release.
  std::optional<data::Loader> loader_;
  std::optional<Direct> direct_;
};

// What a stream of these takes beside the samples: batches read ahead and the one in use, none
// where none is read ahead; and the order of an epoch. Throws as data::Loader's constructor does.
[[nodiscard]] int64_t stream_bytes(const data::Dataset& dataset,
                                   const data::LoaderOptions& options);

}  // namespace thimble::train
