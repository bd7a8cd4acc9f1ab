// Any bytes as a checkpoint: the trainer resumes from it, or throws Error and is unchanged.
#include <thimble/error.h>

#include <cstdlib>
#include <string>

#include "checkpoint_model.h"
#include "memory_file.h"

using namespace thimble;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Graph graph = test::checkpoint_model();
  Trainer trainer(graph, test::checkpoint_options());
  const std::string before = trainer.weights_sha256();
  const fuzz::MemoryFile file(data, size);
  try {
    trainer.resume(file.path());
  } catch (const Error&) {
    if (trainer.weights_sha256() != before || trainer.steps() != 0) std::abort();
    return 0;
  }
  try {
    static_cast<void>(trainer.fit(test::checkpoint_samples(), {.epochs = 2, .prefetch = 0}));
  } catch (const Error&) {  // numbers that are not finite, or a position outside of the data
  }
  return 0;
}
