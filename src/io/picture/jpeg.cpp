#include "io/picture/jpeg.h"

#include <fmt/format.h>
#include <thimble/error.h>

#if defined(THIMBLE_HAS_TURBOJPEG)
#include <turbojpeg.h>
#endif

#include <cstdlib>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "io/dynamic_library.h"
#include "io/picture/exif.h"

namespace thimble::io {
namespace {

// Bytes one after another.
class JpegBytes {
 public:
  JpegBytes(const std::string& file, const ReadBytes& read) : file_(file), read_(read) {}

  int u8() {
    std::byte byte{};
    if (read_({&byte, 1}) != 1) {
      throw Error(file_, "is a JPEG file that is cut short: it ends before the picture's size");
    }
    return std::to_integer<int>(byte);
  }
  int u16() {
    const int high = u8();
    return high << 8 | u8();
  }
  // Up to so many bytes: fewer at the end alone.
  std::vector<std::byte> take(int count) {
    std::vector<std::byte> taken(static_cast<size_t>(count));
    taken.resize(read_(taken));
    return taken;
  }
  void skip(int count) {
    std::byte ignored[512];
    while (count > 0) {
      const size_t wanted = std::min<size_t>(static_cast<size_t>(count), sizeof(ignored));
      if (read_({ignored, wanted}) != wanted) return;  // the next u8 says so
      count -= static_cast<int>(wanted);
    }
  }

 private:
  const std::string& file_;
  const ReadBytes& read_;
};

// The markers SOF0 to SOF15 begin a frame; three of their codes mean something else.
bool is_frame(int marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

constexpr int kApp1 = 0xE1;

}  // namespace

PictureSize jpeg_size(const std::string& file, const ReadBytes& read) {
  JpegBytes bytes(file, read);
  std::optional<int> orientation;
  for (;;) {
    if (bytes.u8() != 0xFF) throw Error(file, "is a damaged JPEG file: a marker is missing");
    int marker = 0xFF;
    while (marker == 0xFF) marker = bytes.u8();  // fill bytes may stand before it
    if (marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8)) continue;  // without a length
    const int length = bytes.u16();
    if (length < 2 || marker == 0xD9 || marker == 0xDA) {
      throw Error(file, "is a damaged JPEG file: the picture's size is missing");
    }
    if (marker == kApp1 && !orientation) {
      const std::vector<std::byte> segment = bytes.take(length - 2);
      if (is_exif(segment)) orientation = exif_orientation(segment);
      continue;
    }
    if (!is_frame(marker)) {
      bytes.skip(length - 2);
      continue;
    }
    static_cast<void>(bytes.u8());  // bits of a sample
    int height = bytes.u16();
    int width = bytes.u16();
    if (is_turned(orientation.value_or(1))) std::swap(height, width);
    return {height, width, bytes.u8() == 1 ? 1 : 3, orientation.value_or(1)};
  }
}

#if defined(THIMBLE_HAS_TURBOJPEG)

namespace {

struct TurboJpeg {
  decltype(&tjInitDecompress) init = nullptr;
  decltype(&tjDecompressHeader3) header = nullptr;
  decltype(&tjDecompress2) decompress = nullptr;
  decltype(&tjGetErrorStr2) error_text = nullptr;
  decltype(&tjDestroy) destroy = nullptr;
};

const TurboJpeg& turbo_jpeg() {
  static const TurboJpeg loaded = [] {
    const DynamicLibrary library("libjpeg-turbo",
                                 {"libturbojpeg.so.0", "libturbojpeg.0.dylib", "libturbojpeg.so"},
                                 "read JPEG files", "libturbojpeg0");
    TurboJpeg found;
    library.find("tjInitDecompress", found.init);
    library.find("tjDecompressHeader3", found.header);
    library.find("tjDecompress2", found.decompress);
    library.find("tjGetErrorStr2", found.error_text);
    library.find("tjDestroy", found.destroy);
    return found;
  }();
  return loaded;
}

using Bytes = std::unique_ptr<unsigned char, void (*)(void*)>;

Bytes allocated(int64_t pixels, int64_t channels) {
  Bytes memory(static_cast<unsigned char*>(std::malloc(static_cast<size_t>(pixels * channels))),
               std::free);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// a b / 255, rounded to nearest.
unsigned char share_of(unsigned char a, unsigned char b) {
  const unsigned product = unsigned{a} * b + 128;
  return static_cast<unsigned char>((product + (product >> 8)) >> 8);
}

// CMYK as files store it, by Adobe's convention: 255 is no ink. RGB as Pillow's convert gives it:
// each colour is what its ink and black let through.
void to_rgb(unsigned char* rgb, const unsigned char* cmyk, int64_t pixels) {
  for (int64_t i = 0; i < pixels; ++i, cmyk += 4, rgb += 3) {
    for (int channel = 0; channel < 3; ++channel) rgb[channel] = share_of(cmyk[channel], cmyk[3]);
  }
}

}  // namespace

Picture decode_jpeg(const std::string& file, std::span<const std::byte> bytes,
                    const PictureSize& size) {
  const TurboJpeg& turbo = turbo_jpeg();
  const std::unique_ptr<void, decltype(turbo.destroy)> handle(turbo.init(), turbo.destroy);
  if (handle == nullptr) throw Error(file, "libjpeg-turbo cannot start");
  const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto count = static_cast<unsigned long>(bytes.size());
  int width = 0;
  int height = 0;
  int sampling = 0;
  int colours = 0;
  const bool is_read =
      turbo.header(handle.get(), data, count, &width, &height, &sampling, &colours) == 0;
  const bool turned = is_turned(size.orientation);
  if (!is_read || width != (turned ? size.height : size.width) ||
      height != (turned ? size.width : size.height)) {
    throw Error(file, fmt::format("is a damaged JPEG file: {}", turbo.error_text(handle.get())));
  }
  const bool is_cmyk = colours == TJCS_CMYK || colours == TJCS_YCCK;
  const int64_t channels = colours == TJCS_GRAY ? 1 : 3;
  const int64_t pixels = size.height * size.width;
  Picture picture{{height, width, channels}, allocated(pixels, channels)};
  const Bytes inks = is_cmyk ? allocated(pixels, 4) : Bytes(nullptr, std::free);
  // A warning, such as of a file that is cut short, fails too.
  const int format = is_cmyk ? TJPF_CMYK : channels == 1 ? TJPF_GRAY : TJPF_RGB;
  if (turbo.decompress(handle.get(), data, count, (is_cmyk ? inks : picture.pixels).get(), width,
                       /*pitch=*/0, height, format, TJFLAG_LIMITSCANS) != 0) {
    throw Error(file, fmt::format("cannot be decoded: {}", turbo.error_text(handle.get())));
  }
  if (is_cmyk) to_rgb(picture.pixels.get(), inks.get(), pixels);
  return upright(std::move(picture), size.orientation);
}

#else

Picture decode_jpeg(const std::string& file, std::span<const std::byte> /*bytes*/,
                    const PictureSize& /*size*/) {
  throw Error(file,
              "cannot be read: this build of thimble has no JPEG reader; install libjpeg-turbo, "
              "on Debian and Ubuntu libturbojpeg0-dev, and build again");
}

#endif

}  // namespace thimble::io
