// Mutations of JSON, which chance seldom hits: most put one of its values, or an unusual one, in
// another's place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace thimble::fuzz {

// The values inside a value, at every depth.
inline void collect_json(nlohmann::json& value, std::vector<nlohmann::json*>& all) {
  all.push_back(&value);
  if (value.is_structured()) {
    for (nlohmann::json& item : value) collect_json(item, all);
  }
}

inline nlohmann::json unusual_json(std::mt19937& random) {
  using nlohmann::json;
  const json values[] = {json(),
                         true,
                         -1,
                         0,
                         1,
                         2,
                         3,
                         7,
                         2147483647,
                         1e308,
                         "N",
                         "7N",
                         "",
                         "inf",
                         json::array(),
                         json::object(),
                         -2147483648,
                         4096,
                         0.5,
                         "i8",
                         "f16",
                         65536,
                         "same",
                         9223372036854775807};
  return values[random() % std::size(values)];
}

// A mutator for libFuzzer of texts that are a JSON object; other bytes change as usual.
inline size_t mutate_json(uint8_t* data, size_t size, size_t most, unsigned seed) {
  using nlohmann::json;
  std::mt19937 random(seed);
  json graph = json::parse(data, data + size, nullptr, false);
  if (!graph.is_object() || random() % 8 == 0) return LLVMFuzzerMutate(data, size, most);
  std::vector<json*> all;
  collect_json(graph, all);
  const json value = random() % 2 == 0 ? unusual_json(random) : *all[random() % all.size()];
  *all[random() % all.size()] = value;
  const std::string text = graph.dump();
  if (text.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

}  // namespace thimble::fuzz
