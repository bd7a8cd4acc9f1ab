// Any bytes as a checkpoint: the trainer resumes from it, or throws Error and is unchanged.
#include <sys/mman.h>
#include <thimble/error.h>
#include <thimble/ops.h>
#include <thimble/trainer.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace {

using namespace thimble;

Graph model() {
  Graph g;
  const Value x = g.input("x", {2});
  const Value y = g.label("y", {1}, DType::f32);
  const Value error = dense(x, {.units = 1, .name = "d"}) - y;
  g.minimize(mean(error * error));
  g.metric("error", mean(abs(error)));
  return g;
}

data::Dataset samples() {
  return data::in_memory({{"x", {2}}, {"y", {1}, DType::f32, true}},
                         {std::vector<float>{1, 2, 3, 4, 5, 6}, std::vector<float>{1, 2, 3}});
}

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
  const TrainerOptions options{
      .optimizer = SGD{.lr = 0.01, .momentum = 0.9}, .batch = 2, .threads = 1};
  static const Graph graph = model();
  Trainer trainer(graph, options);
  const std::string before = trainer.weights_sha256();
  const MemoryFile file(data, size);
  try {
    trainer.resume(file.path());
  } catch (const Error&) {
    if (trainer.weights_sha256() != before || trainer.steps() != 0) std::abort();
    return 0;
  }
  try {
    static_cast<void>(trainer.fit(samples(), {.epochs = 2, .prefetch = 0}));
  } catch (const Error&) {  // numbers that are not finite, or a position outside of the data
  }
  return 0;
}
