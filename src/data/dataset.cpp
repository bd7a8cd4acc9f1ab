#include <thimble/data.h>
#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/sample_numbers.h"

namespace thimble::data {
namespace {

class SubsetSource : public Source {
 public:
  SubsetSource(std::shared_ptr<const Source> whole, SampleNumbers samples)
      : whole_(std::move(whole)), samples_(std::move(samples)) {}
  int64_t size() const override { return samples_.size(); }
  const std::vector<Field>& fields() const override { return whole_->fields(); }
  void read(int64_t index, std::span<void* const> out) const override {
    whole_->read(samples_[index], out);
  }
  void augment(uint64_t random, std::span<void* const> fields) const override {
    whole_->augment(random, fields);
  }
  int64_t bytes() const override { return whole_->bytes() + samples_.bytes(); }

 private:
  std::shared_ptr<const Source> whole_;
  SampleNumbers samples_;
};

class FirstSource : public Source {
 public:
  FirstSource(std::shared_ptr<const Source> whole, int64_t size)
      : whole_(std::move(whole)), size_(size) {}
  int64_t size() const override { return size_; }
  const std::vector<Field>& fields() const override { return whole_->fields(); }
  void read(int64_t index, std::span<void* const> out) const override { whole_->read(index, out); }
  void augment(uint64_t random, std::span<void* const> fields) const override {
    whole_->augment(random, fields);
  }
  int64_t bytes() const override { return whole_->bytes(); }

 private:
  std::shared_ptr<const Source> whole_;
  int64_t size_;
};

class NamedSource : public Source {
 public:
  NamedSource(std::shared_ptr<const Source> source, std::vector<Field> fields)
      : source_(std::move(source)), fields_(std::move(fields)) {}
  int64_t size() const override { return source_->size(); }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(int64_t index, std::span<void* const> out) const override { source_->read(index, out); }
  void augment(uint64_t random, std::span<void* const> fields) const override {
    source_->augment(random, fields);
  }
  int64_t bytes() const override { return source_->bytes(); }

 private:
  std::shared_ptr<const Source> source_;
  std::vector<Field> fields_;
};

void check_field(const std::vector<Field>& fields, size_t f) {
  const Field& field = fields[f];
  const std::string where = fmt::format("dataset field {} \"{}\"", f, field.name);
  if (field.name.empty()) throw Error(where, "has no name; give it one");
  for (size_t other = 0; other < f; ++other) {
    if (fields[other].name == field.name) throw Error(where, "has the name of another field");
  }
  for (const int64_t dim : field.shape.dims()) {
    if (dim < 1) {
      throw Error(where, fmt::format("has shape {}; every dimension must be at least 1",
                                     to_string(field.shape)));
    }
  }
}

}  // namespace

Dataset::Dataset(std::shared_ptr<const Source> source) : source_(std::move(source)) {
  if (!source_) throw Error("dataset", "has no source");
  if (source_->size() < 1) throw Error("dataset", "holds no samples");
  if (fields().empty()) throw Error("dataset", "has no fields");
  for (size_t f = 0; f < fields().size(); ++f) check_field(fields(), f);
}

void Dataset::read(int64_t index, std::span<void* const> out) const {
  if (index < 0 || index >= size()) {
    throw Error("dataset", fmt::format("sample {} asked for; there are {}", index, size()));
  }
  if (out.size() != fields().size()) {
    throw Error("dataset", fmt::format("read into {} destinations; there are {} fields", out.size(),
                                       fields().size()));
  }
  source_->read(index, out);
}

Dataset Dataset::take(int64_t n) const {
  if (n < 1) throw Error("dataset", fmt::format("take({}): at least one sample is needed", n));
  if (n >= size()) return *this;
  return Dataset(std::make_shared<FirstSource>(source_, n));
}

Dataset Dataset::subset(std::vector<int64_t> indices) const {
  SampleNumbers samples(static_cast<int64_t>(indices.size()), size());
  int64_t at = 0;
  for (const int64_t index : indices) {
    if (index < 0 || index >= size()) {
      throw Error("dataset", fmt::format("subset names sample {}; there are {}", index, size()));
    }
    samples.set(at++, index);
  }
  return Dataset(std::make_shared<SubsetSource>(source_, std::move(samples)));
}

std::pair<Dataset, Dataset> Dataset::split(double validation_fraction, uint64_t seed) const {
  if (!(validation_fraction > 0 && validation_fraction < 1) || size() < 2) {
    throw Error("dataset", fmt::format("split({}) of {} samples: a fraction inside 0..1 and two "
                                       "samples are needed",
                                       validation_fraction, size()));
  }
  std::vector<int64_t> indices(static_cast<size_t>(size()));
  std::iota(indices.begin(), indices.end(), 0);
  constexpr uint64_t kSplitStream = 0x5b117;  // independent of the epochs' orders
  shuffle(std::span(indices), Random(key_of(kSplitStream, seed)));
  const auto wanted = std::llround(validation_fraction * static_cast<double>(size()));
  const auto count = std::clamp<int64_t>(wanted, 1, size() - 1);
  std::vector<int64_t> validation(indices.begin(), indices.begin() + count);
  std::vector<int64_t> training(indices.begin() + count, indices.end());
  std::sort(validation.begin(), validation.end());
  std::sort(training.begin(), training.end());
  return {subset(std::move(training)), subset(std::move(validation))};
}

Dataset Dataset::named(const std::vector<std::string>& names) const {
  std::vector<Field> renamed = fields();
  if (names.size() != renamed.size()) {
    throw Error("dataset",
                fmt::format("{} names given for {} fields", names.size(), renamed.size()));
  }
  for (size_t f = 0; f < names.size(); ++f) renamed[f].name = names[f];
  return Dataset(std::make_shared<NamedSource>(source_, std::move(renamed)));
}

}  // namespace thimble::data
