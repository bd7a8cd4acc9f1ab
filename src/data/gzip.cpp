// Unpacking gzip in memory over zlib.
#include <thimble/error.h>

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "data/file.h"

namespace thimble::data {
namespace {

constexpr size_t kPartBytes = size_t{16} << 10;

bool begins_a_member(const Storage& file, int64_t at) {
  std::byte magic[2];
  if (file.size() - at < 2) return false;
  file.read(at, magic);
  return magic[0] == std::byte{0x1f} && magic[1] == std::byte{0x8b};
}

class Inflater {
 public:
  Inflater(const std::string& file, const Storage& packed) : file_(file), packed_(packed) {
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
      if (stream_.avail_in == 0) refill();
      const size_t out_size = std::min<size_t>(out.size() - written, 1u << 30);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + written);
      stream_.avail_out = static_cast<uInt>(out_size);
      const int status = inflate(&stream_, Z_NO_FLUSH);
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
  // Of the packed bytes, how many are used.
  [[nodiscard]] int64_t used() const { return fetched_ - static_cast<int64_t>(stream_.avail_in); }

  void refill() {
    const auto count =
        static_cast<size_t>(std::min<int64_t>(packed_.size() - fetched_, kPartBytes));
    packed_.read(fetched_, {part_, count});
    fetched_ += static_cast<int64_t>(count);
    stream_.next_in = reinterpret_cast<Bytef*>(part_);
    stream_.avail_in = static_cast<uInt>(count);
  }

  // A gzip file is a row of members; what they hold belongs together.
  void next_member() {
    const int64_t rest = packed_.size() - used();
    finished_ = rest == 0;
    if (finished_) return;
    if (!begins_a_member(packed_, used())) {
      throw Error(file_, fmt::format("{} bytes that are not gzip follow at offset {}; the file is "
                                     "damaged",
                                     rest, used()));
    }
    inflateReset(&stream_);
  }

  [[noreturn]] void fail(int status) const {
    if (status == Z_BUF_ERROR) {
      throw Error(file_, fmt::format("gzip data end too early, at offset {}; the file is cut short",
                                     packed_.size()));
    }
    throw Error(file_, fmt::format("gzip data are damaged before offset {}: {}", used(),
                                   stream_.msg != nullptr ? stream_.msg : "zlib failed"));
  }

  const std::string& file_;
  const Storage& packed_;
  int64_t fetched_ = 0;
  bool finished_ = false;
  z_stream stream_{};
  std::byte part_[kPartBytes];
};

}  // namespace

bool is_gzip(const Storage& file) { return begins_a_member(file, 0); }

std::vector<std::byte> gunzip_head(const std::string& file, const Storage& packed, size_t limit) {
  std::vector<std::byte> head(limit);
  head.resize(Inflater(file, packed).read(head));
  return head;
}

StoragePtr gunzip(const std::string& file, const Storage& packed, size_t limit) {
  Inflater inflater(file, packed);
  Spill spill;
  std::byte part[kPartBytes];
  size_t size = 0;
  size_t count = 0;
  // Reading on past the limit shows whether there is more, and lets the checksum be read.
  do {
    count = inflater.read(part);
    size += count;
    if (size > limit) {
      throw Error(file,
                  fmt::format("unpacks to more than the {} bytes its header announces", limit));
    }
    spill.append({part, count});
  } while (count == kPartBytes);
  return spill.finish();
}

}  // namespace thimble::data
