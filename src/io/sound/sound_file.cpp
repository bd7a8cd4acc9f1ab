#include "io/sound/sound_file.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>

#if defined(THIMBLE_HAS_SNDFILE)

#include "io/sound/sndfile_library.h"

namespace thimble::io {

struct SoundFile::Handle {
  const SndfileLibrary& library;
  SoundBytes bytes;
  int64_t at = 0;
  std::exception_ptr thrown;  // by the bytes; libsndfile knows no exceptions
  SNDFILE* file = nullptr;

  explicit Handle(SoundBytes source) : library(sndfile_library()), bytes(std::move(source)) {}
  ~Handle() {
    if (file != nullptr) library.close(file);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  static sf_count_t length(void* user) { return static_cast<Handle*>(user)->bytes.size; }
  static sf_count_t tell(void* user) { return static_cast<Handle*>(user)->at; }
  static sf_count_t write(const void* /*from*/, sf_count_t /*count*/, void* /*user*/) { return 0; }
  static sf_count_t seek(sf_count_t offset, int whence, void* user) {
    auto& self = *static_cast<Handle*>(user);
    const int64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? self.at : self.bytes.size;
    self.at =
        offset > self.bytes.size - base ? self.bytes.size : std::max<int64_t>(base + offset, 0);
    return self.at;
  }
  static sf_count_t read(void* to, sf_count_t count, void* user) {
    auto& self = *static_cast<Handle*>(user);
    count = std::clamp<sf_count_t>(count, 0, self.bytes.size - self.at);
    try {
      self.bytes.read(self.at, {static_cast<std::byte*>(to), static_cast<size_t>(count)});
    } catch (...) {
      self.thrown = std::current_exception();
      return 0;
    }
    self.at += count;
    return count;
  }
};

namespace {

// Bits that a frame takes at least, in the forms that are read.
bool is_plain(int format) {
  const int container = format & SF_FORMAT_TYPEMASK;
  if (container != SF_FORMAT_WAV && container != SF_FORMAT_WAVEX && container != SF_FORMAT_RF64) {
    return false;
  }
  switch (format & SF_FORMAT_SUBMASK) {
    case SF_FORMAT_PCM_U8:
    case SF_FORMAT_PCM_S8:
    case SF_FORMAT_PCM_16:
    case SF_FORMAT_PCM_24:
    case SF_FORMAT_PCM_32:
    case SF_FORMAT_FLOAT:
    case SF_FORMAT_DOUBLE:
    case SF_FORMAT_ULAW:
    case SF_FORMAT_ALAW:
      return true;
    default:
      return false;
  }
}

// libsndfile takes fewer samples where a file ends before those that its header announces.
void require_whole_samples(const std::string& file, const SoundBytes& bytes) {
  // Programs that write to a pipe announce this many bytes or more: they do not know.
  constexpr uint32_t kUnknownBytes = 0x7FFF0000;
  constexpr int64_t kHead = 8;  // name and size of a chunk
  std::byte head[kHead];
  if (bytes.size < kHead) return;
  bytes.read(0, head);
  if (std::memcmp(head, "RIFF", 4) != 0) return;  // other forms have other sizes
  for (int64_t at = kHead + 4; at + kHead <= bytes.size;) {
    bytes.read(at, head);
    uint32_t size = 0;
    for (size_t i = kHead; i > 4; --i) size = size << 8U | std::to_integer<uint32_t>(head[i - 1]);
    at += kHead;
    if (std::memcmp(head, "data", 4) != 0) {
      at += int64_t{size} + size % 2;
      continue;
    }
    if (size >= kUnknownBytes || size <= bytes.size - at) return;
    throw Error(file, fmt::format("is a WAV file that is cut short: it announces {} bytes of "
                                  "samples and has {}",
                                  size, bytes.size - at));
  }
  throw Error(file, "is a WAV file that is cut short: it ends before its samples");
}

}  // namespace

SoundFile::SoundFile(const std::string& file, SoundBytes bytes)
    : file_(file), handle_(std::make_unique<Handle>(std::move(bytes))) {
  SF_VIRTUAL_IO io = {Handle::length, Handle::seek, Handle::read, Handle::write, Handle::tell};
  SF_INFO found{};
  handle_->file = handle_->library.open(&io, SFM_READ, &found, handle_.get());
  if (handle_->thrown) std::rethrow_exception(handle_->thrown);
  if (handle_->file == nullptr) {
    throw Error(file_, fmt::format("is no WAV file that can be read: {}",
                                   handle_->library.error_text(nullptr)));
  }
  if (!is_plain(found.format)) {
    throw Error(file_, "is no WAV file of plain samples; convert it to WAV, PCM or floating point");
  }
  // Every form takes a byte or more for each sample of each channel.
  if (found.channels < 1 || found.samplerate < 1 || found.frames < 0 ||
      found.frames > handle_->bytes.size / found.channels) {
    throw Error(file_,
                fmt::format("announces {} samples of {} channels at {} Hz, which its {} bytes "
                            "cannot hold; the file is damaged",
                            found.frames, found.channels, found.samplerate, handle_->bytes.size));
  }
  require_whole_samples(file_, handle_->bytes);
  info_ = {found.frames, found.channels, found.samplerate};
}

SoundFile::~SoundFile() = default;

void SoundFile::read(int64_t first, int64_t count, std::span<float> to) {
  Handle& handle = *handle_;
  const bool is_there = handle.library.seek(handle.file, first, SEEK_SET) == first &&
                        handle.library.read(handle.file, to.data(), count) == count;
  if (handle.thrown) std::rethrow_exception(handle.thrown);
  if (!is_there) {
    throw Error(file_, fmt::format("ends before sample {} of {}; the file is cut short",
                                   first + count, info_.frames));
  }
}

}  // namespace thimble::io

#else

namespace thimble::io {

struct SoundFile::Handle {};

SoundFile::SoundFile(const std::string& file, SoundBytes /*bytes*/) : file_(file) {
  throw Error(file_,
              "cannot be read: this build of thimble has no WAV reader; install libsndfile, on "
              "Debian and Ubuntu libsndfile1-dev, and build again");
}
SoundFile::~SoundFile() = default;
void SoundFile::read(int64_t /*first*/, int64_t /*count*/, std::span<float> /*to*/) {}

}  // namespace thimble::io

#endif
