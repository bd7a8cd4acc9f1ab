#include "emit/micro_program.h"

#include <fmt/format.h>
#include <thimble/error.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <type_traits>

#include "emit/calls.h"
#include "ir/graph.h"
#include "micro/program_file.h"
#include "micro/thimble_micro.h"

namespace thimble::emit {
namespace {

constexpr size_t kMicroAlignment = 8;
static_assert(sizeof(thimble_micro) <= kMicroRuntimeBytes);

template <size_t N>
void put_name(char (&to)[N], const std::string& name) {
  if (name.size() >= N) {
    throw Error(name, fmt::format("is too long a name for a device; {} bytes are the most", N - 1));
  }
  std::memset(to, 0, N);
  std::memcpy(to, name.data(), name.size());
}

uint32_t u32(int64_t number) {
  if (number < 0 || number >= INT32_MAX) {
    throw Error("thimble-micro", "takes less than 2 GiB of anything; take a smaller model");
  }
  return static_cast<uint32_t>(number);
}

std::set<std::string> micro_changed_by(const program::Program& program) {
  std::set<std::string> changed;
  for (const program::Call& call : program.calls) {
    for (const int id : call.outputs) {
      if (program.tensor(id).place != program::Place::stored) continue;
      changed.insert(*program.stored[static_cast<size_t>(program.tensor(id).at)].name);
    }
  }
  return changed;
}

class MicroWriter {
 public:
  explicit MicroWriter(const MicroModel& model) : model_(model) {
    for (const MicroTraining& training : model.trainings) {
      for (const std::string& name : micro_changed_by(*training.program)) changed_.insert(name);
      if (optimizer_of(training.optimizer) == optimizers_.size()) {
        optimizers_.emplace_back();
        put_name(optimizers_.back().name, training.optimizer);
      }
    }
    for (const program::Program* const forward : {model.evaluate, model.predict}) {
      if (forward == nullptr) continue;
      for (const program::Stored& stored : forward->stored) shared_.insert(*stored.name);
    }
  }

  MicroProgram write() {
    const MicroTraining& first = model_.trainings.front();
    for (const MicroTraining& training : model_.trainings) {
      add(THIMBLE_MICRO_TRAIN, *training.program, training);
    }
    if (model_.evaluate != nullptr) add(THIMBLE_MICRO_EVALUATE, *model_.evaluate, first);
    if (model_.predict != nullptr) add(THIMBLE_MICRO_PREDICT, *model_.predict, first);
    place_states();
    return finish();
  }

 private:
  [[nodiscard]] size_t optimizer_of(const std::string& name) const {
    size_t i = 0;
    while (i < optimizers_.size() && optimizers_[i].name != name) ++i;
    return i;
  }

  uint32_t stored(const program::Stored& entry, const MicroTraining& training) {
    const std::string& name = *entry.name;
    const bool is_own = entry.role == ir::Role::state && shared_.count(name) == 0;
    const auto optimizer = static_cast<uint32_t>(optimizer_of(training.optimizer));
    const std::pair key(is_own ? optimizer : MICRO_NONE, name);
    const auto [known, is_new] = stored_of_.emplace(key, static_cast<uint32_t>(stored_.size()));
    if (!is_new) return known->second;
    micro_stored made{};
    made.bytes = u32(size_bytes(entry.type.dtype, entry.type.shape));
    made.optimizer = key.first;
    made.at = changed_.count(name) > 0 ? 0 : MICRO_NONE;
    if (entry.type.dtype != DType::f32) {
      throw Error("thimble-micro", fmt::format("\"{}\" is {}: the runtime has kernels of f32 alone",
                                               name, to_string(entry.type.dtype)));
    }
    const std::span<const std::byte> contents = training.initial(name);
    const auto place = model_.places.find(name);
    const bool is_trained = made.at != MICRO_NONE && entry.role != ir::Role::state;
    if (is_trained) {
      if (place == model_.places.end()) {
        throw Error("configure",
                    fmt::format("\"{}\" is trained but is no float tensor of the file", name));
      }
      made.from = MICRO_WOF;
      made.source = u32(place->second.tensor);
      made.a = u32(place->second.reversed[0]);
      made.b = u32(place->second.reversed[1]);
      made.c = u32(place->second.reversed[2]);
    } else if (made.at != MICRO_NONE && is_all_zero(contents)) {
      made.from = MICRO_ZEROS;
    } else if (made.at == MICRO_NONE && place != model_.places.end() && place->second.offset >= 0) {
      made.from = MICRO_MODEL;
      made.source = u32(place->second.offset);
    } else {
      if (is_own) throw Error(name, "is a state that does not begin with zeros");
      made.from = MICRO_PROGRAM;
      made.source = constant(contents);
    }
    stored_.push_back(made);
    return known->second;
  }

  // Bytes of constants and parameters: their place within the data, before it is known where it is.
  uint32_t constant(std::span<const std::byte> bytes) {
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto [known, is_new] =
        constant_of_.emplace(text, u32(static_cast<int64_t>(data_.size())));
    if (is_new) {
      data_ += text;
      data_.resize((data_.size() + kMicroAlignment - 1) / kMicroAlignment * kMicroAlignment);
    }
    return known->second;
  }

  micro_argument argument(const program::Program& program, int id, const MicroTraining& training) {
    micro_argument made{};
    if (id < 0) return made;
    const program::Tensor& tensor = program.tensor(id);
    made.bytes = u32(tensor.bytes());
    switch (tensor.place) {
      case program::Place::nowhere:
        return {};
      case program::Place::arena:
        made.place = MICRO_ARENA;
        made.at = u32(tensor.at);
        break;
      case program::Place::stored:
        made.place = MICRO_STORED;
        made.at = stored(program.stored[static_cast<size_t>(tensor.at)], training);
        break;
      case program::Place::constant:
        made.place = MICRO_CONSTANT;
        made.at = constant({program.constants[static_cast<size_t>(tensor.at)].get(),
                            static_cast<size_t>(tensor.bytes())});
        break;
    }
    return made;
  }

  void add_call(const program::Program& program, const program::Call& call,
                const MicroTraining& training) {
    const MicroKernel& kernel = kernels_.of(program, call);
    const auto [number, is_new] =
        kernel_of_.emplace(kernel.name, static_cast<uint32_t>(kernel_entries_.size()));
    if (is_new) {
      micro_kernel_entry entry{};
      put_name(entry.name, kernel.name);
      entry.params_bytes = u32(kernel.params_bytes);
      kernel_entries_.push_back(entry);
    }
    micro_call made{};
    made.kernel = number->second;
    const auto params = std::span<const std::byte>(call.params.bytes())
                            .first(static_cast<size_t>(kernel.params_bytes));
    made.params = constant(params);
    made.first_argument = static_cast<uint32_t>(arguments_.size());
    made.outputs = static_cast<uint32_t>(call.outputs.size());
    made.inputs = static_cast<uint32_t>(call.inputs.size());
    bool changes = false;
    for (const int id : call.outputs) {
      arguments_.push_back(argument(program, id, training));
      changes = changes || arguments_.back().place == MICRO_STORED;
    }
    for (const int id : call.inputs) arguments_.push_back(argument(program, id, training));
    made.first_patch = static_cast<uint32_t>(patches_.size());
    // What a kernel that changes parameters takes beside sizes are constants of its optimizer.
    for (const auto& [name, offset] : kernels_.constants(kernel)) {
      double value = 0.0;
      std::memcpy(&value, params.data() + offset, sizeof(value));
      if (!changes || value == 0.0) continue;
      if (const int at = constant_number(name, value); at >= 0) {
        patches_.push_back({static_cast<uint32_t>(at), u32(offset)});
      }
    }
    made.patches = static_cast<uint32_t>(patches_.size()) - made.first_patch;
    calls_.push_back(made);
  }

  // -1: it has several values, so that one number cannot stand for all.
  int constant_number(const std::string& name, double value) {
    for (size_t i = 0; i < constants_.size(); ++i) {
      if (constants_[i].name != name) continue;
      return constants_[i].value == value ? static_cast<int>(i) : -1;
    }
    if (constants_.size() == THIMBLE_MICRO_CONSTANTS) return -1;
    micro_constant made{};
    put_name(made.name, name);
    made.value = value;
    constants_.push_back(made);
    return static_cast<int>(constants_.size()) - 1;
  }

  void add_binding(const program::Tensor& tensor, int64_t batch) {
    micro_source source{};
    put_name(source.name, *tensor.name);
    const int64_t bytes = tensor.bytes();
    const auto feed = model_.feeds.find(*tensor.name);
    if (tensor.role == ir::Role::input || tensor.role == ir::Role::label) {
      source.kind = tensor.role == ir::Role::input ? MICRO_INPUT : MICRO_LABEL;
      if (bytes % batch != 0) throw Error(*tensor.name, "has no part for each sample");
      source.sample_bytes = u32(bytes / batch);
    } else if (tensor.name == ir::kRngName) {
      source.kind = MICRO_RANDOM;
    } else if (feed != model_.feeds.end()) {
      source.kind = feed->second == Feed::learning_rate ? MICRO_RATE : MICRO_UPDATE;
    } else {
      throw Error("thimble-micro",
                  fmt::format("the step reads \"{}\", which the runtime does not set. Leave out "
                              "accumulation, micro-batches and schedules of the momentum",
                              *tensor.name));
    }
    size_t i = 0;
    while (i < sources_.size() && std::string(sources_[i].name) != source.name) ++i;
    if (i == sources_.size()) sources_.push_back(source);
    bindings_.push_back({static_cast<uint32_t>(i), u32(tensor.at), u32(bytes), 0});
  }

  void add_result(const program::Program& program, const std::string& name, int id,
                  const MicroTraining& training) {
    micro_result made{};
    put_name(made.name, name);
    made.value = argument(program, id, training);
    results_.push_back(made);
  }

  void add(int kind, const program::Program& program, const MicroTraining& training) {
    micro_program made{};
    made.kind = static_cast<uint32_t>(kind);
    made.optimizer = kind == THIMBLE_MICRO_TRAIN
                         ? static_cast<uint32_t>(optimizer_of(training.optimizer))
                         : MICRO_NONE;
    const int64_t batch = kind == THIMBLE_MICRO_TRAIN ? training.batch : model_.forward_batch;
    made.batch = u32(batch);
    made.first_call = static_cast<uint32_t>(calls_.size());
    for (const program::Call& call : program.calls) {
      if (!is_view(program, call)) add_call(program, call, training);
      const bool is_loss = program.loss && std::find(call.outputs.begin(), call.outputs.end(),
                                                     *program.loss) != call.outputs.end();
      if (is_loss) made.loss_calls = static_cast<uint32_t>(calls_.size()) - made.first_call;
    }
    made.calls = static_cast<uint32_t>(calls_.size()) - made.first_call;
    made.first_binding = static_cast<uint32_t>(bindings_.size());
    for (const program::Tensor& tensor : program.tensors) {
      const bool is_given = tensor.role == ir::Role::input || tensor.role == ir::Role::label ||
                            tensor.role == ir::Role::scalar;
      if (tensor.is_source && is_given && tensor.place == program::Place::arena) {
        add_binding(tensor, batch);
      }
    }
    made.bindings = static_cast<uint32_t>(bindings_.size()) - made.first_binding;
    made.first_result = static_cast<uint32_t>(results_.size());
    if (program.loss) add_result(program, "loss", *program.loss, training);
    for (const auto& [name, id] : program.metrics) add_result(program, name, id, training);
    for (const auto& [name, id] : program.outputs) add_result(program, name, id, training);
    made.results = static_cast<uint32_t>(results_.size()) - made.first_result;
    arena_bytes_ = std::max(arena_bytes_, program.arena_bytes);
    programs_.push_back(made);
  }

  // What all trainings have, then the states of each optimizer in the same memory.
  void place_states() {
    const auto place = [this](uint32_t optimizer, int64_t at) {
      for (micro_stored& stored : stored_) {
        if (stored.at == MICRO_NONE || stored.optimizer != optimizer) continue;
        stored.at = u32(at);
        at = (at + stored.bytes + 7) / 8 * 8;
      }
      return at;
    };
    const int64_t shared = place(MICRO_NONE, 0);
    state_bytes_ = shared;
    for (uint32_t i = 0; i < optimizers_.size(); ++i) {
      state_bytes_ = std::max(state_bytes_, place(i, shared));
    }
  }

  template <class T>
  void put(micro_table& table, const std::vector<T>& entries) {
    static_assert(std::is_trivially_copyable_v<T>);
    file_.resize((file_.size() + kMicroAlignment - 1) / kMicroAlignment * kMicroAlignment);
    table = {u32(static_cast<int64_t>(file_.size())), u32(static_cast<int64_t>(entries.size()))};
    file_.append(reinterpret_cast<const char*>(entries.data()), entries.size() * sizeof(T));
  }

  MicroProgram finish() {
    if (kernel_entries_.size() > THIMBLE_MICRO_KERNELS) {
      throw Error("thimble-micro",
                  fmt::format("a program has at most {} kinds of kernels, this one "
                              "{}; train fewer layers",
                              int{THIMBLE_MICRO_KERNELS}, kernel_entries_.size()));
    }
    micro_header h{};
    file_.assign(sizeof(h), '\0');
    const auto base = static_cast<uint32_t>(file_.size());
    file_ += data_;
    for (micro_call& call : calls_) call.params += base;
    for (micro_argument& a : arguments_) a.at += a.place == MICRO_CONSTANT ? base : 0;
    for (micro_result& r : results_) r.value.at += r.value.place == MICRO_CONSTANT ? base : 0;
    for (micro_stored& s : stored_) s.source += s.from == MICRO_PROGRAM ? base : 0;
    put(h.kernels, kernel_entries_);
    put(h.stored, stored_);
    put(h.sources, sources_);
    put(h.constants, constants_);
    put(h.optimizers, optimizers_);
    put(h.programs, programs_);
    put(h.calls, calls_);
    put(h.arguments, arguments_);
    put(h.patches, patches_);
    put(h.bindings, bindings_);
    put(h.results, results_);
    h.magic = MICRO_MAGIC;
    h.version = MICRO_VERSION;
    h.bytes = u32(static_cast<int64_t>(file_.size()));
    h.model_bytes = model_.model_bytes;
    h.model_crc = model_.model_crc;
    h.tensors = model_.tensors;
    h.structure = model_.structure;
    h.arena_bytes = u32(arena_bytes_);
    h.state_bytes = u32(state_bytes_);
    std::memcpy(file_.data(), &h, sizeof(h));
    h.crc = static_cast<uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(file_.data()) + MICRO_CHECKED_FROM,
              static_cast<uInt>(file_.size() - MICRO_CHECKED_FROM)));
    std::memcpy(file_.data(), &h, sizeof(h));
    MicroProgram made{std::move(file_), arena_bytes_, state_bytes_, {}};
    for (const auto& [name, number] : kernel_of_) made.kernels.push_back(name);
    return made;
  }

  const MicroModel& model_;
  MicroKernels kernels_;
  std::set<std::string> changed_;  // by any training
  std::set<std::string> shared_;   // that predictions read
  std::map<std::pair<uint32_t, std::string>, uint32_t> stored_of_;
  std::map<std::string, uint32_t> constant_of_;
  std::map<std::string, uint32_t> kernel_of_;
  std::string data_;
  std::string file_;
  int64_t arena_bytes_ = 0;
  int64_t state_bytes_ = 0;
  std::vector<micro_kernel_entry> kernel_entries_;
  std::vector<micro_stored> stored_;
  std::vector<micro_source> sources_;
  std::vector<micro_constant> constants_;
  std::vector<micro_optimizer> optimizers_;
  std::vector<micro_program> programs_;
  std::vector<micro_call> calls_;
  std::vector<micro_argument> arguments_;
  std::vector<micro_patch> patches_;
  std::vector<micro_binding> bindings_;
  std::vector<micro_result> results_;
};

}  // namespace

std::vector<std::string> trained_parameters(const program::Program& program) {
  const std::set<std::string> changed = micro_changed_by(program);
  std::vector<std::string> names;
  for (const program::Stored& stored : program.stored) {
    if (stored.role == ir::Role::state || changed.count(*stored.name) == 0) continue;
    names.push_back(*stored.name);
  }
  return names;
}

MicroProgram micro_program_file(const MicroModel& model) { return MicroWriter(model).write(); }

}  // namespace thimble::emit
