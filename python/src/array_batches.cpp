#include "array_batches.h"

#include <fmt/format.h>

#include <algorithm>

namespace thimble::python {

void check_signals() {
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

namespace {

Shape sample_shape(const InputArray& array) {
  const Shape all = shape_of(array);
  return Shape(std::vector<int64_t>(all.dims().begin() + 1, all.dims().end()));
}

// The type and shape of a row; throws where the array has none. wanted: the field's type, which an
// array cannot say of an i4 and of a bf16.
data::Field field_of(const std::string& name, const InputArray& array, bool is_label,
                     DType wanted) {
  if (array.ndim() == 0) throw Error(name, "expected one row a sample, got a single number");
  const bool is_bits = wanted == DType::bf16 && array.dtype() == numpy_dtype(DType::bf16);
  const DType held = is_bits ? DType::bf16 : dtype_of(array.dtype(), name);
  const bool is_nibble = wanted == DType::i4 && held == DType::i8;
  return {name, sample_shape(array), is_nibble ? wanted : held, is_label};
}

// The rows of an array as thimble holds them, each from a whole byte on; packed: memory for those
// that are packed.
const std::byte* rows_of(const InputArray& array, DType dtype,
                         std::vector<std::vector<std::byte>>& packed) {
  if (!is_packed(dtype)) return static_cast<const std::byte*>(array.data());
  const auto rows = static_cast<int64_t>(array.shape(0));
  const auto count = static_cast<int64_t>(array.size()) / std::max<int64_t>(rows, 1);
  const int64_t row_bytes = size_bytes(dtype, {count});
  packed.emplace_back(static_cast<size_t>(rows * row_bytes));
  const auto* const given = static_cast<const std::byte*>(array.data());
  for (int64_t row = 0; row < rows; ++row) {
    pack(dtype, packed.back().data() + row * row_bytes, given + row * count, count);
  }
  return packed.back().data();
}

}  // namespace

ArrayTable::ArrayTable(const std::vector<std::string>& names, const std::vector<InputArray>& arrays,
                       const std::vector<bool>& is_label, const std::vector<std::string>& dtypes)
    : arrays_(std::make_unique<std::vector<InputArray>>(arrays)) {
  for (size_t f = 0; f < arrays.size(); ++f) {
    const DType wanted = dtype_from(nb::str(dtypes[f].c_str()), names[f]);
    fields_.push_back(field_of(names[f], arrays[f], is_label[f], wanted));
    data_.push_back(rows_of(arrays[f], fields_[f].dtype, packed_));
    row_bytes_.push_back(size_bytes(fields_[f].dtype, fields_[f].shape));
    const auto rows = static_cast<int64_t>(arrays[f].shape(0));
    if (f > 0 && rows != size_) {
      throw Error(names[f], fmt::format("has {} samples, \"{}\" has {}", rows, names[0], size_));
    }
    size_ = rows;
  }
}

ArrayTable::~ArrayTable() {
  const nb::gil_scoped_acquire acquire;
  arrays_.reset();
}

void ArrayStream::start(int64_t /*epoch*/, int64_t first_batch) {
  next_ = first_batch;
  batch_.fields.assign(table_->fields().size(), nullptr);
}

const data::Batch* ArrayStream::next() {
  check_signals();
  const int64_t first = next_ * batch_size_;
  if (first >= table_->size()) return nullptr;
  batch_.number = next_++;
  batch_.first = first;
  batch_.count = std::min(batch_size_, table_->size() - first);
  for (size_t f = 0; f < batch_.fields.size(); ++f) {
    // Batches are read only.
    batch_.fields[f] = const_cast<std::byte*>(table_->row(f, first));
  }
  return &batch_;
}

void IterableStream::start(int64_t epoch, int64_t first_batch) {
  const nb::gil_scoped_acquire acquire;
  next_ = epoch_(epoch);
  batch_ = {};
  batch_.number = -1;
  for (int64_t skipped = 0; skipped < first_batch; ++skipped) pull();
}

const data::Batch* IterableStream::next() {
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  pull();
  return arrays_.empty() ? nullptr : &batch_;
}

void IterableStream::pull() {
  arrays_.clear();
  const nb::object arrays = next_();
  if (!arrays.is_none()) take(arrays);
}

void IterableStream::take(nb::handle arrays) {
  arrays_ = nb::cast<std::vector<InputArray>>(arrays);
  batch_.first += batch_.count;
  ++batch_.number;
  batch_.fields.clear();
  packed_.clear();
  for (size_t f = 0; f < fields_.size(); ++f) {
    const data::Field got =
        field_of(fields_[f].name, arrays_[f], fields_[f].is_label, fields_[f].dtype);
    const auto rows = static_cast<int64_t>(arrays_[f].shape(0));
    if (got != fields_[f]) {
      throw Error(got.name, fmt::format("the batches hold {}{}, one of them {}{}",
                                        to_string(fields_[f].dtype), to_string(fields_[f].shape),
                                        to_string(got.dtype), to_string(got.shape)));
    }
    if (f > 0 && rows != batch_.count) {
      throw Error(got.name, fmt::format("a batch has {} samples of it and {} of \"{}\"", rows,
                                        batch_.count, fields_[0].name));
    }
    batch_.count = rows;
    batch_.fields.push_back(const_cast<std::byte*>(rows_of(arrays_[f], got.dtype, packed_)));
  }
}

}  // namespace thimble::python
