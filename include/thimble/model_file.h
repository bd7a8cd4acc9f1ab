// Model files: a graph and its weights in one safetensors file. The guide on model files describes
// the format. A checkpoint (Trainer::save) is a model file, too.
#pragma once

#include <thimble/array.h>
#include <thimble/graph.h>

#include <cstdint>
#include <map>
#include <string>

namespace thimble {

// Writes the graph with the values of its parameters, running statistics and constants. Parameters
// without values of their own (load_model, load_weights) get initial values for the seed, as a
// Trainer of that seed would give them. The file appears whole or not at all.
// Throws Error where the path cannot be written. Trainer::save_model writes trained weights.
void save_model(const Graph& graph, const std::string& path, uint64_t seed = 0);

// The graph of a model file or checkpoint with its weights: a Trainer or Predictor of it begins
// with these. Every shape rule has run again. Of averaged parameters the averages are taken. Throws
// Error naming the file and the field for files that are damaged, of a newer version or no model
// files.
[[nodiscard]] Graph load_model(const std::string& path);

// The same without the values of parameters and running statistics, which stay in the file: with
// Trainer::load_weights or Predictor(path) they are in memory once.
[[nodiscard]] Graph load_graph(const std::string& path);

// Gives the parameters and running statistics of a graph the values that a model file, checkpoint
// or other safetensors file has under their names. Throws Error, changing nothing, where one is
// missing or has another type or shape.
void load_weights(Graph& graph, const std::string& path);

// Gives parameters and running statistics the values under their names, of their types and shapes;
// a Trainer or Predictor of the graph begins with these. Throws Error, changing nothing, for an
// unknown name, another type or another shape.
void set_weights(Graph& graph, const std::map<std::string, Array>& values);

}  // namespace thimble
