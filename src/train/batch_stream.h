// Where a trainer's batches come from: a loader over a data set, or anything else that iterates.
#pragma once

#include <thimble/data_loader.h>

#include <cstdint>
#include <utility>
#include <vector>

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
  // Memory of the input pipeline.
  [[nodiscard]] virtual int64_t bytes() const = 0;
};

class LoaderStream final : public BatchStream {
 public:
  LoaderStream(const data::Dataset& dataset, data::LoaderOptions options)
      : loader_(dataset, std::move(options)) {}
  [[nodiscard]] const std::vector<data::Field>& fields() const override {
    return loader_.dataset().fields();
  }
  [[nodiscard]] int64_t samples() const override { return loader_.dataset().size(); }
  [[nodiscard]] int64_t batches() const override { return loader_.batches(); }
  void start(int64_t epoch, int64_t first_batch) override { loader_.start(epoch, first_batch); }
  [[nodiscard]] const data::Batch* next() override { return loader_.next(); }
  [[nodiscard]] int64_t bytes() const override { return loader_.bytes(); }

 private:
  data::Loader loader_;
};

}  // namespace thimble::train
