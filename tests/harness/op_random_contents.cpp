#include <cstring>
#include <random>

#include "harness/op_random_graphs.h"
#include "harness/uniform.h"

namespace thimble::test {
namespace {

std::mt19937 generator_for(const std::string& name, uint32_t seed) {
  std::vector<uint32_t> words(name.begin(), name.end());
  words.push_back(seed);
  std::seed_seq sequence(words.begin(), words.end());
  return std::mt19937(sequence);
}

}  // namespace

ir::Bytes Contents::bytes(const std::string& name, ir::Precision precision) const {
  const auto found = numbers.find(name);
  return found != numbers.end() ? ir::to_bytes(found->second, precision) : raw.at(name);
}

Contents random_contents(const RandomModel& model, const ir::Graph& graph, uint32_t seed) {
  Contents contents;
  for (const ir::ValueData& data : graph.values) {
    if (data.producer >= 0 || data.role == ir::Role::constant) continue;
    std::mt19937 random = generator_for(data.name, seed);
    const auto n = static_cast<size_t>(data.type.shape.elements());
    if (data.type.dtype == DType::f32) {
      // Running variances, moments and the learning rate are positive.
      const bool positive = data.role == ir::Role::state || data.role == ir::Role::scalar;
      const Uniform uniform(positive ? 0.1 : -0.7, 0.7);
      std::vector<double>& values = contents.numbers[data.name];
      values.resize(n);
      for (double& v : values) v = static_cast<double>(static_cast<float>(uniform(random)));
      continue;
    }
    const auto found = model.classes.find(data.name);
    std::uniform_int_distribution<uint32_t> uniform(
        1, found != model.classes.end() ? static_cast<uint32_t>(found->second) : 1000);
    std::vector<uint32_t> words(n);
    for (uint32_t& word : words) word = uniform(random) - (found != model.classes.end() ? 1U : 0U);
    ir::Bytes& raw = contents.raw[data.name];
    raw.resize(n * sizeof(uint32_t));
    if (n > 0) std::memcpy(raw.data(), words.data(), raw.size());
  }
  return contents;
}

std::vector<ir::Bytes> run_on(const ir::Graph& graph, const Contents& contents,
                              ir::Precision precision) {
  std::map<int, ir::Bytes> sources;
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const ir::ValueData& data = graph.values[id];
    if (data.producer >= 0 || data.role == ir::Role::constant) continue;
    sources[static_cast<int>(id)] = contents.bytes(data.name, precision);
  }
  return ir::run_reference(graph, std::move(sources), precision);
}

}  // namespace thimble::test
