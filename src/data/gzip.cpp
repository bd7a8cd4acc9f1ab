// Unpacking gzip in memory over zlib.
#include <thimble/error.h>

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "data/file.h"

namespace thimble::data {
namespace {

class Inflater {
 public:
  Inflater(const std::string& file, std::span<const std::byte> packed)
      : file_(file), packed_(packed) {
    // 16 + 15: a gzip wrapper, the largest window.
    if (inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK) throw Error(file, "zlib cannot start");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Unpacks up to out.size() bytes and returns how many; fewer only at the end of the file.
  size_t read(std::span<std::byte> out) {
    size_t written = 0;
    while (written < out.size() && !finished_) {
      const size_t in_size = std::min<size_t>(packed_.size() - used_, 1u << 30);
      const size_t out_size = std::min<size_t>(out.size() - written, 1u << 30);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed_.data() + used_));
      stream_.avail_in = static_cast<uInt>(in_size);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + written);
      stream_.avail_out = static_cast<uInt>(out_size);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      used_ += in_size - stream_.avail_in;
      written += out_size - stream_.avail_out;
      if (status == Z_STREAM_END) {
        next_member();
      } else if (status != Z_OK) {
        fail(status);
      }
    }
    return written;
  }

 private:
  // A gzip file is a row of members; what they hold belongs together.
  void next_member() {
    const auto rest = packed_.subspan(used_);
    finished_ = rest.empty();
    if (finished_) return;
    if (!is_gzip(rest)) {
      throw Error(file_, fmt::format("{} bytes that are not gzip follow at offset {}; the file is "
                                     "damaged",
                                     rest.size(), used_));
    }
    inflateReset(&stream_);
  }

  [[noreturn]] void fail(int status) const {
    if (status == Z_BUF_ERROR) {
      throw Error(file_, fmt::format("gzip data end too early, at offset {}; the file is cut short",
                                     packed_.size()));
    }
    throw Error(file_, fmt::format("gzip data are damaged before offset {}: {}", used_,
                                   stream_.msg != nullptr ? stream_.msg : "zlib failed"));
  }

  const std::string& file_;
  std::span<const std::byte> packed_;
  size_t used_ = 0;
  bool finished_ = false;
  z_stream stream_{};
};

}  // namespace

bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

std::vector<std::byte> gunzip_head(const std::string& file, std::span<const std::byte> packed,
                                   size_t limit) {
  std::vector<std::byte> head(limit);
  head.resize(Inflater(file, packed).read(head));
  return head;
}

std::vector<std::byte> gunzip(const std::string& file, std::span<const std::byte> packed,
                              size_t limit) {
  constexpr size_t kFirstBytes = 1u << 16;
  Inflater inflater(file, packed);
  std::vector<std::byte> bytes;
  size_t size = 0;
  // One byte more than the limit shows that there is more, and lets the checksum be read.
  do {
    bytes.resize(std::min(std::max(kFirstBytes, 2 * size), limit + 1));
    size += inflater.read(std::span(bytes).subspan(size));
    if (size > limit) {
      throw Error(file,
                  fmt::format("unpacks to more than the {} bytes its header announces", limit));
    }
  } while (size == bytes.size());
  bytes.resize(size);
  return bytes;
}

}  // namespace thimble::data
