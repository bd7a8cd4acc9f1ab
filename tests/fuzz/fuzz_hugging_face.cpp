// Any bytes as config.json of a Hugging Face model and, behind a byte of 0, its safetensors file: a
// verified graph, or an Error. Without that byte, the text is read as an index of files, too.
#include <thimble/error.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "import/hugging_face/model.h"
#include "ir/graph.h"
#include "json_mutator.h"

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return thimble::fuzz::mutate_json(data, size, most, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace thimble;
  namespace hf = importer::hugging_face;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t end = bytes.find('\0');
  try {
    if (end == std::string_view::npos) {
      static_cast<void>(hf::read_index("config", bytes));
      return 0;
    }
    std::vector<io::Safetensors> files;
    files.push_back(io::Safetensors::parse("weights", bytes.substr(end + 1)));
    const Graph graph =
        hf::graph_of(hf::Config("config", bytes.substr(0, end)), hf::Weights(std::move(files)), 0);
    ir::verify(graph.ir());
    static_cast<void>(ir::with_batch(graph.ir(), 3));
  } catch (const Error&) {
  }
  return 0;
}
