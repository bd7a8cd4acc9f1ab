// Any bytes as a TensorFlow Lite or circle file: a verified graph that is the same when it is
// written as a model file and read again, or an Error that names the file.
#include <thimble/error.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "import/tflite/reader.h"
#include "io/model/graph_json.h"
#include "io/model/model.h"
#include "ir/graph.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace thimble;
  try {
    const tflite::File file =
        tflite::File::parse("/nowhere/fuzz.tflite", std::vector<char>(data, data + size));
    const tflite::Network network = tflite::read_network(file);
    ir::verify(network.graph.ir());
    const std::string text = io::graph_to_json(network.graph.ir());
    if (io::graph_to_json(io::graph_from_json("again", text)) != text) std::abort();
    try {
      static_cast<void>(ir::with_batch(network.graph.ir(), 3));
    } catch (const Error&) {  // three samples may be too large
    }
  } catch (const Error& error) {
    if (std::string(error.where()) != "/nowhere/fuzz.tflite") std::abort();  // errors name the file
  }
  return 0;
}
