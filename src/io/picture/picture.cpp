#include "io/picture/picture.h"

#include <fmt/format.h>
#include <thimble/error.h>
#include <zlib.h>

#include <algorithm>
#include <climits>

#include "io/picture/jpeg.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wpedantic"
#endif
#if defined(__clang__)
// A first chunk of data that is empty is legal: the library then copies 0 bytes to a null pointer.
#pragma clang attribute push(__attribute__((no_sanitize("nonnull-attribute"))), apply_to = function)
#endif
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_HDR
#define STBI_ONLY_PNG
#define STBI_MAX_DIMENSIONS (1 << 16)
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
#if defined(__clang__)
#pragma clang attribute pop
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace thimble::io {
namespace {

constexpr unsigned char kPngMagic[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
constexpr unsigned char kJpegMagic[] = {0xFF, 0xD8};

[[noreturn]] void refuse_picture(const std::string& file, const char* what) {
  const char* const reason = stbi_failure_reason();
  throw Error(file, fmt::format("{}: {}", what, reason != nullptr ? reason : "unknown"));
}

PictureSize checked_size(const std::string& file, const PictureSize& size) {
  if (size.height < 1 || size.width < 1 || size.height * size.width > kMostPixels) {
    throw Error(file, fmt::format("is a picture of {}x{} pixels; up to {} pixels are read",
                                  size.width, size.height, kMostPixels));
  }
  return size;
}

// A header, and then what follows it.
struct Resumed {
  std::span<const std::byte> head;
  const ReadBytes& rest;
  bool is_at_end = false;

  int take(char* to, int size) {
    auto wanted =
        std::span(reinterpret_cast<std::byte*>(to), static_cast<size_t>(std::max(size, 0)));
    const size_t begun = std::min(wanted.size(), head.size());
    std::copy_n(head.begin(), begun, wanted.begin());
    head = head.subspan(begun);
    const size_t count = begun == wanted.size() ? begun : begun + rest(wanted.subspan(begun));
    is_at_end = is_at_end || count < wanted.size();
    return static_cast<int>(count);
  }
  void skip(int size) {
    char ignored[512];
    while (size > 0 && !is_at_end) {
      size -= take(ignored, std::min(size, static_cast<int>(sizeof(ignored))));
    }
  }
};

PictureSize png_size(const std::string& file, std::span<const std::byte> head,
                     const ReadBytes& rest) {
  Resumed source{head, rest};
  const stbi_io_callbacks callbacks = {
      [](void* user, char* to, int size) { return static_cast<Resumed*>(user)->take(to, size); },
      [](void* user, int size) { static_cast<Resumed*>(user)->skip(size); },
      [](void* user) { return static_cast<Resumed*>(user)->is_at_end ? 1 : 0; }};
  int width = 0;
  int height = 0;
  int channels = 0;
  if (stbi_info_from_callbacks(&callbacks, &source, &width, &height, &channels) == 0) {
    refuse_picture(file, "is a damaged PNG file, or one of more pixels than can be read");
  }
  return {height, width, channels};
}

template <size_t N>
bool begins_with(std::span<const std::byte> head, const unsigned char (&magic)[N]) {
  return head.size() >= N &&
         std::equal(std::begin(magic), std::end(magic), head.begin(),
                    [](unsigned char a, std::byte b) { return std::byte{a} == b; });
}

// Checks the chunks up to the end of the picture. stb_image makes room for what the length of a
// chunk says before it reads the chunk, and looks at no checksum.
void require_whole_chunks(const std::string& file, std::span<const std::byte> bytes) {
  constexpr size_t kWord = 4;            // a length, a type, a checksum
  constexpr uint32_t kEnd = 0x49454E44;  // IEND
  const auto word = [&](size_t at) {     // most significant byte first
    uint32_t value = 0;
    for (size_t i = 0; i < kWord; ++i)
      value = value << 8U | std::to_integer<uint32_t>(bytes[at + i]);
    return value;
  };
  size_t at = sizeof(kPngMagic);
  for (uint32_t type = 0; type != kEnd;) {
    const size_t left = bytes.size() - at;
    const size_t length = left < kWord ? 0 : word(at);
    if (left < 3 * kWord || length > left - 3 * kWord) {
      throw Error(file, fmt::format("is a PNG file that is cut off or damaged: a chunk begins at "
                                    "byte {} of {}, and does not end",
                                    at, bytes.size()));
    }
    type = word(at + kWord);
    const auto* const from = reinterpret_cast<const Bytef*>(bytes.data() + at + kWord);
    if (crc32_z(0, from, kWord + length) != word(at + 2 * kWord + length)) {
      throw Error(file,
                  fmt::format("is a damaged PNG file: the checksum of the chunk at byte {} is "
                              "wrong",
                              at));
    }
    at += 3 * kWord + length;
  }
}

}  // namespace

PictureSize picture_size(const std::string& file, const ReadBytes& read) {
  std::byte head[sizeof(kPngMagic)];
  const size_t begun = read(std::span(head).first(sizeof(kJpegMagic)));
  if (begins_with(std::span(head).first(begun), kJpegMagic)) {
    return checked_size(file, jpeg_size(file, read));
  }
  const size_t count = begun < 2 ? begun : begun + read(std::span(head).subspan(begun));
  if (begins_with(std::span(head).first(count), kPngMagic)) {
    return checked_size(file, png_size(file, head, read));
  }
  throw Error(file, "is no PNG or JPEG file; convert it to one of them");
}

Picture decode_picture(const std::string& file, std::span<const std::byte> bytes) {
  if (bytes.size() > INT_MAX) throw Error(file, "is larger than 2 GiB; no picture is");
  size_t at = 0;
  const PictureSize size = picture_size(file, [&](std::span<std::byte> to) {
    const size_t count = std::min(to.size(), bytes.size() - at);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), count, to.begin());
    at += count;
    return count;
  });
  if (begins_with(bytes, kJpegMagic)) return decode_jpeg(file, bytes, size);
  require_whole_chunks(file, bytes);
  int width = 0;
  int height = 0;
  int channels = 0;
  unsigned char* const pixels = stbi_load_from_memory(
      reinterpret_cast<const stbi_uc*>(bytes.data()), static_cast<int>(bytes.size()), &width,
      &height, &channels, /*desired_channels=*/0);
  if (pixels == nullptr) refuse_picture(file, "cannot be decoded");
  return {{height, width, channels}, {pixels, stbi_image_free}};
}

}  // namespace thimble::io
