// Any bytes as a file of weights of which some are i4, two in a byte: a predictor maps and reads
// them, or throws Error. scripts/fuzz_seeds.py writes the seeds.
#include <thimble/error.h>
#include <thimble/lora.h>
#include <thimble/ops.h>
#include <thimble/predictor.h>

#include <vector>

#include "ir/graph.h"
#include "memory_file.h"

namespace {

thimble::Graph network() {
  thimble::Graph g;
  const thimble::Value w = g.parameter("up.weight", {4, 4}, thimble::init::ones());
  const thimble::Value h = matmul(g.input("x", {4}), w);
  g.output("y", dense(h, {.units = 3, .name = "down"}));
  for (thimble::ir::ValueData& data : g.ir().values) {
    if (data.role != thimble::ir::Role::parameter) continue;
    data.data = thimble::Array(thimble::DType::f32, data.type.shape);
  }
  return store_weights(g, thimble::DType::i4);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const thimble::Graph graph = network();
  const thimble::fuzz::MemoryFile file(data, size);
  try {
    thimble::Predictor predictor(graph, file.path());
    const thimble::Array x(std::vector<float>{1, -2, 3, -4}, {1, 4});
    static_cast<void>(predictor.run({{"x", x}}));
  } catch (const thimble::Error&) {
  }
  return 0;
}
