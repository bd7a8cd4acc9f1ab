// Any bytes as a model file: a verified graph that is the same when it is written and read again,
// or an Error. The header is JSON in JSON, which chance seldom hits: input that begins with { is
// the graph alone, and most changes of it put one of its values, or an unusual one, in another's
// place.
#include <thimble/error.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <string_view>
#include <vector>

#include "io/model/graph_json.h"
#include "io/model/model.h"

namespace {

using namespace thimble;

void check(const ir::Graph& graph) {
  ir::verify(graph);
  const std::string text = io::graph_to_json(graph);
  const ir::Graph again = io::graph_from_json("again", text);
  if (ir::text(again) != ir::text(graph) || io::graph_to_json(again) != text) std::abort();
  static_cast<void>(ir::with_batch(graph, 3));
}

using nlohmann::json;

// The values inside a value, at every depth.
void collect(json& value, std::vector<json*>& all) {
  all.push_back(&value);
  if (value.is_structured()) {
    for (json& item : value) collect(item, all);
  }
}

json unusual(std::mt19937& random) {
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

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  std::mt19937 random(seed);
  json graph = json::parse(data, data + size, nullptr, false);
  if (!graph.is_object() || random() % 8 == 0) return LLVMFuzzerMutate(data, size, most);
  std::vector<json*> all;
  collect(graph, all);
  const json value = random() % 2 == 0 ? unusual(random) : *all[random() % all.size()];
  *all[random() % all.size()] = value;
  const std::string text = graph.dump();
  if (text.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    if (bytes.starts_with('{')) {
      check(io::graph_from_json("fuzz", bytes));
    } else {
      check(io::read_model(io::Safetensors::parse("fuzz", bytes)));
    }
  } catch (const Error&) {
  }
  return 0;
}
