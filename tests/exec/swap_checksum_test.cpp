#include "exec/swap_checksum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "exec/swap_test.h"

namespace thimble::exec::swap_checksum_test {
namespace {

using test::Bytes;

uint64_t checksum(const Bytes& bytes, uint64_t seed = 0) {
  Bytes copy(bytes.size());
  const uint64_t sum =
      copy_with_checksum(copy.data(), bytes.data(), static_cast<int64_t>(bytes.size()), seed);
  EXPECT_EQ(copy, bytes);
  return sum;
}

TEST(swap_checksum, every_flipped_bit_shows) {
  for (const int64_t size : {1, 7, 64, 65, 200}) {
    Bytes bytes = test::random_bytes(size, 1);
    std::set<uint64_t> seen{checksum(bytes)};
    for (std::byte& byte : bytes) {
      for (int bit = 0; bit < 8; ++bit) {
        byte ^= std::byte{1} << bit;
        EXPECT_TRUE(seen.insert(checksum(bytes)).second) << size << " bytes, bit " << bit;
        byte ^= std::byte{1} << bit;
      }
    }
  }
}

// A product mixes high bits worst, and the signs of floats are there.
TEST(swap_checksum, every_two_flipped_high_bits_show) {
  Bytes bytes = test::random_bytes(512, 1);
  std::set<uint64_t> seen{checksum(bytes)};
  for (size_t i = 3; i < bytes.size(); i += 4) {
    for (size_t j = 3; j < i; j += 4) {
      bytes[i] ^= std::byte{0x80};
      bytes[j] ^= std::byte{0x80};
      EXPECT_TRUE(seen.insert(checksum(bytes)).second) << "bytes " << i << " and " << j;
      bytes[i] ^= std::byte{0x80};
      bytes[j] ^= std::byte{0x80};
    }
  }
}

TEST(swap_checksum, zeros_differ_by_number_and_place) {
  std::set<uint64_t> seen;
  for (int64_t size = 0; size < 300; ++size) {
    EXPECT_TRUE(seen.insert(checksum(Bytes(static_cast<size_t>(size)))).second) << size;
  }
  for (uint64_t chunk = 1; chunk < 300; ++chunk) {
    EXPECT_TRUE(seen.insert(checksum(Bytes(4096), chunk * 4096)).second) << chunk;
  }
}

TEST(swap_checksum, exchanged_words_show) {
  Bytes bytes = test::random_bytes(512, 1);
  const uint64_t sum = checksum(bytes);
  for (size_t i = 8; i < bytes.size(); i += 8) {
    std::swap_ranges(bytes.begin(), bytes.begin() + 8, bytes.begin() + static_cast<int64_t>(i));
    EXPECT_NE(checksum(bytes), sum) << i;
    std::swap_ranges(bytes.begin(), bytes.begin() + 8, bytes.begin() + static_cast<int64_t>(i));
  }
}

}  // namespace
}  // namespace thimble::exec::swap_checksum_test
