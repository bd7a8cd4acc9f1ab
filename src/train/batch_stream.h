// Where a trainer's batches come from: a loader over a data set, or anything else that iterates.
#pragma once

#include <thimble/data_loader.h>

#include <cstdint>
#include <optional>
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
  // Memory of the input pipeline, samples that the data set holds counted in.
  [[nodiscard]] virtual int64_t bytes() const = 0;
  // Makes what it reads into take no more than so many bytes, from the next start on. Throws Error
  // where it cannot. What others hold, such as a data set in memory, is not counted.
  virtual void keep_to(int64_t /*bytes*/) {}
  // Gives back what it reads into, until the next start.
  virtual void release() {}
};

// Reads ahead as far as its options say and its memory allows.
class LoaderStream final : public BatchStream {
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
  [[nodiscard]] int64_t bytes() const override;
  void keep_to(int64_t bytes) override;
  void release() override { loader_.reset(); }

 private:
  data::Dataset dataset_;
  data::LoaderOptions options_;
  std::optional<data::Loader> loader_;  // from a start to a release
};

}  // namespace thimble::train
