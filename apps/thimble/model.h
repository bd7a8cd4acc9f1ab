// The argument MODEL of the commands: a recipe or a model file.
#pragma once

#include <thimble/thimble.h>

#include <CLI/CLI.hpp>
#include <string>

#include "options.h"

namespace thimble::cli {

// A recipe by its name, or a model file or checkpoint by its path. The one place that tells them
// apart: a recipe's name comes first, so that a file of the same name is written ./NAME.
class Model {
 public:
  // Throws UsageError where the text is neither, and Error where the file is no model file.
  explicit Model(const std::string& argument);
  // Of a program: its graph has sources and results alone. Throws Error where it names a recipe
  // that is unknown.
  Model(const CompiledTraining& program, const std::string& file);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // Of the recipe, or of the file without folder and ending.
  [[nodiscard]] const std::string& name() const { return name_; }
  // Empty where a recipe was named.
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const Graph& graph() const { return graph_; }
  // Takes another graph, made of that one.
  void set_graph(Graph graph) { graph_ = std::move(graph); }
  // A copy with the weights that its training begins with: those of the file, or of the model file.
  [[nodiscard]] Graph graph_with_weights(const std::string& file) const;
  // The recipe, or the one whose graph the file has: its data and settings are the defaults. Null
  // where there is none.
  [[nodiscard]] const Recipe* recipe() const { return recipe_; }
  // The recipe's settings under name(); without one a batch of 32, AdamW and 10 epochs, and nothing
  // to build or to sample.
  [[nodiscard]] const Recipe& settings() const { return settings_; }
  // The file with the weights: the one given, else the model file, else what train writes for the
  // recipe. Throws Error where there is none.
  [[nodiscard]] std::string weights(const std::string& checkpoint) const;

 private:
  std::string name_;
  std::string file_;
  Graph graph_;
  const Recipe* recipe_ = nullptr;
  Recipe settings_;
};

// How a model gets a loss.
[[nodiscard]] std::string loss_hint(const Model& model);
// Throws Error where the model has no loss. use: what it is for.
void require_loss(const Model& model, const char* use = "training lowers");

// Elements of all parameters, trained or frozen, whatever their type.
[[nodiscard]] int64_t parameter_count(const Graph& graph);

// Adds the positional argument MODEL; its help names the recipes that the command offers.
void add_model(CLI::App& command, std::string& model, Offered offered = any_recipe);

// Adds --out FILE, the model file to write, which must be given.
void add_model_out(CLI::App& command, std::string& out);

// Adds --checkpoint FILE, by default the model file, or the one that train writes.
void add_checkpoint(CLI::App& command, std::string& checkpoint);

}  // namespace thimble::cli
