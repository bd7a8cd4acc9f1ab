// Any bytes as a quantized network in JSON and, behind a byte of 0, its safetensors file: a
// verified graph that is the same when it is written and read again, or an Error. Input without
// that byte is read with the weights of the seeds.
#include <thimble/error.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "import/quantized_json.h"
#include "io/model/graph_json.h"
#include "io/model/model.h"
#include "json_mutator.h"

namespace {

using namespace thimble;

// A convolution of 1 by 1 from 2 to 3 channels, with the factors 1/4, 1/2 and 1 for an input of
// scale 1/2 and a result of scale 1.
std::string usual_weights() {
  const std::string header = R"({"w":{"dtype":"I8","shape":[3,1,1,2],"data_offsets":[0,6]},)"
                             R"("d":{"dtype":"I8","shape":[3,1,1,1],"data_offsets":[6,9]},)"
                             R"("s":{"dtype":"F32","shape":[3],"data_offsets":[9,21]},)"
                             R"("f":{"dtype":"F32","shape":[3],"data_offsets":[21,33]},)"
                             R"("b":{"dtype":"I32","shape":[3],"data_offsets":[33,45]}})";
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size() & 255U);
  file[1] = static_cast<char>(header.size() >> 8U);
  file += header;
  file += std::string("\1\2\3\374\5\6\1\2\3", 9);
  const float factors[] = {0.5F, 1.0F, 2.0F, 0.25F, 0.5F, 1.0F};
  const int32_t bias[] = {8, -2, 1};
  file.append(reinterpret_cast<const char*>(factors), sizeof(factors));
  file.append(reinterpret_cast<const char*>(bias), sizeof(bias));
  return file;
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return thimble::fuzz::mutate_json(data, size, most, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string usual = usual_weights();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t end = bytes.find('\0');
  const std::string_view weights = end == std::string_view::npos ? usual : bytes.substr(end + 1);
  try {
    const Graph graph = importer::quantized_json("fuzz", bytes.substr(0, end),
                                                 io::Safetensors::parse("weights", weights));
    ir::verify(graph.ir());
    const std::string text = io::graph_to_json(graph.ir());
    if (io::graph_to_json(io::graph_from_json("again", text)) != text) std::abort();
    static_cast<void>(ir::with_batch(graph.ir(), 3));
  } catch (const Error& error) {
    const std::string where = error.where();
    if (where != "fuzz" && where != "weights") std::abort();  // errors name the file
  }
  return 0;
}
