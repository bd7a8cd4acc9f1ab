#include "train/feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "ir/element.h"

namespace thimble::train {
namespace {

// The field for a source, or -1.
int matching_field(const ir::ValueData& source, const std::vector<data::Field>& fields,
                   bool only_source_of_its_kind) {
  const bool is_label = source.role == ir::Role::label;
  int of_kind = 0;
  int last_of_kind = -1;
  for (size_t f = 0; f < fields.size(); ++f) {
    if (fields[f].name == source.name) return static_cast<int>(f);
    if (fields[f].is_label == is_label) {
      ++of_kind;
      last_of_kind = static_cast<int>(f);
    }
  }
  return only_source_of_its_kind && of_kind == 1 ? last_of_kind : -1;
}

std::string field_names(const std::vector<data::Field>& fields) {
  std::string names;
  for (const data::Field& field : fields) {
    names += fmt::format("{}\"{}\" {}{}", names.empty() ? "" : ", ", field.name,
                         to_string(field.dtype), to_string(field.shape));
  }
  return names;
}

}  // namespace

Feed::Feed(const ir::Graph& model, BatchStream& stream, bool with_labels)
    : stream_(stream), places_(stream.fields().size(), nullptr) {
  const std::vector<data::Field>& fields = stream.fields();
  int inputs = 0;
  int labels = 0;
  for (const ir::ValueData& data : model.values) {
    inputs += data.role == ir::Role::input ? 1 : 0;
    labels += data.role == ir::Role::label ? 1 : 0;
  }
  for (const ir::ValueData& data : model.values) {
    const bool is_label = data.role == ir::Role::label;
    if (data.role != ir::Role::input && !(is_label && with_labels)) continue;
    const int f = matching_field(data, fields, (is_label ? labels : inputs) == 1);
    if (f < 0) {
      throw Error(data.name, fmt::format("the data set has no field for this {}; it has {}. Rename "
                                         "its fields with Dataset::named",
                                         ir::to_string(data.role), field_names(fields)));
    }
    const data::Field& field = fields[static_cast<size_t>(f)];
    const std::vector<int64_t>& dims = data.type.shape.dims();
    const Shape sample(std::vector<int64_t>(dims.begin() + 1, dims.end()));
    if (field.dtype != data.type.dtype || field.shape != sample) {
      throw Error(data.name, fmt::format("expected samples of {}{}, field \"{}\" has {}{}",
                                         to_string(data.type.dtype), to_string(sample), field.name,
                                         to_string(field.dtype), to_string(field.shape)));
    }
    links_.push_back({data.name, static_cast<size_t>(f), size_bytes(field.dtype, field.shape),
                      field.dtype, field.shape.elements()});
  }
  rows_.resize(links_.size());
}

void Feed::require_size(const Link& link, const MicroBatch& micro_batch,
                        std::span<const std::byte> destination) {
  const int64_t given = link.bytes(micro_batch.count);
  if (static_cast<int64_t>(destination.size()) == given) return;
  throw Error(link.source, fmt::format("the program takes {} bytes of this field, {} samples have "
                                       "{}; compile it for these samples",
                                       destination.size(), micro_batch.count, given));
}

void Feed::fill(const Link& link, const std::byte* samples, int64_t count,
                std::span<std::byte> destination) {
  if (!link.has_gaps()) {
    std::memcpy(destination.data(), samples, destination.size());
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    element_copy_ints(destination.data(), i * link.elements, samples + i * link.sample_bytes, 0,
                      static_cast<int>(link.dtype), link.elements);
  }
}

void Feed::copy(const data::Batch& batch, const MicroBatch& micro_batch,
                const exec::Session& session) {
  if (stream_.is_direct()) return read(batch, micro_batch, session);
  for (const Link& link : links_) {
    const std::span<std::byte> destination = session.source(link.source);
    if (destination.empty()) continue;  // the program does not read it
    require_size(link, micro_batch, destination);
    const auto* const samples = static_cast<const std::byte*>(batch.fields[link.field]);
    fill(link, samples + micro_batch.first * link.sample_bytes, micro_batch.count, destination);
  }
}

void Feed::read(const data::Batch& batch, const MicroBatch& micro_batch,
                const exec::Session& session) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  std::fill(places_.begin(), places_.end(), nullptr);
  for (size_t i = 0; i < links_.size(); ++i) {
    const Link& link = links_[i];
    const std::span<std::byte> destination = session.source(link.source);
    if (destination.empty()) continue;
    require_size(link, micro_batch, destination);
    places_[link.field] = destination.data();
    if (!link.has_gaps()) continue;
    rows_[i].resize(static_cast<size_t>(micro_batch.count * link.sample_bytes));
    places_[link.field] = rows_[i].data();
  }
  read_rows(batch, micro_batch, places_);
  for (const Link& link : links_) {  // an input and a label may share
    const std::span<std::byte> destination = session.source(link.source);
    if (destination.empty() || destination.data() == places_[link.field]) continue;
    fill(link, static_cast<const std::byte*>(places_[link.field]), micro_batch.count, destination);
  }
  reading_ms_ += std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void Feed::read_rows(const data::Batch& batch, const MicroBatch& micro_batch,
                     std::span<void* const> places) {
  try {
    stream_.read_rows(batch, micro_batch.first, micro_batch.count, places);
  } catch (const Error& error) {
    throw ReadError(error.where(), error.message());
  }
}

double Feed::take_reading_ms() { return std::exchange(reading_ms_, 0.0); }

const data::Batch& Feed::whole(const data::Batch& batch) {
  if (!stream_.is_direct()) return batch;
  const std::vector<data::Field>& fields = stream_.fields();
  contents_.resize(fields.size());
  whole_.number = batch.number;
  whole_.first = batch.first;
  whole_.count = batch.count;
  whole_.fields.resize(fields.size());
  for (size_t f = 0; f < fields.size(); ++f) {
    contents_[f].resize(
        static_cast<size_t>(batch.count * size_bytes(fields[f].dtype, fields[f].shape)));
    whole_.fields[f] = contents_[f].data();
  }
  read_rows(batch, {0, batch.count}, whole_.fields);
  return whole_;
}

void Feed::require_counted(const std::vector<IgnoredLabel>& ignored, const data::Batch& batch,
                           const MicroBatch& micro_batch, const exec::Session& session) const {
  for (const IgnoredLabel& label : ignored) {
    const std::span<const std::byte> bytes = session.source(label.source);
    const std::span numbers(reinterpret_cast<const int32_t*>(bytes.data()),
                            bytes.size() / sizeof(int32_t));
    const auto found = std::find(numbers.begin(), numbers.end(), static_cast<int32_t>(label.value));
    if (found == numbers.end()) continue;
    const auto each = static_cast<int64_t>(numbers.size()) / micro_batch.count;
    throw Error(label.source,
                fmt::format("holds {} in sample {} of batch {}, which the loss leaves out of its "
                            "mean; its micro-batches then have other weights than their numbers "
                            "of samples. Set micro_batches to 1, or leave such samples out",
                            label.value, micro_batch.first + (found - numbers.begin()) / each + 1,
                            batch.number + 1));
  }
}

void Feed::require_indices(const std::vector<IndexCheck>& checks, const data::Batch& given,
                           const std::string& consequence) {
  const data::Batch& batch = whole(given);
  for (const IndexCheck& check : checks) {
    const auto link = std::find_if(links_.begin(), links_.end(), [&check](const Link& known) {
      return known.source == check.source;
    });
    if (link == links_.end()) continue;
    const int64_t size = ir::with_batch(check.size, batch.count);
    const int64_t each = link->sample_bytes / static_cast<int64_t>(sizeof(int32_t));
    const auto* const numbers = static_cast<const int32_t*>(batch.fields[link->field]);
    for (int64_t i = 0; i < batch.count * each; ++i) {
      const int32_t number = numbers[i];
      if ((number >= 0 && number < size) || (check.ignored && number == *check.ignored)) continue;
      const std::string others =
          check.ignored ? fmt::format(", and {}, which it ignores", *check.ignored) : "";
      throw Error(link->source,
                  fmt::format("holds {} in sample {} of batch {}{}; {} takes 0 to {}{}. {}", number,
                              i / each + 1, batch.number + 1,
                              each == 1 ? "" : fmt::format(", element {}", i % each), check.op,
                              size - 1, others, consequence));
    }
  }
}

}  // namespace thimble::train
