// Reading WAV files through libsndfile, which is loaded when the first file is opened: programs
// that read no sound do not carry it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace thimble::io {

struct SoundInfo {
  int64_t frames = 0;       // samples of each channel
  int64_t channels = 0;     // at least 1
  int64_t sample_rate = 0;  // Hz, at least 1
};

// The bytes of a file: size, and a function that reads some of them, which the caller keeps within.
struct SoundBytes {
  int64_t size = 0;
  std::function<void(int64_t offset, std::span<std::byte> to)> read;
};

// An open WAV file (RIFF, RF64, WAVE_FORMAT_EXTENSIBLE): PCM of 8, 16, 24 or 32 bits, floating
// point, A-law or mu-law. Used by one thread at a time.
class SoundFile {
 public:
  // Throws Error naming the file where it is no such file, damaged, or announces more than its
  // bytes can hold; and one that says what to install where libsndfile is missing.
  SoundFile(const std::string& file, SoundBytes bytes);
  ~SoundFile();
  SoundFile(const SoundFile&) = delete;
  SoundFile& operator=(const SoundFile&) = delete;

  [[nodiscard]] const SoundInfo& info() const { return info_; }
  // Frames first to first + count - 1, which the file has: [count, channels], integers scaled to
  // -1..1. Throws Error where the file ends before.
  void read(int64_t first, int64_t count, std::span<float> to);

 private:
  struct Handle;
  std::string file_;
  SoundInfo info_;
  std::unique_ptr<Handle> handle_;
};

}  // namespace thimble::io
