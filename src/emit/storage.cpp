#include "emit/storage.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>

#include "emit/c_struct.h"

namespace thimble::emit {
namespace {

constexpr int64_t kStateAlignment = 8;

// Stored values that calls read or write.
std::set<int64_t> used_of(const program::Program& program) {
  std::set<int64_t> used;
  const auto use = [&](int id) {
    if (id >= 0 && program.tensor(id).place == program::Place::stored) {
      used.insert(program.tensor(id).at);
    }
  };
  for (const program::Call& call : program.calls) {
    for (const int id : call.inputs) use(id);
    for (const int id : call.outputs) use(id);
  }
  return used;
}

std::set<std::string> changed_of(const program::Program& program) {
  std::set<std::string> changed;
  for (const program::Call& call : program.calls) {
    for (const int id : call.outputs) {
      const program::Tensor& tensor = program.tensor(id);
      if (tensor.place != program::Place::stored) continue;
      changed.insert(*program.stored[static_cast<size_t>(tensor.at)].name);
    }
  }
  return changed;
}

}  // namespace

Storage::Storage(const Model& model) {
  if (model.train != nullptr) changed_ = changed_of(*model.train);
  for (const program::Program* const program : {model.train, model.predict}) {
    if (program != nullptr) add_program(*program, model);
  }
  if (!state_.empty()) {
    sizes_.state_bytes =
        (sizes_.state_bytes + kStateAlignment - 1) / kStateAlignment * kStateAlignment;
  }
}

void Storage::add_program(const program::Program& program, const Model& model) {
  sizes_.arena_bytes = std::max(sizes_.arena_bytes, program.arena_bytes);
  for (const int64_t at : used_of(program)) {
    const program::Stored& stored = program.stored[static_cast<size_t>(at)];
    const std::string& name = *stored.name;
    if (changed_.count(name) > 0) {
      if (state_of_.count(name) == 0) add_state(stored, model);
    } else if (frozen_.count(name) == 0) {
      frozen_[name] = add_constant(name, stored.type, model.initial(name));
    }
  }
  for (const program::Tensor& tensor : program.tensors) {
    if (tensor.place != program::Place::constant) continue;
    const std::byte* const contents = program.constants[static_cast<size_t>(tensor.at)].get();
    if (shared_.count(contents) > 0) continue;
    shared_[contents] =
        add_constant(*tensor.name, tensor.type, {contents, static_cast<size_t>(tensor.bytes())});
  }
}

void Storage::add_state(const program::Stored& stored, const Model& model) {
  StateEntry entry{.name = *stored.name, .type = stored.type};
  entry.offset = (sizes_.state_bytes + kStateAlignment - 1) / kStateAlignment * kStateAlignment;
  sizes_.state_bytes = entry.offset + size_bytes(stored.type.dtype, stored.type.shape);
  const std::span<const std::byte> initial = model.initial(entry.name);
  if (!is_all_zero(initial)) {
    entry.initial = add_constant(entry.name + ".initial", stored.type, initial).identifier;
  }
  state_of_[entry.name] = state_.size();
  state_.push_back(std::move(entry));
}

Storage::Constant Storage::add_constant(const std::string& name, const ir::TensorType& type,
                                        std::span<const std::byte> contents) {
  constexpr size_t kLine = 96;
  const Constant made{names_.identifier(name), c_type(type.dtype)};
  const auto each = static_cast<size_t>(scalar_bytes(made.type));
  const size_t count = contents.size() / each;
  sizes_.constant_bytes += static_cast<int64_t>(contents.size());
  constants_ += fmt::format("\n/* {} {} */\nstatic const {} {}[{}] = {{", name, ir::to_string(type),
                            made.type, made.identifier, std::max<size_t>(1, count));
  if (is_all_zero(contents)) {
    constants_ += "0};\n";
    return made;
  }
  std::string line;
  for (size_t i = 0; i < count; ++i) {
    std::string number = number_text(made.type, contents.subspan(i * each, each));
    number += i + 1 < count ? "," : "";
    if (line.size() + number.size() + 1 > kLine) constants_ += "\n   " + std::exchange(line, {});
    line += " " + number;
  }
  constants_ += "\n   " + line + "};\n";
  return made;
}

std::string Storage::address(const program::Program& program, const program::Tensor& tensor,
                             const std::string& type, bool is_const) const {
  const char* const qualifier = is_const ? "const " : "";
  const auto of_constant = [&](const Constant& constant) {
    if (constant.type == type) return constant.identifier;
    return fmt::format("(const {}*)(const void*){}", type, constant.identifier);
  };
  switch (tensor.place) {
    case program::Place::nowhere:
      return "NULL";
    case program::Place::arena:
      return fmt::format("ARENA({}{}, {})", qualifier, type, tensor.at);
    case program::Place::stored: {
      const std::string& name = *program.stored[static_cast<size_t>(tensor.at)].name;
      const auto in_state = state_of_.find(name);
      if (in_state != state_of_.end()) {
        return fmt::format("STATE({}{}, {})", qualifier, type, state_[in_state->second].offset);
      }
      const auto frozen = frozen_.find(name);
      if (frozen == frozen_.end()) throw Error(name, "is read by no call");
      return of_constant(frozen->second);
    }
    case program::Place::constant:
      return of_constant(shared_.at(program.constants[static_cast<size_t>(tensor.at)].get()));
  }
  return "NULL";
}

}  // namespace thimble::emit
