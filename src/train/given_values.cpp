#include "train/given_values.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>

#include "exec/finite.h"
#include "program/bytes.h"

namespace thimble::train {
namespace {

bool takes_values(const ir::ValueData& data) {
  return data.producer < 0 && (data.role == ir::Role::parameter || data.role == ir::Role::state);
}

}  // namespace

GivenValues::GivenValues(ir::Graph& graph) {
  for (ir::ValueData& data : graph.values) {
    if (!takes_values(data) || data.data->elements() == 0) continue;
    values_.emplace_back(*data.name, *data.data);
    data.data = {};
  }
}

namespace {

// Reads the values of a file one after another.
class Reading {
 public:
  explicit Reading(const GivenValues::InFile& file)
      : file_(file), stream_(file.path, std::ios::binary) {
    stream_.seekg(file.offset);
  }
  void next(std::span<std::byte> to) {
    stream_.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size()));
    if (!stream_) fail();
    sum_ = program::checksum(to, sum_);
  }
  void finish() const {
    if (sum_ != file_.checksum) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(file_.path,
                "cannot be read any more, or was changed since it was opened; copy or "
                "compile it again");
  }
  const GivenValues::InFile& file_;
  std::ifstream stream_;
  uint64_t sum_ = program::kFirstChecksum;
};

}  // namespace

void GivenValues::write_to(exec::Store& store) const {
  for (const auto& [name, values] : values_) {
    const exec::Store::Entry* const entry = store.find(name);
    if (entry == nullptr) continue;  // no compiled program reads it
    store.overwrite(*entry, [&values = values](std::span<std::byte> to) {
      std::memcpy(to.data(), values.bytes().data(), to.size());
    });
  }
  if (file_.bytes.empty()) return;
  Reading reading(file_);
  std::string not_finite;
  for (const auto& [name, bytes] : file_.bytes) {
    const exec::Store::Entry* const entry = store.find(name);
    if (entry == nullptr || size_bytes(entry->type.dtype, entry->type.shape) != bytes) {
      throw Error(file_.path, fmt::format("has no fitting values for {}", name));
    }
    bool is_finite = true;
    store.overwrite(*entry, [&](std::span<std::byte> to) {
      reading.next(to);
      is_finite = exec::is_finite(entry->type, to);
    });
    if (!is_finite && not_finite.empty()) not_finite = name;
  }
  reading.finish();  // damage is the more likely reason
  if (not_finite.empty()) return;
  throw Error(file_.path,
              fmt::format("begins with a value of \"{}\" that is not finite: it would make every "
                          "loss not finite; compile it from a model with finite weights",
                          not_finite));
}

void GivenValues::for_each(
    const std::function<void(const std::string& name, std::span<const std::byte>)>& visit) const {
  for (const auto& [name, values] : values_) visit(name, values.bytes());
  if (file_.bytes.empty()) return;
  Reading reading(file_);
  std::vector<std::byte> held;
  for (const auto& [name, bytes] : file_.bytes) {
    held.resize(static_cast<size_t>(bytes));
    reading.next(held);
    visit(name, held);
  }
  reading.finish();
}

void GivenValues::require_finite() const {
  for (const auto& [name, values] : values_) {
    if (exec::is_finite({values.dtype(), values.shape()}, values.bytes())) continue;
    throw Error(name,
                "begins with a value that is not finite: it would make every loss not finite; load "
                "a model file or weights that are finite, or initial ones");
  }
}

void GivenValues::require_all(const ir::Graph& graph) const {
  std::set<std::string_view> names;
  for (const auto& [name, values] : values_) names.insert(name);
  for (const ir::ValueData& data : graph.values) {
    if (!takes_values(data) || data.type.shape.elements() == 0 || names.count(*data.name) > 0) {
      continue;
    }
    throw Error(*data.name,
                "the graph has no values for it; load_model gives those of a model "
                "file, load_weights those of a checkpoint");
  }
}

}  // namespace thimble::train
