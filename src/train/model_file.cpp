#include <fmt/format.h>
#include <thimble/model_file.h>
#include <thimble/trainer.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "io/model/model.h"
#include "train/checked_tensors.h"
#include "train/given_values.h"
#include "train/state.h"
#include "train/stored_tensor.h"
#include "train/update.h"

namespace thimble {
namespace {

bool has_weights(const ir::ValueData& data) {
  return data.producer < 0 && (data.role == ir::Role::parameter || data.role == ir::Role::state);
}

// The weights of a model as a store has them: of averaged parameters the averages.
// parts: of that model, if it has no ops; else null.
void write_model(const ir::Graph& model, const io::ModelParts* parts, const exec::Store& store,
                 const std::string& path) {
  std::vector<io::TensorView> tensors;
  const auto unpacked = std::make_shared<std::vector<std::byte>>();
  for (const ir::ValueData& data : model.values) {
    if (!has_weights(data)) continue;
    const exec::Store::Entry* entry = store.find_average(data.name);
    if (entry == nullptr) entry = store.find(data.name);
    tensors.push_back(train::stored_tensor(store, *entry, unpacked));
    tensors.back().name = *data.name;
  }
  io::Metadata metadata{{io::kFormatKey, io::kModelFormat}};
  if (parts != nullptr) {
    io::add_model(*parts, metadata, tensors);
  } else {
    io::add_model(model, metadata, tensors);
  }
  io::write_safetensors(path, tensors, metadata);
}

}  // namespace

void save_model(const Graph& graph, const std::string& path, uint64_t seed) {
  ir::Graph model = graph.ir();
  const train::GivenValues given(model);
  exec::Store store({&model});
  store.initialize(seed);
  given.write_to(store);
  write_model(model, nullptr, store, path);
}

void Trainer::save_model(const std::string& path) const {
  write_model(state_->described(), state_->model_parts ? &*state_->model_parts : nullptr,
              state_->runner.store(), path);
}

Graph load_graph(const std::string& path) {
  Graph graph;
  graph.ir() = io::read_model(io::Safetensors::open(path));
  return graph;
}

Graph load_model(const std::string& path) {
  Graph graph = load_graph(path);
  load_weights(graph, path);
  return graph;
}

void load_weights(Graph& graph, const std::string& path) {
  const io::Safetensors file = io::Safetensors::open(path);
  std::vector<std::pair<ir::ValueData*, std::string>> wanted;  // with the name in the file
  std::set<std::string> checked;
  const train::Averages averages = train::averages_in(file);
  for (ir::ValueData& data : graph.ir().values) {
    if (!has_weights(data)) continue;
    wanted.emplace_back(&data, train::name_in_file(averages, data.name));
    train::check_tensor(file, data.type, wanted.back().second);
    checked.insert(wanted.back().second);
  }
  train::check_others(file, checked);
  for (const auto& [data, name] : wanted) {
    data->data = Array::of_bytes(data->type.dtype, data->type.shape,
                                 train::read_tensor(file, data->type, name));
  }
}

void set_weights(Graph& graph, const std::map<std::string, Array>& values) {
  std::map<std::string, ir::ValueData*> known;
  for (ir::ValueData& data : graph.ir().values) {
    if (has_weights(data)) known.emplace(*data.name, &data);
  }
  for (const auto& [name, array] : values) {
    const auto found = known.find(name);
    if (found == known.end()) throw Error(name, "the graph has no parameter of this name");
    const ir::TensorType& type = found->second->type;
    if (array.dtype() != type.dtype || array.shape() != type.shape) {
      throw Error(name, fmt::format("expected {} {}, got {} {}", to_string(type.dtype),
                                    to_string(type.shape), to_string(array.dtype()),
                                    to_string(array.shape())));
    }
  }
  for (const auto& [name, array] : values) known.at(name)->data = array.owned();
}

}  // namespace thimble
