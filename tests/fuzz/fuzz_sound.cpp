// Any bytes as a WAV file: as many samples as it announces, or an Error.
#include "io/sound/sound_file.h"

#include <thimble/error.h>

#include <algorithm>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace thimble;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  try {
    io::SoundFile sound("fuzz",
                        {static_cast<int64_t>(size), [&](int64_t offset, std::span<std::byte> to) {
                           const auto part = bytes.subspan(static_cast<size_t>(offset), to.size());
                           std::copy(part.begin(), part.end(), to.begin());
                         }});
    const io::SoundInfo& info = sound.info();
    const int64_t count = std::min<int64_t>(info.frames, 1000);
    std::vector<float> samples(static_cast<size_t>(count * info.channels));
    sound.read(info.frames - count, count, samples);
  } catch (const Error&) {
  }
  return 0;
}
