#include "model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "commands.h"
#include "import/formats.h"
#include "ini_model.h"
#include "ir/graph.h"
#include "program_argument.h"

namespace thimble::cli {
namespace {

constexpr int64_t kBatchOfFiles = 32;
constexpr int64_t kEpochsOfFiles = 10;

const Recipe* recipe_named(const std::string& name) {
  for (const Recipe& recipe : recipes()) {
    if (recipe.name == name) return &recipe;
  }
  return nullptr;
}

const Recipe* recipe_of(const Graph& graph) {
  const std::string text = graph.text();
  for (const Recipe& recipe : recipes()) {
    if (recipe.build().text() == text) return &recipe;
  }
  return nullptr;
}

Recipe settings_of(const Recipe* recipe, const std::string& name) {
  Recipe settings{};
  if (recipe != nullptr) {
    settings = *recipe;
  } else {
    settings.doc = "a model file";
    settings.batch = kBatchOfFiles;
    settings.epochs = kEpochsOfFiles;
    settings.optimizer = []() -> Optimizer { return AdamW{}; };
  }
  settings.name = name.c_str();
  return settings;
}

// An argument that is no recipe must be a file.
void check_file(const std::string& argument) {
  std::error_code error;
  if (std::filesystem::exists(argument, error)) return;
  std::string known;
  for (const Recipe& recipe : recipes())
    known += (known.empty() ? "" : ", ") + std::string(recipe.name);
  throw UsageError(Error(
      "model",
      fmt::format("there is no recipe and no model file \"{}\"; recipes: {}", argument, known)));
}

// Whether the file is one of PyTorch, by its name.
bool is_pytorch(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return ending == ".pt" || ending == ".pth" || ending == ".pt2";
}

// The graph of a model file. Of another program's file the error says how it becomes one.
Graph graph_of_file(const std::string& path) {
  try {
    return load_graph(path);
  } catch (const Error&) {
    if (is_pytorch(path)) {
      throw Error(path,
                  "is a file of PyTorch, which thimble does not read; from_torch in Python makes a "
                  "graph of a module, and torch.onnx.export a file for thimble import");
    }
    std::error_code error;
    const std::filesystem::path file(path);
    const bool is_own = std::filesystem::is_directory(file, error)
                            ? !std::filesystem::exists(file / "config.json", error)
                            : file.extension() == ".safetensors";
    if (is_own || (importer::format_of(path) == nullptr && !is_ini_model(path))) throw;
    throw Error(path,
                fmt::format("is no model file of thimble but the model of another program; "
                            "make one with thimble import {} -o {}",
                            path, std::filesystem::path(path).stem().string() + ".safetensors"));
  }
}

}  // namespace

Model::Model(const std::string& argument) : recipe_(recipe_named(argument)) {
  if (recipe_ != nullptr) {
    name_ = argument;
    graph_ = recipe_->build();
  } else {
    check_file(argument);
    if (is_program(argument)) {
      throw Error(argument,
                  "is a program, which thimble train runs; name the model that it was "
                  "compiled from, or a checkpoint of its training");
    }
    name_ = std::filesystem::path(argument).stem().string();
    file_ = argument;
    graph_ = graph_of_file(argument);
    recipe_ = recipe_of(graph_);
  }
  settings_ = settings_of(recipe_, name_);
}

Model::Model(const CompiledTraining& program, const std::string& file)
    : name_(program.name()), file_(file), graph_(program.interface()) {
  if (name_.empty()) name_ = std::filesystem::path(file).stem().string();
  if (!program.recipe().empty()) recipe_ = &find_recipe(program.recipe());
  settings_ = settings_of(recipe_, name_);
}

Graph Model::graph_with_weights(const std::string& file) const {
  Graph graph;
  graph.ir() = graph_.ir();
  const std::string& weights = file.empty() ? file_ : file;
  if (!weights.empty()) load_weights(graph, weights);
  return graph;
}

std::string Model::weights(const std::string& checkpoint) const {
  if (checkpoint.empty() && !file_.empty()) return file_;
  std::string path =
      checkpoint.empty() ? fmt::format("out/{}/checkpoint.safetensors", name_) : checkpoint;
  if (!std::filesystem::exists(path)) {
    throw Error(path, fmt::format("no such file; name a checkpoint with --checkpoint, or make one "
                                  "with thimble train {}",
                                  file_.empty() ? name_ : file_));
  }
  return path;
}

std::string loss_hint(const Model& model) {
  return fmt::format(
      "thimble adapt {} --loss NAME --label NAME -o FILE writes a model that has one",
      model.file());
}

void require_loss(const Model& model, const char* use) {
  if (model.graph().ir().loss) return;
  throw Error(model.file(),
              fmt::format("the model has no loss, which is what {}; {}", use, loss_hint(model)));
}

int64_t parameter_count(const Graph& graph) {
  int64_t count = 0;
  for (const ir::ValueData& data : graph.ir().values) {
    const bool is_parameter = data.producer < 0 && data.role == ir::Role::parameter;
    if (is_parameter) count += data.type.shape.elements();
  }
  return count;
}

void add_model(CLI::App& command, std::string& model, Offered offered) {
  size_t width = 0;
  for (const Recipe& known : recipes()) width = std::max(width, std::strlen(known.name));
  std::string help = "a model file or checkpoint, or a recipe, one of";
  for (const Recipe& known : recipes()) {
    if (offered(known)) help += fmt::format("\n{:<{}} {}", known.name, width + 1, known.doc);
  }
  command.add_option("MODEL", model, help)->required();
}

void add_model_out(CLI::App& command, std::string& out) {
  command.add_option("-o,--out", out, "the model file to write")->required()->type_name("FILE");
}

void add_checkpoint(CLI::App& command, std::string& checkpoint) {
  command
      .add_option("--checkpoint", checkpoint,
                  "trained weights [those of the model file; of a recipe "
                  "out/RECIPE/checkpoint.safetensors]")
      ->type_name("FILE");
}

}  // namespace thimble::cli
