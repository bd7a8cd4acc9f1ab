#include "exec/sha256.h"

#include <gtest/gtest.h>

namespace thimble::exec::sha256_test {
namespace {

std::string digest(const std::string& text) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(text)));
  return hash.hex();
}

// Vectors of FIPS 180-4's example page and of NIST's long message.
TEST(sha256, gives_the_published_digests) {
  EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(digest(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(sha256, does_not_depend_on_how_the_bytes_are_cut) {
  Sha256 hash;
  const std::string text(200, 'x');
  for (const char& c : text) hash.update(std::as_bytes(std::span(&c, 1)));
  EXPECT_EQ(hash.hex(), digest(text));
}

}  // namespace
}  // namespace thimble::exec::sha256_test
