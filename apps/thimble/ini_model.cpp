#include "ini_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "commands.h"
#include "io/atomic_file.h"
#include "options.h"
#ifdef THIMBLE_HAS_ML_TRAIN
#include "ml_train/model_node.h"
#endif

namespace thimble::cli {

bool is_ini_model(const std::string& path) {
  return std::filesystem::path(path).extension() == ".ini";
}

void require_ini_options(const CLI::App& command) {
  constexpr std::array<std::string_view, 12> kOptions = {
      "MODEL", "file",      "--epochs", "--batch", "--memory-budget", "--threads",
      "--out", "--samples", "--report", "--json",  "--explain",       "--swap-dir"};
  for (const CLI::Option* const option : command.get_options()) {
    const std::string name = option->get_name();
    const bool known = std::find(kOptions.begin(), kOptions.end(), name) != kOptions.end();
    if (option->count() == 0 || known || name == "--help") continue;
    throw UsageError(Error(name, "is not for INI files, which say it themselves"));
  }
}

#ifdef THIMBLE_HAS_ML_TRAIN

namespace {

using ml::train::ExecutionMode;
using ml::train::ModelFormat;
using ml_train::ModelNode;

// What a function throws, as an Error of the file.
template <class Function>
auto of_file(const std::string& path, Function function) {
  try {
    return function();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    // Messages of the INI reader name the file already.
    const std::string where = "[" + path + "] ";
    const std::string message = error.what();
    throw Error(path, message.starts_with(where) ? message.substr(where.size()) : message);
  }
}

void require(int status, const std::string& path, const char* what) {
  if (status != 0) throw Error(path, fmt::format("{}; the line above says why", what));
}

void initialize(ModelNode& model, const std::string& path, ExecutionMode compiled,
                ExecutionMode mode) {
  require(model.compile(compiled), path, "cannot be compiled");
  require(model.initialize(mode), path, "cannot be initialized");
}

void set_up(ModelNode& model, const SetupOptions& setup, int64_t epochs) {
  model.load(setup.model, ModelFormat::MODEL_FORMAT_INI);
  const auto set = [&](const char* key, const std::string& value) {
    model.setProperty({fmt::format("{}={}", key, value)});
  };
  if (setup.batch > 0) set("batch_size", std::to_string(setup.batch));
  if (epochs > 0) set("epochs", std::to_string(epochs));
  if (setup.threads > 0) set("threads", std::to_string(setup.threads));
  if (setup.memory_budget) {
    set("memory_budget",
        std::to_string(from_command_line([&] { return parse_bytes(*setup.memory_budget); })));
  }
  if (!setup.swap_dir.empty()) {
    for (const char* const key : {"fsu", "memory_swap"}) set(key, "true");
    for (const char* const key : {"fsu_path", "memory_swap_path"}) set(key, setup.swap_dir);
  }
  initialize(model, setup.model, ExecutionMode::TRAIN, ExecutionMode::TRAIN);
  if (!model.network().has_loss) {
    throw Error(setup.model, "says no loss: add the key loss to [Model], or a loss layer");
  }
}

std::string name_of_file(const std::string& path) {
  return std::filesystem::path(path).stem().string();
}

}  // namespace

IniTraining read_ini_training(const SetupOptions& setup) {
  return of_file(setup.model, [&] {
    ModelNode model({});
    set_up(model, setup, 0);
    return IniTraining{model.graph_with_weights(), model.trainer_options(),
                       name_of_file(setup.model)};
  });
}

Graph import_ini(const std::string& path) {
  return of_file(path, [&] {
    ModelNode model({});
    model.load(path, ModelFormat::MODEL_FORMAT_INI);
    const bool trains = model.props().given("loss");
    initialize(model, path, trains ? ExecutionMode::TRAIN : ExecutionMode::INFERENCE,
               ExecutionMode::INFERENCE);
    const std::string weights = model.props().choice("save_path");
    if (!weights.empty() && std::filesystem::exists(weights)) {
      model.load(weights, ModelFormat::MODEL_FORMAT_BIN);
    }
    return model.graph_with_weights();
  });
}

int train_ini(const SetupOptions& setup, int64_t epochs, const std::string& out) {
  const std::string folder = out.empty() ? "out/" + name_of_file(setup.model) : out;
  io::make_directories(folder);
  const std::string file = folder + "/model.safetensors";
  of_file(setup.model, [&] {
    ModelNode model({});
    set_up(model, setup, epochs);
    require(model.train({}, nullptr, nullptr, nullptr, nullptr), setup.model, "was not trained");
    save_model(model.graph_with_weights(), file);
    return 0;
  });
  fmt::print("written: {}\n", file);
  return kOk;
}

#else

namespace {

[[noreturn]] void refuse(const std::string& path) {
  throw Error(path, "this build reads no INI files: configure it with -DTHIMBLE_BUILD_ML_TRAIN=ON");
}

}  // namespace

IniTraining read_ini_training(const SetupOptions& setup) { refuse(setup.model); }
Graph import_ini(const std::string& path) { refuse(path); }
int train_ini(const SetupOptions& setup, int64_t /*epochs*/, const std::string& /*out*/) {
  refuse(setup.model);
}

#endif

}  // namespace thimble::cli
