// Any bytes as an ONNX model: a verified graph that is the same when it is written and read again,
// or an Error that names the file.
#include <thimble/error.h>

#include <cstdlib>
#include <string_view>

#include "import/onnx/onnx.h"
#include "io/model/graph_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace thimble;
  try {
    const importer::onnx::Model model =
        importer::onnx::parse_model("fuzz", {reinterpret_cast<const char*>(data), size}, false);
    const Graph graph = importer::onnx::graph_of("fuzz", model, {});
    ir::verify(graph.ir());
    const std::string text = io::graph_to_json(graph.ir());
    if (io::graph_to_json(io::graph_from_json("again", text)) != text) std::abort();
  } catch (const Error& error) {
    if (error.where() != "fuzz") std::abort();
  }
  return 0;
}
