#include "exec/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <map>
#include <new>
#include <string_view>

#include "exec/mapped.h"
#include "exec/swap_file.h"
#include "ir/element.h"
#include "ir/mapped.h"
#include "plan/arena.h"

namespace thimble::exec {
void Block::Free::operator()(std::byte* data) const {
  ::operator delete (data, std::align_val_t{static_cast<size_t>(plan::kAlignment)});
}

Block::Block(int64_t bytes) : held_(bytes), bytes_(bytes) {
  if (bytes == 0) return;
  const auto size = static_cast<size_t>(bytes);
  data_.reset(static_cast<std::byte*>(
      ::operator new (size, std::align_val_t{static_cast<size_t>(plan::kAlignment)})));
  std::memset(data_.get(), 0, size);
}

Store::Store(const std::vector<const program::Program*>& programs,
             const std::set<std::string>& in_file) {
  std::vector<program::Stored> wanted;
  for (const program::Program* const program : programs) {
    wanted.insert(wanted.end(), program->stored.begin(), program->stored.end());
  }
  hold(wanted, in_file, true);
}

Store::Store(const std::vector<const ir::Graph*>& graphs) {
  std::vector<program::Stored> wanted;
  for (const ir::Graph* const graph : graphs) {
    for (const ir::ValueData& data : graph->values) {
      if (data.producer >= 0 || !ir::is_persistent(data.role)) continue;
      if (data.role == ir::Role::constant) continue;
      wanted.push_back(
          {data.name, data.role, data.type, data.init, data.sums_gradients, data.average_of});
    }
  }
  hold(wanted, {}, false);
}

void Store::hold(const std::vector<program::Stored>& wanted, const std::set<std::string>& in_file,
                 bool maps) {
  std::map<std::string_view, size_t> known;
  for (const program::Stored& stored : wanted) {
    const auto [same, is_new] = known.emplace(stored.name, entries_.size());
    if (is_new) {
      entries_.push_back({stored.name, stored.role, stored.type, stored.init, nullptr, -1,
                          stored.sums_gradients, Mapping::none, stored.average_of});
    } else if (entries_[same->second].type != stored.type) {
      throw Error(stored.name, "has different types in two programs of one model");
    }
  }
  entries_.shrink_to_fit();
  by_name_.reserve(known.size());
  for (const auto& [name, number] : known) by_name_.push_back(static_cast<uint32_t>(number));
  int64_t bytes = 0;
  std::vector<int64_t> offsets;
  for (Entry& entry : entries_) {
    offsets.push_back(bytes);
    const auto swapped = in_file.find(entry.name);
    if (swapped != in_file.end()) {
      entry.slot = static_cast<int>(std::distance(in_file.begin(), swapped));
      continue;
    }
    if (maps && ir::is_mapped(entry.role, entry.type)) {
      entry.mapping = Mapping::zeros;
      continue;
    }
    bytes += plan::aligned(size_bytes(entry.type.dtype, entry.type.shape));
  }
  block_ = Block(bytes);
  for (size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    if (entry.slot >= 0) continue;
    entry.data = block_.data() + offsets[i];
    if (!entry.is_mapped()) continue;
    const std::shared_ptr<std::byte> zeros = map_zeros(entry.bytes());
    entry.data = zeros.get();
    owners_[i] = zeros;
  }
}

void Store::map(const Entry& entry, std::shared_ptr<const void> owner,
                std::span<const std::byte> contents) {
  if (!entry.is_mapped() || contents.size() != entry.bytes()) {
    throw Error(entry.name, fmt::format("has {} bytes and cannot be mapped to {}", entry.bytes(),
                                        contents.size()));
  }
  const auto at = static_cast<size_t>(&entry - entries_.data());
  // Nothing writes to it: kernels only read parameters of such types, and overwrite refuses.
  entries_[at].data = const_cast<std::byte*>(contents.data());
  entries_[at].mapping = Mapping::model_file;
  owners_[at] = std::move(owner);
  last_read_ = nullptr;
  changed();
}

const Store::Entry* Store::find(const std::string& name) const {
  const auto found =
      std::lower_bound(by_name_.begin(), by_name_.end(), name,
                       [&](uint32_t at, const std::string& n) { return entries_[at].name < n; });
  return found == by_name_.end() || entries_[*found].name != name ? nullptr : &entries_[*found];
}

const Store::Entry* Store::find_average(const std::string& parameter) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.average_of == parameter;
  });
  return found == entries_.end() ? nullptr : &*found;
}

void Store::attach(SwapFile* file, std::span<std::byte> bounce) {
  file_ = file;
  bounce_ = bounce;
}

std::span<std::byte> Store::room(const Entry& entry) const {
  if (entry.slot < 0) return {entry.data, entry.bytes()};
  if (bounce_.size() < entry.bytes()) {
    throw Error(entry.name, fmt::format("lies in the swap file and passes through {} bytes, but "
                                        "only {} are there",
                                        entry.bytes(), bounce_.size()));
  }
  return bounce_.first(entry.bytes());
}

void Store::require_done(const Entry& entry) const {
  if (!file_->wait(entry.slot)) throw Error("swap file", file_->error());
}

std::span<const std::byte> Store::read(const Entry& entry) const {
  if (last_read_ != nullptr) drop_pages({last_read_->data, last_read_->bytes()});
  last_read_ = entry.is_mapped() ? &entry : nullptr;
  const std::span<std::byte> bytes = room(entry);
  if (entry.slot < 0) return bytes;
  file_->start_read(entry.slot, bytes.data(), static_cast<int64_t>(bytes.size()));
  require_done(entry);
  return bytes;
}

void Store::put(const Entry& entry) {
  if (entry.is_mapped()) drop_pages({entry.data, entry.bytes()});
  if (entry.slot < 0) return;
  file_->start_write(entry.slot, bounce_.data(), static_cast<int64_t>(entry.bytes()));
  require_done(entry);
}

namespace {

// Of another type than f32: whole numbers are drawn as those of f32 are, and rounded down.
void fill_other(const Store::Entry& entry, uint64_t seed, std::span<std::byte> bytes) {
  if (entry.init.kind == Initializer::Kind::constant || is_floating(entry.type.dtype)) {
    fill_constant(entry.type, entry.init.a, bytes);
    return;
  }
  std::vector<float> drawn(static_cast<size_t>(entry.type.shape.elements()));
  fill_initial(entry.init, entry.name, seed, entry.type.shape, drawn.data());
  for (size_t i = 0; i < drawn.size(); ++i) {
    element_store_int(bytes.data(), static_cast<int>(entry.type.dtype), static_cast<int64_t>(i),
                      element_int_of(std::floor(static_cast<double>(drawn[i]))));
  }
}

}  // namespace

void Store::make_writable(const Entry& entry) {
  if (entry.mapping == Mapping::model_file) {
    throw Error(entry.name,
                "lies in the model file, which is mapped read-only, and cannot be set; change it "
                "there, or import the model with weights of f32");
  }
  if (entry.mapping != Mapping::zeros) return;
  const std::span<std::byte> zeros(entry.data, entry.bytes());
  const std::string why_not = put_in_file(zeros, folder_);
  if (!why_not.empty()) {
    if (needs_folder_) {
      throw Error(entry.name,
                  "is a frozen weight, which the memory budget does not count because it lies in a "
                  "file; that " +
                      why_not);
    }
    put_in_memory(zeros);
    held_.emplace_back(static_cast<int64_t>(entry.bytes()));
  }
  entries_[static_cast<size_t>(&entry - entries_.data())].mapping = Mapping::own;
}

void Store::initialize(uint64_t seed) {
  for (const Entry& entry : entries_) {
    // Zeros already, or of the model file.
    if (entry.is_mapped() && entry.mapping != Mapping::own &&
        entry.init.kind == Initializer::Kind::constant && entry.init.a == 0.0) {
      continue;
    }
    overwrite(entry, [&](std::span<std::byte> bytes) {
      if (entry.type.dtype != DType::f32) {
        fill_other(entry, seed, bytes);
        return;
      }
      fill_initial(entry.init, entry.name, seed, entry.type.shape,
                   reinterpret_cast<float*>(bytes.data()));
    });
  }
}

}  // namespace thimble::exec
