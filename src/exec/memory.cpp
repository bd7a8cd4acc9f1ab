#include "exec/memory.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "plan/arena.h"

namespace thimble::exec {
void Block::Free::operator()(std::byte* data) const {
  ::operator delete (data, std::align_val_t{static_cast<size_t>(plan::kAlignment)});
}

Block::Block(int64_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  const auto size = static_cast<size_t>(bytes);
  data_.reset(static_cast<std::byte*>(
      ::operator new (size, std::align_val_t{static_cast<size_t>(plan::kAlignment)})));
  std::memset(data_.get(), 0, size);
}

Store::Store(const std::vector<const ir::Graph*>& graphs) {
  for (const ir::Graph* graph : graphs) {
    for (const ir::ValueData& data : graph->values) {
      if (data.producer >= 0 || !ir::is_persistent(data.role)) continue;
      if (data.role == ir::Role::constant) continue;
      const auto [known, is_new] = index_.emplace(data.name, entries_.size());
      if (is_new) {
        entries_.push_back({data.name, data.role, data.type, data.init, nullptr});
      } else if (entries_[known->second].type != data.type) {
        throw Error(data.name, "has different types in two programs of one model");
      }
    }
  }
  int64_t bytes = 0;
  std::vector<int64_t> offsets;
  for (const Entry& entry : entries_) {
    offsets.push_back(bytes);
    bytes += plan::aligned(size_bytes(entry.type.dtype, entry.type.shape));
  }
  block_ = Block(bytes);
  for (size_t i = 0; i < entries_.size(); ++i) {
    entries_[i].data = block_.data() + offsets[i];
  }
}

const Store::Entry* Store::find(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &entries_[found->second];
}

void Store::initialize(uint64_t seed) {
  for (Entry& entry : entries_) {
    if (entry.type.dtype != DType::f32) {
      const int64_t bytes = size_bytes(entry.type.dtype, entry.type.shape);
      std::memset(entry.data, 0, static_cast<size_t>(bytes));
      continue;
    }
    fill_initial(entry.init, entry.name, seed, entry.type.shape,
                 reinterpret_cast<float*>(entry.data));
  }
}

}  // namespace thimble::exec
