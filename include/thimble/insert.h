// A trained model as a part of another one.
#pragma once

#include <thimble/graph.h>

#include <string>
#include <utility>
#include <vector>

namespace thimble {

// An input of a model.
struct ModelInput {
  std::string name;
  Shape sample;  // without the batch
  DType dtype = DType::f32;
};

// The inputs in the order in which the model declares them.
[[nodiscard]] std::vector<ModelInput> model_inputs(const Graph& model);

// Adds what a model computes at inference of these inputs, which are values of the graph, [N,
// sample...] in the order of model_inputs. Its weights and running statistics become constants:
// they are not trained, and derivatives go through to the inputs where its ops have them. name: of
// the layer that it becomes, and in front of its constants' names; new in the graph. Labels, loss
// and metrics are left out. Returns the outputs with their names. Throws Error where there are more
// or fewer inputs, one is of another type or shape, or a weight has no value (load_model,
// import_model).
std::vector<std::pair<std::string, Value>> insert_model(Graph& graph, const Graph& model,
                                                        const std::vector<Value>& inputs,
                                                        const std::string& name);

}  // namespace thimble
