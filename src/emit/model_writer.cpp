// The header and the source of a model's C functions.
#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>

#include "emit/calls.h"
#include "emit/emit.h"
#include "emit/saving.h"
#include "emit/storage.h"

namespace thimble::emit {
namespace {

std::string declaration(const Argument& argument, bool is_const) {
  return fmt::format("{}{}* {}", is_const ? "const " : "", c_type(argument.type.dtype),
                     argument.identifier);
}

int64_t bytes_of(const Argument& argument) {
  return size_bytes(argument.type.dtype, argument.type.shape);
}

// Names in C of inputs, results and outputs: the same for all functions.
class Interfaces {
 public:
  Interface made(const Model& model) {
    Interface all;
    if (model.train != nullptr) {
      all.train_inputs = inputs(*model.train);
      if (model.train->loss) {
        all.results.push_back(
            {"loss", results_.identifier("loss"), type(*model.train, *model.train->loss)});
      }
      for (const auto& [name, id] : model.train->metrics) {
        all.results.push_back({name, results_.identifier(name), type(*model.train, id)});
      }
    }
    if (model.predict != nullptr) {
      all.predict_inputs = inputs(*model.predict);
      for (const auto& [name, id] : model.predict->outputs) {
        all.outputs.push_back({name, inputs_.identifier(name + "_out"), type(*model.predict, id)});
      }
    }
    return all;
  }

 private:
  static const ir::TensorType& type(const program::Program& program, int id) {
    return program.tensor(id).type;
  }
  std::vector<Argument> inputs(const program::Program& program) {
    std::vector<Argument> all;
    for (const program::Tensor& tensor : program.tensors) {
      const bool is_given = tensor.role == ir::Role::input || tensor.role == ir::Role::label;
      if (!tensor.is_source || !is_given || tensor.place != program::Place::arena) continue;
      const auto [known, is_new] = known_.try_emplace(*tensor.name);
      if (is_new) known->second = inputs_.identifier(*tensor.name);
      all.push_back({*tensor.name, known->second, tensor.type, tensor.role});
    }
    return all;
  }

  CNames inputs_;
  CNames results_;
  std::map<std::string, std::string> known_;
};

constexpr const char* kHeaderStart = R"c(/* {0}: {1}. Made by {2}; do not edit.

   All memory is the caller's: an arena of THIMBLE_ARENA_BYTES, whose contents are of no use between
   two calls, and THIMBLE_STATE_BYTES of parameters and optimizer state, both aligned to 8 bytes.
   Nothing is allocated. A model may be used by one thread at a time. */
#ifndef THIMBLE_MODEL_H
#define THIMBLE_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

#define THIMBLE_BATCH {3}
#define THIMBLE_ARENA_BYTES {4}
#define THIMBLE_STATE_BYTES {5}
#define THIMBLE_SAVED_BYTES {6} /* that thimble_save writes */

typedef enum thimble_status {{
  THIMBLE_OK = 0,
  THIMBLE_BAD_ARGUMENT = 1, /* a null pointer, too few bytes, memory that is not aligned */
  THIMBLE_NOT_FINITE = 2,   /* the loss is not a finite number; no parameter was changed */
  THIMBLE_WRITE_FAILED = 3, /* the callback of thimble_save reported a failure */
  THIMBLE_READ_FAILED = 4,  /* the callback of thimble_load did */
  THIMBLE_BAD_FILE = 5      /* what is read was not saved by this model, or is damaged */
}} thimble_status;

typedef struct thimble_model {{
  unsigned char* arena;
  unsigned char* state;
  uint64_t seed; /* of random numbers */
  uint64_t step; /* training steps done */
}} thimble_model;

/* Sets the model to the values with which training begins. arena, state: used until the last call;
   state may be NULL where THIMBLE_STATE_BYTES is 0. */
thimble_status thimble_init(thimble_model* model, void* arena, size_t arena_bytes, void* state,
                            size_t state_bytes);
)c";

constexpr const char* kHeaderEnd = R"c(
/* Writes {0} bytes in order: returns 0, or another number on failure. */
typedef int (*thimble_write)(void* user, const void* data, size_t bytes);
/* Reads bytes from an offset on: returns 0, or another number on failure. */
typedef int (*thimble_read)(void* user, size_t offset, void* data, size_t bytes);

/* Saves parameters, optimizer state, seed and step, with a checksum. */
thimble_status thimble_save(const thimble_model* model, thimble_write write, void* user);
/* Reads what thimble_save wrote, twice: first all of it is checked. Where that fails the model stays
   as it is. Should the second reading differ, the model is set to its first values. */
thimble_status thimble_load(thimble_model* model, thimble_read read, void* user);

/* Names the model, and what made it. */
const char* thimble_version(void);

#ifdef __cplusplus
}}
#endif

#endif
)c";

class ModelWriter {
 public:
  explicit ModelWriter(const Model& model)
      : model_(model), library_(model.target), storage_(model), calls_(library_, storage_) {
    made_.interface = Interfaces().made(model);
    made_.sizes = storage_.sizes();
  }

  Sources write() {
    const std::string source = model_source();
    made_.files["thimble_model.h"] = header();
    made_.files["thimble_model.c"] = source;
    made_.files["thimble_kernels.h"] =
        std::string(
            "/* The kernels that the model calls: plain C99, from thimble's reference kernels. */\n"
            "#ifndef THIMBLE_KERNELS_H\n#define THIMBLE_KERNELS_H\n\n#include <math.h>\n"
            "#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n") +
        left_out() + (library_.uses_c_math() ? "#include <tgmath.h>\n\n" : "\n") + library_.text() +
        "\n#endif\n";
    made_.files["thimble_weights.h"] =
        "/* What lies in flash: frozen parameters, constants, and the first contents of the state. "
        "*/\n#ifndef THIMBLE_WEIGHTS_H\n#define THIMBLE_WEIGHTS_H\n\n#include <math.h>\n"
        "#include <stdint.h>\n" +
        storage_.constants() + "\n#endif\n";
    made_.kernels.assign(calls_.kernels().begin(), calls_.kernels().end());
    return std::move(made_);
  }

 private:
  [[nodiscard]] int64_t state_bytes() const { return storage_.sizes().state_bytes; }

  // Fields of kernel parameters that are zero in all calls take no flash.
  [[nodiscard]] std::string left_out() const {
    std::string text;
    for (const std::string& macro : calls_.unneeded()) {
      text += (text.empty() ? "\n#define " : "#define ") + macro + "\n";
    }
    return text;
  }

  std::string header() {
    const Interface& all = made_.interface;
    std::string text = fmt::format(fmt::runtime(kHeaderStart), model_.name,
                                   model_.train == nullptr
                                       ? fmt::format("predictions of {} samples", model_.batch)
                                       : fmt::format("training steps of {} samples", model_.batch),
                                   model_.made_by, model_.batch, storage_.sizes().arena_bytes,
                                   state_bytes(), state_bytes() + kSavedBytesBeside);
    if (model_.train != nullptr) {
      text +=
          "\n/* Loss and metrics of a step, before its update. */\ntypedef struct "
          "thimble_result {\n";
      for (const Argument& result : all.results) {
        const int64_t count = result.type.shape.elements();
        text += fmt::format("  {} {}{};\n", c_type(result.type.dtype), result.identifier,
                            count == 1 ? "" : fmt::format("[{}]", count));
      }
      text += "} thimble_result;\n\n/* One training step.";
      text += described(all.train_inputs);
      text += "\n   learning_rate: of this step. result: may be NULL. */\n";
      text += train_signature() + ";\n";
    }
    if (model_.predict != nullptr) {
      text += "\n/* Predictions.";
      text += described(all.predict_inputs);
      text += described(all.outputs);
      text += "\n   Outputs may be NULL. */\n" + predict_signature() + ";\n";
    }
    return text + fmt::format(fmt::runtime(kHeaderEnd), "THIMBLE_SAVED_BYTES");
  }

  static std::string described(const std::vector<Argument>& arguments) {
    std::string text;
    for (const Argument& argument : arguments) {
      text += fmt::format("\n   {}: {}", argument.identifier, ir::to_string(argument.type));
      text += argument.role == ir::Role::label ? ", a label" : "";
    }
    return text;
  }

  [[nodiscard]] std::string train_signature() const {
    std::string text = "thimble_status thimble_train_step(thimble_model* model";
    for (const Argument& argument : made_.interface.train_inputs) {
      text += ", " + declaration(argument, true);
    }
    return text + ", float learning_rate, thimble_result* result)";
  }
  [[nodiscard]] std::string predict_signature() const {
    std::string text = "thimble_status thimble_predict(thimble_model* model";
    for (const Argument& argument : made_.interface.predict_inputs) {
      text += ", " + declaration(argument, true);
    }
    for (const Argument& argument : made_.interface.outputs) {
      text += ", " + declaration(argument, false);
    }
    return text + ")";
  }

  std::string model_source() {
    std::string bodies;
    if (model_.train != nullptr) bodies += train_step();
    if (model_.predict != nullptr) bodies += predict();
    std::string text = fmt::format(
        "/* {}. Made by {}; do not edit. */\n#include \"thimble_model.h\"\n\n"
        "#include <string.h>\n\n#include \"thimble_kernels.h\"\n"
        "#include \"thimble_weights.h\"\n\n"
        "/* Memory at an offset in bytes of the arena or of the state. */\n"
        "#define ARENA(type, offset) ((type*)(void*)(arena + (offset)))\n"
        "#define STATE(type, offset) ((type*)(void*)(state + (offset)))\n\n"
        "/* For measurements: what runs before each kernel, and after the last one. */\n"
        "#ifndef THIMBLE_KERNEL\n#define THIMBLE_KERNEL(kernel, value)\n"
        "#define THIMBLE_KERNELS_END\n#endif\n\n",
        model_.name, model_.made_by);
    text +=
        "/* Whether a model was initialized. */\nstatic int is_ready(const thimble_model* model) "
        "{\n  return model != NULL && model->arena != NULL;\n}\n\n";
    if (!calls_.tables().empty()) {
      text += "/* Parameters of kernels that end with what belongs to each channel. */\n" +
              calls_.tables() + "\n";
    }
    text += init() + "\n" + bodies + save_and_load();
    return text;
  }

  std::string init() {
    std::string text =
        "/* Sets the state to its first contents. */\nstatic void reset(thimble_model* "
        "model) {\n";
    if (state_bytes() > 0) {
      text +=
          "  unsigned char* const state = model->state;\n  memset(state, 0, "
          "THIMBLE_STATE_BYTES);\n";
      for (const StateEntry& entry : storage_.state()) {
        if (entry.initial.empty()) continue;
        text += fmt::format("  memcpy(state + {}, {}, sizeof {});\n", entry.offset, entry.initial,
                            entry.initial);
      }
    }
    text += fmt::format("  model->seed = {}U;\n  model->step = 0;\n}}\n\n", model_.seed);
    text +=
        "thimble_status thimble_init(thimble_model* model, void* arena, size_t arena_bytes, void* "
        "state,\n                            size_t state_bytes) {\n"
        "  if (model == NULL || arena == NULL || (uintptr_t)arena % 8 != 0) return "
        "THIMBLE_BAD_ARGUMENT;\n"
        "  if (arena_bytes < THIMBLE_ARENA_BYTES) return THIMBLE_BAD_ARGUMENT;\n";
    if (state_bytes() > 0) {
      text +=
          "  if (state == NULL || (uintptr_t)state % 8 != 0) return THIMBLE_BAD_ARGUMENT;\n"
          "  if (state_bytes < THIMBLE_STATE_BYTES) return THIMBLE_BAD_ARGUMENT;\n";
    } else {
      text += "  (void)state_bytes;\n";
    }
    return text +
           "  model->arena = (unsigned char*)arena;\n  model->state = (unsigned char*)state;\n"
           "  reset(model);\n  return THIMBLE_OK;\n}\n";
  }

  // Copies of inputs into the arena, and the scalars of the step.
  std::string sources(const program::Program& program, const std::vector<Argument>& inputs,
                      bool trains) {
    std::string text;
    for (const Argument& input : inputs) {
      for (const program::Tensor& tensor : program.tensors) {
        if (!tensor.is_source || tensor.name != input.name) continue;
        text += fmt::format("  memcpy(arena + {}, {}, {});\n", tensor.at, input.identifier,
                            bytes_of(input));
        break;
      }
    }
    for (const program::Tensor& tensor : program.tensors) {
      if (tensor.is_source && tensor.role == ir::Role::scalar) text += scalar(tensor, trains);
    }
    return text;
  }

  std::string scalar(const program::Tensor& tensor, bool trains) {
    if (tensor.place != program::Place::arena) return "";
    if (tensor.name == ir::kRngName) return random_state(tensor.at, trains);
    const auto feed = model_.feeds.find(*tensor.name);
    if (feed != model_.feeds.end() && feed->second == Feed::learning_rate) {
      return fmt::format("  *ARENA(float, {}) = learning_rate;\n", tensor.at);
    }
    if (feed != model_.feeds.end()) {
      return fmt::format(
          "  *ARENA(int32_t, {}) = model->step < INT32_MAX ? (int32_t)(model->step + "
          "1) : INT32_MAX;\n",
          tensor.at);
    }
    throw Error("export-c",
                fmt::format("the step reads \"{}\", which C functions do not set. Leave out "
                            "accumulation, micro-batches and schedules of the momentum",
                            *tensor.name));
  }

  std::string random_state(int64_t at, bool trains) const {
    if (!trains) {
      return fmt::format(
          "  {{ /* the random numbers of predictions are always the same */\n"
          "    static const uint32_t rng[6] = {{0, 0, 0, 2147483648U, 0, {}}};\n"
          "    memcpy(arena + {}, rng, sizeof rng);\n  }}\n",
          model_.batch, at);
    }
    return fmt::format(
        "  {{ /* random numbers depend on the seed and the step */\n"
        "    uint32_t* const rng = ARENA(uint32_t, {});\n"
        "    rng[0] = (uint32_t)model->seed;\n"
        "    rng[1] = (uint32_t)(model->seed >> 32);\n"
        "    rng[2] = (uint32_t)model->step;\n"
        "    rng[3] = (uint32_t)(model->step >> 32);\n"
        "    rng[4] = 0;\n    rng[5] = {};\n  }}\n",
        at, model_.batch);
  }

  static std::string checks(const std::vector<Argument>& inputs) {
    std::string text = "  if (!is_ready(model)";
    for (const Argument& input : inputs) text += fmt::format(" || {} == NULL", input.identifier);
    return text + ") return THIMBLE_BAD_ARGUMENT;\n";
  }

  // "unsigned char* arena = ...", and the calls of a program in a function of its own.
  std::string calls_function(const program::Program& program, const std::string& name,
                             const std::string& comment, size_t first, size_t last) {
    std::string text = fmt::format(
        "/* {} */\nstatic void {}(unsigned char* arena, unsigned char* state) {{\n", comment, name);
    for (size_t n = first; n < last; ++n) text += calls_.statements(program, program.calls[n]);
    return text + "  THIMBLE_KERNELS_END\n  (void)arena;\n  (void)state;\n}\n\n";
  }

  // The call after which the loss is known.
  static size_t behind_loss(const program::Program& program) {
    for (size_t n = 0; program.loss && n < program.calls.size(); ++n) {
      const std::vector<int>& outputs = program.calls[n].outputs;
      if (std::find(outputs.begin(), outputs.end(), *program.loss) != outputs.end()) return n + 1;
    }
    return program.calls.size();
  }

  std::string train_step() {
    const program::Program& program = *model_.train;
    const size_t middle = behind_loss(program);
    std::string text =
        calls_function(program, "step_to_loss", "The step up to its loss.", 0, middle);
    text +=
        calls_function(program, "step_from_loss", "The rest of the step: gradients and updates.",
                       middle, program.calls.size());
    text += train_signature() + " {\n" + checks(made_.interface.train_inputs);
    text +=
        "  unsigned char* const arena = model->arena;\n"
        "  unsigned char* const state = model->state;\n";
    text += sources(program, made_.interface.train_inputs, true);
    text += "  step_to_loss(arena, state);\n";
    if (program.loss) {
      const std::string loss =
          storage_.address(program, program.tensor(*program.loss), "float", true);
      text += fmt::format(
          "  {{ /* not a number, or infinite */\n    const float loss = *{};\n"
          "    if (!(loss - loss == 0)) return THIMBLE_NOT_FINITE;\n  }}\n",
          loss);
    }
    text += "  step_from_loss(arena, state);\n  if (result != NULL) {\n";
    std::vector<int> ids;
    if (program.loss) ids.push_back(*program.loss);
    for (const auto& [name, id] : program.metrics) ids.push_back(id);
    for (size_t i = 0; i < ids.size(); ++i) {
      const Argument& result = made_.interface.results[i];
      const char* const address = result.type.shape.elements() == 1 ? "&" : "";
      text += fmt::format("    memcpy({}result->{}, {}, {});\n", address, result.identifier,
                          storage_.address(program, program.tensor(ids[i]), "unsigned char", true),
                          bytes_of(result));
    }
    return text + "  }\n  ++model->step;\n  return THIMBLE_OK;\n}\n\n";
  }

  std::string predict() {
    const program::Program& program = *model_.predict;
    std::string text =
        calls_function(program, "forward", "The forward part.", 0, program.calls.size());
    text += predict_signature() + " {\n" + checks(made_.interface.predict_inputs);
    text +=
        "  unsigned char* const arena = model->arena;\n"
        "  unsigned char* const state = model->state;\n";
    text += sources(program, made_.interface.predict_inputs, false);
    text += "  forward(arena, state);\n";
    for (size_t i = 0; i < program.outputs.size(); ++i) {
      const Argument& output = made_.interface.outputs[i];
      text += fmt::format("  if ({0} != NULL) memcpy({0}, {1}, {2});\n", output.identifier,
                          storage_.address(program, program.tensor(program.outputs[i].second),
                                           "unsigned char", true),
                          bytes_of(output));
    }
    return text + "  return THIMBLE_OK;\n}\n\n";
  }

  // What a saved state must agree with: names, types and places.
  [[nodiscard]] uint64_t layout() const {
    std::string text = model_.name;
    for (const StateEntry& entry : storage_.state()) {
      text += fmt::format("\n{} {} {}", entry.name, ir::to_string(entry.type), entry.offset);
    }
    return checksum(std::as_bytes(std::span(text)));
  }

  std::string save_and_load() {
    return saving_source(state_bytes(), layout(), model_.made_by + ": " + model_.name);
  }

  const Model& model_;
  CLibrary library_;
  Storage storage_;
  CallWriter calls_;
  Sources made_;
};

}  // namespace

uint64_t checksum(std::span<const std::byte> bytes, uint64_t hash) {
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<uint64_t>(byte)) * 0x100000001b3U;
  return hash;
}

std::vector<std::byte> state_bytes(
    const Model& model,
    const std::function<std::span<const std::byte>(const std::string& name)>& contents) {
  const Storage storage(model);
  std::vector<std::byte> bytes(static_cast<size_t>(storage.sizes().state_bytes));
  for (const StateEntry& entry : storage.state()) {
    const std::span<const std::byte> from = contents(entry.name);
    std::copy(from.begin(), from.end(), bytes.begin() + entry.offset);
  }
  return bytes;
}

Sources c_sources(const Model& model) { return ModelWriter(model).write(); }

}  // namespace thimble::emit
