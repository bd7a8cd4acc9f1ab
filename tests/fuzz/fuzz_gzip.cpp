// Any bytes as an IDX file behind a correct gzip wrapper, and as a gzip file.
#include <zlib.h>

#include "data/file.h"
#include "data/idx.h"
#include "fuzz_array.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace thimble::data;
  const auto bytes = bytes_of(data, size);
  try {
    (void)gunzip_head("fuzz", bytes, 36);
    (void)gunzip("fuzz", bytes, 1u << 20);
  } catch (const thimble::Error&) {
  }
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::vector<std::byte> packed(deflateBound(&stream, size));
  stream.next_in = const_cast<Bytef*>(data);
  stream.avail_in = static_cast<uInt>(size);
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  try {
    use_array(parse_idx("fuzz", std::move(packed)));
  } catch (const thimble::Error&) {
  }
  return 0;
}
