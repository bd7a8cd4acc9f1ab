// Arrays of Python as data sets and as streams of batches.
#pragma once

#include <memory>

#include "bindings.h"
#include "train/batch_stream.h"

namespace thimble::python {

// Arrays with one sample per row. Keeps them alive; any thread may drop it.
class ArrayTable {
 public:
  // dtypes: of the fields, of which each array has NumPy's form: an i4 is an int8 there. Throws
  // Error where the arrays have other types, or different numbers of rows.
  ArrayTable(const std::vector<std::string>& names, const std::vector<InputArray>& arrays,
             const std::vector<bool>& is_label, const std::vector<std::string>& dtypes);
  ~ArrayTable();
  ArrayTable(const ArrayTable&) = delete;
  ArrayTable& operator=(const ArrayTable&) = delete;

  [[nodiscard]] int64_t size() const { return size_; }
  [[nodiscard]] const std::vector<data::Field>& fields() const { return fields_; }
  // Row `index` of field f. Needs no GIL.
  [[nodiscard]] const std::byte* row(size_t f, int64_t index) const {
    return data_[f] + index * row_bytes_[f];
  }
  [[nodiscard]] int64_t row_bytes(size_t f) const { return row_bytes_[f]; }

 private:
  std::vector<data::Field> fields_;
  std::vector<const std::byte*> data_;
  std::vector<int64_t> row_bytes_;
  std::unique_ptr<std::vector<InputArray>> arrays_;
  std::vector<std::vector<std::byte>> packed_;  // copies of booleans and of i4
  int64_t size_ = 0;
};

// Throws nb::python_error if a signal such as Ctrl-C is pending. Acquires the GIL.
void check_signals();

// Rows in order, `batch` at a time, without copying.
class ArrayStream final : public train::BatchStream {
 public:
  ArrayStream(std::shared_ptr<const ArrayTable> table, int64_t batch)
      : table_(std::move(table)), batch_size_(batch) {}
  [[nodiscard]] const std::vector<data::Field>& fields() const override { return table_->fields(); }
  [[nodiscard]] int64_t samples() const override { return table_->size(); }
  [[nodiscard]] int64_t batches() const override {
    return (table_->size() + batch_size_ - 1) / batch_size_;
  }
  void start(int64_t epoch, int64_t first_batch) override;
  [[nodiscard]] const data::Batch* next() override;
  [[nodiscard]] int64_t bytes() const override { return 0; }

 private:
  std::shared_ptr<const ArrayTable> table_;
  int64_t batch_size_;
  int64_t next_ = 0;
  data::Batch batch_;
};

// A loader's batches; Ctrl-C interrupts between two of them.
class InterruptibleStream final : public train::LoaderStream {
 public:
  using LoaderStream::LoaderStream;
  [[nodiscard]] const data::Batch* next() override {
    check_signals();
    return LoaderStream::next();
  }
};

// Batches from a Python iterator: `epoch()` returns a function that returns lists of arrays, one
// per field, and None at the end. Create and destroy it with the GIL; next acquires it.
class IterableStream final : public train::BatchStream {
 public:
  IterableStream(std::vector<data::Field> fields, nb::object epoch, int64_t batches)
      : fields_(std::move(fields)), epoch_(std::move(epoch)), batches_(batches) {}
  [[nodiscard]] const std::vector<data::Field>& fields() const override { return fields_; }
  [[nodiscard]] int64_t samples() const override { return 0; }
  [[nodiscard]] int64_t batches() const override { return batches_; }
  void start(int64_t epoch, int64_t first_batch) override;
  [[nodiscard]] const data::Batch* next() override;
  [[nodiscard]] int64_t bytes() const override { return 0; }

 private:
  void pull();
  void take(nb::handle arrays);

  std::vector<data::Field> fields_;
  nb::object epoch_;
  nb::object next_;
  std::vector<InputArray> arrays_;
  std::vector<std::vector<std::byte>> packed_;
  int64_t batches_;
  data::Batch batch_;
};

}  // namespace thimble::python
