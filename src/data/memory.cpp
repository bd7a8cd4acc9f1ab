// Data sets from the program itself: arrays and callbacks.
#include <fmt/format.h>
#include <thimble/data.h>
#include <thimble/error.h>

#include <cstring>

#include "ir/element.h"

namespace thimble::data {
namespace {

class GeneratorSource : public Source {
 public:
  GeneratorSource(int64_t size, std::vector<Field> fields, Fill fill)
      : size_(size), fields_(std::move(fields)), fill_(std::move(fill)) {}
  int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(int64_t index, std::span<void* const> out) const override { fill_(index, out); }

 private:
  int64_t size_;
  std::vector<Field> fields_;
  Fill fill_;
};

// Arrays whose first dimension counts the samples.
class MemorySource : public Source {
 public:
  MemorySource(std::vector<Field> fields, std::vector<Values> values)
      : fields_(std::move(fields)), values_(std::move(values)) {}
  int64_t size() const override { return values_.empty() ? 0 : values_.front().shape()[0]; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(int64_t index, std::span<void* const> out) const override {
    for (size_t f = 0; f < fields_.size(); ++f) {
      const Field& field = fields_[f];
      const auto bytes = static_cast<size_t>(size_bytes(field.dtype, field.shape));
      const int64_t each = field.shape.elements();
      if (each * bits(field.dtype) % 8 != 0) {  // the sample begins within a byte
        std::memset(out[f], 0, bytes);
        element_copy_ints(out[f], 0, values_[f].bytes().data(), index * each,
                          static_cast<int>(field.dtype), each);
        continue;
      }
      std::memcpy(out[f], values_[f].bytes().data() + static_cast<size_t>(index) * bytes, bytes);
    }
  }
  int64_t bytes() const override {
    int64_t sum = 0;
    for (const Values& values : values_) sum += static_cast<int64_t>(values.bytes().size());
    return sum;
  }

 private:
  std::vector<Field> fields_;
  std::vector<Values> values_;
};

// The values as rows of field.shape.
Values rows_of(const Field& field, const Values& values) {
  const std::string where = fmt::format("in_memory field \"{}\"", field.name);
  const int64_t size = values.elements();
  const int64_t sample = field.shape.elements();
  if (values.dtype() != field.dtype) {
    throw Error(where, fmt::format("is {}, but its values are {}; convert them with Array::cast",
                                   to_string(field.dtype), to_string(values.dtype())));
  }
  if (sample < 1 || size % sample != 0) {
    throw Error(where, fmt::format("{} values are not whole samples of shape {}", size,
                                   to_string(field.shape)));
  }
  std::vector<int64_t> dims = field.shape.dims();
  dims.insert(dims.begin(), size / sample);
  const Shape rows(std::move(dims));
  if (values.shape().rank() != 1 && values.shape() != rows) {
    throw Error(where,
                fmt::format("its samples are {}, but its values are {}: give {}",
                            to_string(field.shape), to_string(values.shape()), to_string(rows)));
  }
  return values.reshaped(rows);
}

}  // namespace

Dataset generator(int64_t size, std::vector<Field> fields, Fill fill) {
  if (!fill) throw Error("generator", "has no callback");
  return Dataset(std::make_shared<GeneratorSource>(size, std::move(fields), std::move(fill)));
}

Dataset in_memory(std::vector<Field> fields, std::vector<Values> values) {
  if (fields.size() != values.size()) {
    throw Error("in_memory",
                fmt::format("{} fields, but {} arrays of values", fields.size(), values.size()));
  }
  for (size_t f = 0; f < fields.size(); ++f) {
    values[f] = rows_of(fields[f], values[f]);
    const int64_t rows = values[f].shape()[0];
    if (rows != values.front().shape()[0]) {
      throw Error(fmt::format("in_memory field \"{}\"", fields[f].name),
                  fmt::format("holds {} samples, but \"{}\" holds {}", rows, fields.front().name,
                              values.front().shape()[0]));
    }
  }
  return Dataset(std::make_shared<MemorySource>(std::move(fields), std::move(values)));
}

}  // namespace thimble::data
