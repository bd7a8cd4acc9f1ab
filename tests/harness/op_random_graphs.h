// Random models of random ops, for properties that hold for every graph.
#pragma once

#include <thimble/graph.h>

#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/reference.h"

namespace thimble::test {

// A model whose loss depends on everything in it that can be differentiated.
struct RandomModel {
  Graph graph;
  int64_t batch = 1;
  std::map<std::string, int64_t> classes;  // of the labels that are class indices
};

// The model that these numbers stand for. Every number adds one op of random kind, attributes and
// inputs, so that fewer of them make a smaller model. seed decides about the batch, the input and
// the losses. Attributes are such that the ops accept them and that their results stay of moderate
// size; kinks are few.
RandomModel random_model(uint32_t seed, const std::vector<uint32_t>& ops);

// Random contents of every source but constants, by name. They depend on the seed and the names
// alone, so that a rewritten graph gets the same.
struct Contents {
  std::map<std::string, std::vector<double>> numbers;  // f32
  std::map<std::string, ir::Bytes> raw;                // other types, as in memory
  // The contents of a source in memory.
  [[nodiscard]] ir::Bytes bytes(const std::string& name, ir::Precision precision) const;
};

Contents random_contents(const RandomModel& model, const ir::Graph& graph, uint32_t seed);

// Every value of the graph by the reference kernels.
std::vector<ir::Bytes> run_on(const ir::Graph& graph, const Contents& contents,
                              ir::Precision precision);

}  // namespace thimble::test
