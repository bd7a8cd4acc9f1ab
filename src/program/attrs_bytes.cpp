#include "program/attrs_bytes.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <cmath>

#include "ir/sizes.h"

namespace thimble::program {
namespace {

// Numbers in attributes and shapes are far smaller; shape rules may multiply two of them.
constexpr int64_t kMost = ir::kMostAttribute;
constexpr DType kLastDType = DType::i4;
constexpr size_t kMostRank = ir::kMostRank;

// The batch is fixed, so every number counts as it is.
bool fits(int64_t number) { return number >= -kMost && number <= kMost; }

class Writer final : public ir::FieldVisitor {
 public:
  explicit Writer(ByteWriter& to) : to_(to) {}

  void field(const char* name, bool& value, const char*) override { begin(name).flag(value); }
  void field(const char* name, int64_t& value, const char*) override {
    begin(name);
    add(name, value);
  }
  void field(const char* name, double& value, const char*) override { begin(name).real(value); }
  void field(const char* name, Pair& value, const char*) override {
    begin(name);
    add(name, value.h);
    add(name, value.w);
  }
  void field(const char* name, Padding& p, const char*) override {
    begin(name).flag(p.automatic);
    for (const int64_t side : {p.top, p.bottom, p.left, p.right}) add(name, side);
  }
  void field(const char* name, std::vector<int64_t>& value, const char*) override {
    begin(name).number(static_cast<int64_t>(value.size()));
    for (const int64_t number : value) {
      if (number == ir::kToEnd) {
        to_.number(number);
      } else {
        add(name, number);
      }
    }
  }
  void field(const char* name, Shape& value, const char*) override {
    begin(name).number(value.rank());
    for (const int64_t dim : value.dims()) add(name, dim);
  }
  void field(const char* name, DType& value, const char*) override {
    begin(name).number(static_cast<int64_t>(value));
  }
  void choice(const char* name, int& value, std::span<const char* const> names,
              const char*) override {
    begin(name).text(names[static_cast<size_t>(value)]);
  }

 private:
  ByteWriter& begin(const char* name) {
    to_.text(name);
    return to_;
  }
  void add(const char* name, int64_t number) {
    if (!fits(number)) throw Error(name, ir::out_of_range(number));
    to_.number(number);
  }
  ByteWriter& to_;
};

class Reader final : public ir::FieldVisitor {
 public:
  explicit Reader(ByteReader& from) : from_(from) {}

  void field(const char* name, bool& value, const char*) override {
    begin(name);
    value = from_.flag(name);
  }
  void field(const char* name, int64_t& value, const char*) override {
    begin(name);
    value = from_.number(name, -kMost, kMost);
  }
  void field(const char* name, double& value, const char*) override {
    begin(name);
    value = from_.real(name);
  }
  void field(const char* name, Pair& value, const char*) override {
    begin(name);
    value.h = from_.number(name, -kMost, kMost);
    value.w = from_.number(name, -kMost, kMost);
  }
  void field(const char* name, Padding& p, const char*) override {
    begin(name);
    p.automatic = from_.flag(name);
    for (int64_t* const side : {&p.top, &p.bottom, &p.left, &p.right}) {
      *side = from_.number(name, -kMost, kMost);
    }
  }
  void field(const char* name, std::vector<int64_t>& value, const char*) override {
    begin(name);
    value = from_.numbers(name, -kMost, ir::kToEnd);
    if (value.size() > kMostRank * kMostRank) from_.fail(name, "has too many numbers");
    for (const int64_t number : value) {
      if (number != ir::kToEnd && !fits(number)) from_.fail(name, ir::out_of_range(number));
    }
  }
  void field(const char* name, Shape& value, const char*) override {
    begin(name);
    // An attribute may leave a size open, as -1.
    value = Shape(from_.numbers(name, -kMost, kMost));
    if (value.rank() > static_cast<int>(kMostRank)) from_.fail(name, "has too many dimensions");
  }
  void field(const char* name, DType& value, const char*) override {
    begin(name);
    value = read_dtype(name, from_);
  }
  void choice(const char* name, int& value, std::span<const char* const> names,
              const char*) override {
    begin(name);
    const std::string chosen = from_.text(name);
    const auto found = std::find(names.begin(), names.end(), chosen);
    if (found == names.end()) from_.fail(name, fmt::format("is \"{}\", no choice of it", chosen));
    value = static_cast<int>(found - names.begin());
  }

 private:
  void begin(const char* name) {
    const std::string there = from_.text("an attribute's name");
    if (there != name) {
      from_.fail("an attribute", fmt::format("is \"{}\", expected \"{}\"", there, name));
    }
  }
  ByteReader& from_;
};

}  // namespace

void write_attrs(const ir::Attrs& attrs, ByteWriter& to) {
  Writer writer(to);
  attrs.visit(writer);
}

ir::Attrs read_attrs(const ir::AttrSchema* schema, ByteReader& from) {
  Reader reader(from);
  return ir::Attrs::defaults(schema).changed(reader);
}

DType read_dtype(const char* field, ByteReader& from) {
  return static_cast<DType>(from.number(field, 0, static_cast<int64_t>(kLastDType)));
}

Shape read_shape(const char* field, ByteReader& from) {
  std::vector<int64_t> dims = from.numbers(field, 0, kMost);
  if (dims.size() > kMostRank) from.fail(field, "has too many dimensions");
  return Shape(std::move(dims));
}

void write_type(const ir::TensorType& type, ByteWriter& to) {
  to.number(static_cast<int64_t>(type.dtype));
  to.numbers(type.shape.dims());
  to.flag(type.quantization != nullptr);
  if (!type.quantization) return;
  const Quantization& q = *type.quantization;
  to.number(static_cast<int64_t>(q.scales.size()));
  for (const float scale : q.scales) to.real(static_cast<double>(scale));
  to.number(static_cast<int64_t>(q.zero_points.size()));
  for (const int32_t zero : q.zero_points) to.number(zero);
  to.number(q.axis.value_or(-1));
}

ir::TensorType read_type(ByteReader& from, int64_t most_elements) {
  ir::TensorType type;
  type.dtype = read_dtype("element type", from);
  type.shape = read_shape("shape", from);
  int64_t elements = 1;
  for (const int64_t dim : type.shape.dims()) {
    if (dim > 0 && elements > most_elements / dim) from.fail("shape", "has too many elements");
    elements *= dim;
  }
  if (!from.flag("whether a tensor is quantized")) return type;
  Quantization q;
  q.scales.resize(from.count("scales", 8));
  for (float& scale : q.scales) scale = static_cast<float>(from.real("a scale"));
  q.zero_points.resize(from.count("zero points", 8));
  for (int32_t& zero : q.zero_points) {
    zero = static_cast<int32_t>(from.number("a zero point", INT32_MIN, INT32_MAX));
  }
  const int64_t axis = from.number("axis of scales", -1, kMostRank);
  if (axis >= 0) q.axis = static_cast<int>(axis);
  type.quantization = std::make_shared<const Quantization>(std::move(q));
  const std::string wrong = ir::quantization_error(type);
  if (!wrong.empty()) from.fail("quantization", "is none: " + wrong);
  return type;
}

}  // namespace thimble::program
