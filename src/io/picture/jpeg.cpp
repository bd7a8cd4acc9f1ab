#include "io/picture/jpeg.h"

#include <fmt/format.h>
#include <thimble/error.h>

#if defined(THIMBLE_HAS_TURBOJPEG)
#include <turbojpeg.h>
#endif

#include <cstdlib>
#include <vector>

#include "io/dynamic_library.h"

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

}  // namespace

PictureSize jpeg_size(const std::string& file, const ReadBytes& read) {
  JpegBytes bytes(file, read);
  for (;;) {
    if (bytes.u8() != 0xFF) throw Error(file, "is a damaged JPEG file: a marker is missing");
    int marker = 0xFF;
    while (marker == 0xFF) marker = bytes.u8();  // fill bytes may stand before it
    if (marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8)) continue;  // without a length
    const int length = bytes.u16();
    if (length < 2 || marker == 0xD9 || marker == 0xDA) {
      throw Error(file, "is a damaged JPEG file: the picture's size is missing");
    }
    if (!is_frame(marker)) {
      bytes.skip(length - 2);
      continue;
    }
    static_cast<void>(bytes.u8());  // bits of a sample
    const int height = bytes.u16();
    const int width = bytes.u16();
    return {height, width, bytes.u8() == 1 ? 1 : 3};
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
  if (turbo.header(handle.get(), data, count, &width, &height, &sampling, &colours) != 0 ||
      width != size.width || height != size.height) {
    throw Error(file, fmt::format("is a damaged JPEG file: {}", turbo.error_text(handle.get())));
  }
  if (colours == TJCS_CMYK || colours == TJCS_YCCK) {
    throw Error(file, "is a JPEG file of CMYK colours, for print; convert it to RGB");
  }
  const int64_t channels = colours == TJCS_GRAY ? 1 : 3;
  Picture picture{{height, width, channels},
                  {static_cast<unsigned char*>(
                       std::malloc(static_cast<size_t>(size.height * size.width * channels))),
                   std::free}};
  if (picture.pixels == nullptr) throw std::bad_alloc();
  // A warning, such as of a file that is cut short, fails too.
  if (turbo.decompress(handle.get(), data, count, picture.pixels.get(), width, /*pitch=*/0, height,
                       channels == 1 ? TJPF_GRAY : TJPF_RGB, TJFLAG_LIMITSCANS) != 0) {
    throw Error(file, fmt::format("cannot be decoded: {}", turbo.error_text(handle.get())));
  }
  return picture;
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
