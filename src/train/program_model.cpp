#include "train/program_model.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>

#include "program/attrs_bytes.h"

namespace thimble::train {
namespace {

constexpr int64_t kMostValueBytes = int64_t{1} << 40;

// Bytes of parameters and states, by their names.
std::map<std::string, int64_t> stored_bytes(const TrainingProgram& training) {
  std::map<std::string, int64_t> bytes;
  for (const auto& [key, program] : training.programs) {
    for (const program::Stored& stored : program.stored) {
      bytes[*stored.name] = size_bytes(stored.type.dtype, stored.type.shape);
    }
  }
  return bytes;
}

// Finds constants of programs by their contents. Files are hostile: of many constants of one size,
// none is compared with all others.
class KnownConstants {
 public:
  using Range = std::span<const program::PooledConstant* const>;

  explicit KnownConstants(const std::vector<program::PooledConstant>& pool) {
    for (const program::PooledConstant& known : pool) of_size_[known.bytes].push_back(&known);
    for (auto& [bytes, constants] : of_size_) {
      std::sort(constants.begin(), constants.end(), [size = bytes](const auto* a, const auto* b) {
        return compare(*a, 0, {b->contents.get(), static_cast<size_t>(size)}) < 0;
      });
    }
  }

  [[nodiscard]] Range of_size(int64_t bytes) const {
    const auto known = of_size_.find(bytes);
    return known == of_size_.end() ? Range() : Range(known->second);
  }
  // Those of a range, equal up to an offset, that have these bytes there.
  [[nodiscard]] static Range with(Range range, size_t offset, std::span<const std::byte> bytes) {
    const auto first = std::partition_point(range.begin(), range.end(), [&](const auto* known) {
      return compare(*known, offset, bytes) < 0;
    });
    const auto last = std::partition_point(
        first, range.end(), [&](const auto* known) { return compare(*known, offset, bytes) == 0; });
    return {first, last};
  }

 private:
  static int compare(const program::PooledConstant& known, size_t offset,
                     std::span<const std::byte> bytes) {
    return bytes.empty() ? 0
                         : std::memcmp(known.contents.get() + offset, bytes.data(), bytes.size());
  }

  std::map<int64_t, std::vector<const program::PooledConstant*>> of_size_;  // by contents
};

// A constant of the model. Compares it with those of programs while it is read, so that an equal
// one never lies in memory twice.
Array read_constant(const ir::TensorType& type, const KnownConstants& pool,
                    std::vector<std::shared_ptr<const void>>& owners, program::ByteReader& from) {
  constexpr const char* kField = "a constant of the model";
  const auto size = static_cast<size_t>(size_bytes(type.dtype, type.shape));
  from.require(kField, static_cast<int64_t>(size));
  KnownConstants::Range equal = pool.of_size(static_cast<int64_t>(size));
  std::array<std::byte, 4096> part{};
  std::vector<std::byte> bytes;  // of one that no program has
  size_t done = 0;
  while (!equal.empty() && done < size) {
    const std::span<std::byte> now = std::span(part).first(std::min(part.size(), size - done));
    from.raw(kField, now);
    const program::PooledConstant& before = *equal.front();
    equal = KnownConstants::with(equal, done, now);
    if (equal.empty()) {
      bytes.resize(size);
      std::copy_n(before.contents.get(), done, bytes.begin());
      std::copy(now.begin(), now.end(), bytes.begin() + static_cast<std::ptrdiff_t>(done));
    }
    done += now.size();
  }
  if (!equal.empty() && size > 0) {
    owners.push_back(equal.front()->contents);
    return Array::view(type.dtype, type.shape, {equal.front()->contents.get(), size});
  }
  bytes.resize(size);
  from.raw(kField, std::span(bytes).subspan(done));
  return Array::of_bytes(type.dtype, type.shape, std::move(bytes));
}

}  // namespace

std::vector<std::byte> model_bytes(const io::ModelParts& model) {
  program::ByteWriter to;
  to.number(static_cast<int64_t>(model.graph.size()));
  to.raw(std::as_bytes(std::span(model.graph)));
  to.number(static_cast<int64_t>(model.constants.size()));
  for (const auto& [name, values] : model.constants) {
    to.text(name);
    program::write_type({values.dtype(), values.shape()}, to);
    to.raw(values.bytes());
  }
  return to.bytes();
}

io::ModelParts read_model_parts(program::ByteReader& from,
                                const std::vector<program::PooledConstant>& pool) {
  constexpr size_t kLeastConstant = 4 * 8;
  io::ModelParts model;
  const int64_t size = from.number("bytes of the graph", 0, kMostValueBytes);
  from.require("the graph", size);
  model.graph.resize(static_cast<size_t>(size));
  from.raw("the graph", std::as_writable_bytes(std::span(model.graph)));
  const KnownConstants known(pool);
  const size_t count = from.count("constants of the model", kLeastConstant);
  for (size_t i = 0; i < count; ++i) {
    std::string name = from.name("name of a constant");
    const ir::TensorType type = program::read_type(from);
    model.constants.emplace_back(std::move(name), read_constant(type, known, model.owners, from));
  }
  if (!from.at_end()) from.fail("the model", "is followed by something else");
  return model;
}

ValueSection value_section(const TrainingProgram& training) {
  const std::map<std::string, int64_t> stored = stored_bytes(training);
  ValueSection made;
  training.given.for_each([&](const std::string& name, std::span<const std::byte> bytes) {
    if (stored.count(name) == 0) return;  // nothing of what was compiled reads it
    made.bytes.emplace_back(name, static_cast<int64_t>(bytes.size()));
    made.section.insert(made.section.end(), bytes.begin(), bytes.end());
  });
  return made;
}

void write_value_sizes(const ValueSizes& values, program::ByteWriter& to) {
  to.number(static_cast<int64_t>(values.size()));
  for (const auto& [name, bytes] : values) {
    to.text(name);
    to.number(bytes);
  }
}

ValueSizes read_value_sizes(program::ByteReader& from) {
  ValueSizes values(from.count("initial values", 2 * 8));
  for (auto& [name, bytes] : values) {
    name = from.text("name of an initial value");
    bytes = from.number("bytes of an initial value", 0, kMostValueBytes);
  }
  return values;
}

void check_values(const TrainingProgram& training, const ValueSizes& values, int64_t section_bytes,
                  const std::string& file) {
  const std::map<std::string, int64_t> stored = stored_bytes(training);
  std::set<std::string> names;
  int64_t all = 0;
  for (const auto& [name, bytes] : values) {
    const auto known = stored.find(name);
    if (known != stored.end() && known->second == bytes && names.insert(name).second) {
      all += bytes;
      continue;
    }
    throw Error(file,
                fmt::format("has initial values of {} bytes for \"{}\", which is no parameter "
                            "or state of that size, or stands there twice; the file was put "
                            "together wrongly: compile it again",
                            bytes, name));
  }
  if (all == section_bytes) return;
  throw Error(file, fmt::format("has {} bytes of initial values, expected {}; the file was put "
                                "together wrongly: compile it again",
                                section_bytes, all));
}

}  // namespace thimble::train
