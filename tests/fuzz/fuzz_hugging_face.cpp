// Any bytes as config.json of a Hugging Face model and, behind a byte of 0, its safetensors file: a
// verified graph, or an Error. Where the text has peft_type, both are read as LoRA adapters of a
// small network. Without that byte, the text is read as an index of files, too.
#include <thimble/error.h>
#include <thimble/ops.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "import/hugging_face/config.h"
#include "import/hugging_face/model.h"
#include "import/lora/adapters.h"
#include "ir/graph.h"
#include "json_mutator.h"

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return thimble::fuzz::mutate_json(data, size, most, seed);
}

namespace {

// Two layers without activation, as adapters of the seeds have them.
thimble::Graph network() {
  using namespace thimble;
  Graph g;
  const Value h = dense(g.input("x", {3}), {.units = 2, .name = "block.up"});
  g.output("y", dense(h, {.units = 2, .name = "block.down"}));
  for (ir::ValueData& data : g.ir().values) {
    if (data.producer >= 0 || data.role != ir::Role::parameter) continue;
    data.data =
        Array(std::vector<float>(static_cast<size_t>(data.type.shape.elements())), data.type.shape);
  }
  return g;
}

}  // namespace

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
    const hf::Config config("config", bytes.substr(0, end));
    const Graph graph = config.has("peft_type")
                            ? importer::lora::with_adapters_of(network(), config, files[0])
                            : hf::graph_of(config, hf::Weights(std::move(files)), 0);
    ir::verify(graph.ir());
    static_cast<void>(ir::with_batch(graph.ir(), 3));
  } catch (const Error&) {
  }
  return 0;
}
