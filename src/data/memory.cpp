// Data sets from the program itself: arrays and callbacks.
#include <thimble/error.h>

#include <fmt/format.h>

#include "data/array.h"

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

DType dtype_of(Element element) {
  switch (element) {
    case Element::f32:
      return DType::f32;
    case Element::i32:
      return DType::i32;
    default:
      return DType::u8;
  }
}

// The values as rows of field.shape.
Column column_of(Field field, Values values) {
  return std::visit(
      [&](auto& elements) {
        const std::string where = fmt::format("in_memory field \"{}\"", field.name);
        const auto size = static_cast<int64_t>(elements.size());
        const int64_t sample = field.shape.elements();
        if (sample < 1 || size % sample != 0) {
          throw Error(where, fmt::format("{} values are not whole samples of shape {}", size,
                                         to_string(field.shape)));
        }
        std::vector<int64_t> dims = field.shape.dims();
        dims.insert(dims.begin(), size / sample);
        Array array = make_array(std::move(elements), Shape(std::move(dims)));
        if (dtype_of(array.element) != field.dtype) {
          throw Error(where, fmt::format("is {}, but its values are {}", to_string(field.dtype),
                                         to_string(dtype_of(array.element))));
        }
        return Column{std::move(field), std::move(array)};
      },
      values);
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
  std::vector<Column> columns;
  for (size_t f = 0; f < fields.size(); ++f) {
    columns.push_back(column_of(std::move(fields[f]), std::move(values[f])));
    const int64_t rows = columns.back().array.rows();
    if (rows != columns.front().array.rows()) {
      throw Error(fmt::format("in_memory field \"{}\"", columns.back().field.name),
                  fmt::format("holds {} samples, but \"{}\" holds {}", rows,
                              columns.front().field.name, columns.front().array.rows()));
    }
  }
  return array_dataset(std::move(columns));
}

}  // namespace thimble::data
