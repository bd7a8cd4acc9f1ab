// Any bytes as a checkpoint: the trainer resumes from it, or throws Error and is unchanged.
#include <sys/mman.h>
#include <thimble/error.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "checkpoint_model.h"

namespace {

using namespace thimble;

// A file in memory that holds the bytes.
class MemoryFile {
 public:
  MemoryFile(const uint8_t* data, size_t size) : fd_(memfd_create("checkpoint", 0)) {
    if (fd_ < 0 || write(fd_, data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Graph graph = test::checkpoint_model();
  Trainer trainer(graph, test::checkpoint_options());
  const std::string before = trainer.weights_sha256();
  const MemoryFile file(data, size);
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
