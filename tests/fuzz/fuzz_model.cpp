// Any bytes as a model file: a verified graph that is the same when it is written and read again,
// or an Error. The header is JSON in JSON, which chance seldom hits: input that begins with { is
// the graph alone, and most changes of it put one of its values, or an unusual one, in another's
// place.
#include <thimble/error.h>

#include <cstdlib>
#include <string_view>

#include "io/model/graph_json.h"
#include "io/model/model.h"
#include "json_mutator.h"

namespace {

using namespace thimble;

void check(const ir::Graph& graph) {
  ir::verify(graph);
  const std::string text = io::graph_to_json(graph);
  const ir::Graph again = io::graph_from_json("again", text);
  if (ir::text(again) != ir::text(graph) || io::graph_to_json(again) != text) std::abort();
  static_cast<void>(ir::with_batch(graph, 3));
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return thimble::fuzz::mutate_json(data, size, most, seed);
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
