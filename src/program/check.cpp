#include "program/check.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "ir/mapped.h"
#include "plan/arena.h"
#include "plan/transfer_ops.h"
#include "program/in_flight.h"
#include "program/regions.h"

namespace thimble::program {
namespace {

// One kernel's own indices are 32 bits wide.
constexpr int64_t kMostElements = INT32_MAX;
constexpr int64_t kMostFileBytes = int64_t{1} << 48;

std::string tensor_error(const Program& program, const Tensor& tensor) {
  int64_t elements = 1;
  for (const int64_t dim : tensor.type.shape.dims()) {
    if (dim < 0 || dim > kMostElements) return "has a dimension out of range";
    elements *= dim;
    if (elements > kMostElements) return "has too many elements";
  }
  const auto is_within = [&](size_t count) {
    return tensor.at >= 0 && tensor.at < static_cast<int64_t>(count);
  };
  switch (tensor.place) {
    case Place::nowhere:
      return "";
    case Place::arena:
      if (tensor.at < 0 || tensor.at % plan::kAlignment != 0 ||
          tensor.at > program.arena_bytes - tensor.bytes()) {
        return fmt::format("lies at {} of an arena of {} bytes", tensor.at, program.arena_bytes);
      }
      return "";
    case Place::stored: {
      if (!is_within(program.stored.size())) return "is no parameter or state of the program";
      const Stored& stored = program.stored[static_cast<size_t>(tensor.at)];
      if (stored.type != tensor.type || stored.name != *tensor.name) {
        return "is not of the type or name of its parameter or state";
      }
      return "";
    }
    case Place::constant:
      if (!is_within(program.constants.size())) return "is no constant of the program";
      return tensor.is_source ? "" : "is a constant that is computed";
  }
  return "lies nowhere that is known";
}

// Plays the calls of a step over who owns which bytes.
class Play {
 public:
  explicit Play(const Program& program)
      : program_(program),
        in_flight_(program.slot_bytes.empty() ? std::span<const Tensor>() : program.tensors),
        group_(program.tensors.size()),
        is_written_(program.tensors.size()) {}

  std::string error() {
    for (size_t id = 0; id < group_.size(); ++id) {
      const Tensor& tensor = program_.tensors[id];
      group_[id] = static_cast<int>(id);
      is_written_[id] = tensor.is_source;
      if (tensor.is_source) own(static_cast<int>(id));
    }
    for (size_t n = 0; n < program_.calls.size(); ++n) {
      const std::string wrong = play(program_.calls[n], n);
      if (!wrong.empty()) {
        return fmt::format("call {} ({}) {}", n, program_.calls[n].op->name, wrong);
      }
    }
    if (const Tensor* const moved = in_flight_.any()) {
      return fmt::format("ends while \"{}\" is on its way to or from the swap file", moved->name);
    }
    for (const int id : program_.results()) {
      if (!is_number(id)) return fmt::format("result {} is no tensor", id);
      if (!is_there(id)) return fmt::format("the result \"{}\" is gone at the end", name(id));
    }
    return "";
  }

 private:
  [[nodiscard]] bool is_number(int id) const {
    return id >= 0 && id < static_cast<int>(program_.tensors.size());
  }
  [[nodiscard]] std::string name(int id) const { return *program_.tensor(id).name; }
  [[nodiscard]] int group(int id) const { return group_[static_cast<size_t>(id)]; }
  void own(int id) {
    const Tensor& tensor = program_.tensor(id);
    if (tensor.place == Place::arena) {
      regions_.write(tensor.at, tensor.at + tensor.bytes(), group(id));
    }
  }
  [[nodiscard]] bool is_there(int id) const {
    const Tensor& tensor = program_.tensor(id);
    if (!is_written_[static_cast<size_t>(id)]) return false;
    if (tensor.place == Place::arena) {
      return regions_.holds(tensor.at, tensor.at + tensor.bytes(), group(id));
    }
    if (tensor.place != Place::stored) return tensor.place == Place::constant;
    return program_.in_file.count(*program_.stored[static_cast<size_t>(tensor.at)].name) == 0;
  }
  [[nodiscard]] static bool has(const std::vector<ir::Alias>& aliases, const Call& call, size_t out,
                                int in) {
    return std::any_of(aliases.begin(), aliases.end(), [&](const ir::Alias& alias) {
      return static_cast<size_t>(alias.out) == out &&
             static_cast<size_t>(alias.in) < call.inputs.size() &&
             call.inputs[static_cast<size_t>(alias.in)] == in;
    });
  }
  [[nodiscard]] bool is_same_place(int a, int b) const {
    const Tensor& one = program_.tensor(a);
    const Tensor& other = program_.tensor(b);
    return one.place == other.place && one.at == other.at && one.bytes() == other.bytes();
  }
  // Whether the op says that it can write this output over what it reads there.
  [[nodiscard]] bool may_lie_on(const Call& call, size_t out, int in) const {
    // A kernel that is not elementwise may still read another argument after it has written.
    const auto reads = std::count(call.inputs.begin(), call.inputs.end(), in);
    if (has(call.op->memory.updates, call, out, in)) return true;
    if (has(call.op->memory.in_place, call, out, in))
      return reads == 1 || call.op->flow.elementwise;
    // Another view of the same bytes.
    return std::any_of(call.inputs.begin(), call.inputs.end(), [&](int other) {
      return other >= 0 && other != in && group(other) == group(in) &&
             has(call.op->memory.in_place, call, out, other) && call.op->flow.elementwise;
    });
  }

  // Numbers that pointers are made of.
  [[nodiscard]] std::string number_error(const Call& call) const {
    if (call.inputs.size() < (call.tiled ? call.op->signature.inputs.size() : 0)) {
      return "has too few inputs";
    }
    for (const int id : call.inputs) {
      if (id != -1 && !is_number(id)) return fmt::format("reads {}, which is no tensor", id);
    }
    for (const int id : call.outputs) {
      if (!is_number(id)) return fmt::format("writes {}, which is no tensor", id);
    }
    return "";
  }

  // Whether the executor has room for the loop, and the gradient's kernel can compute its tiles.
  static bool is_loop(const Call& call, const Resolved& sizes) {
    const plan::TiledLoop& loop = sizes.tiled->loop;
    const auto is_small = [](const ir::Params& params) {
      return static_cast<int64_t>(params.bytes().size()) <= plan::kMostTiledParams;
    };
    const int64_t step = sizes.tiled->op->memory.part.rows(loop.gradient);
    return is_small(loop.gradient) && is_small(loop.update) &&
           call.op->signature.inputs.size() <= plan::kMostTiledInputs &&
           call.outputs.size() <= plan::kMostTiledInputs && step > 0 &&
           sizes.tiled->rows % step == 0;
  }

  // The error by which the op's definition refuses the call; empty: none.
  [[nodiscard]] std::string size_error(const Call& call) const {
    Resolved sizes;
    try {
      sizes = resolve(program_, call);
    } catch (const Error& error) {
      return fmt::format("does not fit its op: {}", error.what());
    }
    if (sizes.tiled && !is_loop(call, sizes)) return "is no tiled update that can be run";
    if (sizes.workspace_bytes > call.workspace_bytes) {
      return fmt::format(
          "needs {} bytes of workspace here and has {}; compile the program on a "
          "machine of this kind",
          sizes.workspace_bytes, call.workspace_bytes);
    }
    if (call.workspace_bytes < 0 || call.workspace_bytes > program_.arena_bytes) {
      return "has a workspace of no possible size";
    }
    if (call.workspace < 0) return call.workspace_bytes == 0 ? "" : "has a workspace nowhere";
    if (call.workspace % plan::kAlignment != 0 ||
        call.workspace > program_.arena_bytes - call.workspace_bytes) {
      return fmt::format("has its workspace at {} of an arena of {} bytes", call.workspace,
                         program_.arena_bytes);
    }
    return "";
  }

  [[nodiscard]] std::string slot_error(const Call& call) const {
    if (!plan::is_transfer(*call.op)) return "";
    const plan::SwapAttrs& attrs = call.attrs.as<plan::SwapAttrs>();
    if (attrs.slot < 0 || attrs.slot >= static_cast<int64_t>(program_.slot_bytes.size())) {
      return fmt::format("uses slot {} of {} of the swap file", attrs.slot,
                         program_.slot_bytes.size());
    }
    const int64_t room = program_.slot_bytes[static_cast<size_t>(attrs.slot)];
    for (const std::vector<int>* const ids : {&call.inputs, &call.outputs}) {
      for (const int id : *ids) {
        if (id >= 0 && program_.tensor(id).bytes() > room) {
          return fmt::format("moves {} bytes to or from a slot of {}", program_.tensor(id).bytes(),
                             room);
        }
      }
    }
    return "";
  }

  // The memory of a transfer must be left alone until it is awaited; a write to the file allows
  // reading it.
  std::string transfer_error(const Call& call) {
    const bool is_transfer = plan::is_transfer(*call.op);
    const int64_t slot = is_transfer ? call.attrs.as<plan::SwapAttrs>().slot : -1;
    if (plan::waits_for_swap(*call.op)) in_flight_.await(slot);
    const auto disturbs = [](const char* what, const Tensor& by, const Tensor& moved) {
      return fmt::format(
          "{} \"{}\" while the memory of \"{}\" is on its way to or from the swap file", what,
          by.name, moved.name);
    };
    for (const int id : call.inputs) {
      if (id < 0) continue;
      const Tensor& tensor = program_.tensor(id);
      const Tensor* const moved = in_flight_.disturbed_by_read(tensor);
      if (moved != nullptr) return disturbs("reads", tensor, *moved);
    }
    Tensor workspace;
    workspace.name = std::string("its workspace");
    workspace.type = {DType::u8, {call.workspace_bytes}};
    workspace.place = call.workspace < 0 ? Place::nowhere : Place::arena;
    workspace.at = call.workspace;
    std::vector<const Tensor*> written{&workspace};
    for (const int id : call.outputs) written.push_back(&program_.tensor(id));
    for (const Tensor* const tensor : written) {
      const Tensor* const moved = in_flight_.disturbed_by_write(*tensor);
      if (moved != nullptr && tensor->place != Place::nowhere) {
        return disturbs("writes", *tensor, *moved);
      }
    }
    if (!is_transfer || plan::waits_for_swap(*call.op)) return "";
    for (const int id : call.inputs) {
      if (id >= 0) in_flight_.begin(program_.tensor(id), slot, false);
    }
    for (const int id : call.outputs) in_flight_.begin(program_.tensor(id), slot, true);
    return "";
  }

  // Updates and views share the memory of an input.
  [[nodiscard]] std::string sharing_error(const Call& call) const {
    for (const ir::Alias& update : call.op->memory.updates) {
      const auto out = static_cast<size_t>(update.out);
      const auto in = static_cast<size_t>(update.in);
      if (out >= call.outputs.size() || in >= call.inputs.size() || call.inputs[in] < 0) continue;
      if (!is_same_place(call.outputs[out], call.inputs[in])) {
        return fmt::format("updates \"{}\" elsewhere than where it lies", name(call.inputs[in]));
      }
    }
    return "";
  }

  std::string write(const Call& call, size_t out) {
    const int id = call.outputs[out];
    const Tensor& tensor = program_.tensor(id);
    if (is_written_[static_cast<size_t>(id)]) return fmt::format("writes \"{}\" again", name(id));
    if (tensor.place == Place::nowhere || tensor.place == Place::constant) {
      return fmt::format("writes \"{}\", which has no memory of its own", name(id));
    }
    is_written_[static_cast<size_t>(id)] = true;
    bool updates = false;
    for (const int in : call.inputs) {
      if (in < 0) continue;
      updates = updates || has(call.op->memory.updates, call, out, in);
      if (has(call.op->memory.views, call, out, in) && is_same_place(in, id)) {
        group_[static_cast<size_t>(id)] = group(in);
      }
    }
    if (tensor.place == Place::stored) {
      if (!updates) return fmt::format("writes \"{}\" without being its update", name(id));
      const Stored& stored = program_.stored[static_cast<size_t>(tensor.at)];
      if (ir::is_mapped(stored.role, stored.type)) {
        return fmt::format("updates \"{}\", which lies in a mapped file", name(id));
      }
    }
    own(id);
    return "";
  }

  std::string play(const Call& call, size_t n) {
    const std::string wrong_number = number_error(call);
    if (!wrong_number.empty()) return wrong_number;
    for (const int id : call.inputs) {
      if (id >= 0 && !is_there(id)) return fmt::format("reads \"{}\", which is gone", name(id));
    }
    for (const auto& wrong :
         {size_error(call), slot_error(call), sharing_error(call), transfer_error(call)}) {
      if (!wrong.empty()) return wrong;
    }
    const int64_t scratch_end = call.workspace + call.workspace_bytes;
    const int scratch = -2 - static_cast<int>(n);
    if (call.workspace >= 0) regions_.write(call.workspace, scratch_end, scratch);
    for (size_t out = 0; out < call.outputs.size(); ++out) {
      std::string wrong = write(call, out);
      if (!wrong.empty()) return wrong;
    }
    if (call.workspace >= 0 && !regions_.holds(call.workspace, scratch_end, scratch)) {
      return "writes over its workspace";
    }
    return overlap_error(call);
  }

  [[nodiscard]] std::string overlap_error(const Call& call) const {
    for (const int id : call.outputs) {
      if (!is_there(id)) return fmt::format("writes \"{}\" where another output lies", name(id));
    }
    for (const int in : call.inputs) {
      if (in < 0 || is_there(in)) continue;
      bool is_allowed = false;
      for (size_t out = 0; out < call.outputs.size(); ++out) {
        is_allowed =
            is_allowed || (program_.tensor(in).at == program_.tensor(call.outputs[out]).at &&
                           may_lie_on(call, out, in));
      }
      if (!is_allowed) return fmt::format("writes over \"{}\" while it reads it", name(in));
    }
    return "";
  }

  const Program& program_;
  Regions regions_;
  InFlight in_flight_;
  std::vector<int> group_;  // the tensor whose bytes a view shows
  std::vector<bool> is_written_;
};

// Sources, values that outlive the step, and results are found by their names.
class UniqueNames {
 public:
  // Whether it is the first of this name.
  bool add(std::string_view name) { return known_.insert(name).second; }

 private:
  std::set<std::string_view> known_;
};

std::string name_error(const Program& program) {
  UniqueNames sources;
  for (const Tensor& tensor : program.tensors) {
    if (!tensor.is_source || sources.add(tensor.name)) continue;
    return fmt::format("two sources are called \"{}\"", tensor.name);
  }
  UniqueNames stored;
  for (const Stored& each : program.stored) {
    if (!stored.add(each.name)) {
      return fmt::format("two parameters or states are called \"{}\"", each.name);
    }
  }
  for (const auto* const results : {&program.outputs, &program.metrics}) {
    UniqueNames names;
    for (const auto& [name, id] : *results) {
      if (!names.add(name)) return fmt::format("two results are called \"{}\"", name);
    }
  }
  return "";
}

}  // namespace

std::string error_of(const Program& program) {
  if (program.threads < 1 || program.arena_bytes < 0) return "has no threads or no arena";
  int64_t room = kMostFileBytes;
  for (const int64_t bytes : program.slot_bytes) {
    if (bytes < 0) return "has a slot of less than nothing in the swap file";
    if (bytes > room) return "has a swap file of more bytes than a file can have";
    room -= bytes;
  }
  const std::string wrong_name = name_error(program);
  if (!wrong_name.empty()) return wrong_name;
  for (const Tensor& tensor : program.tensors) {
    const std::string wrong = tensor_error(program, tensor);
    if (!wrong.empty()) return fmt::format("tensor \"{}\" {}", tensor.name, wrong);
  }
  return Play(program).error();
}

}  // namespace thimble::program
