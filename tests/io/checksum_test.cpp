// Checksums of safetensors files: every flipped bit is found.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thimble/error.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <thread>

#include "harness/error_of.h"
#include "io/atomic_file.h"
#include "io/safetensors/safetensors.h"
#include "io/temporary_folder.h"
#include "io/xxh64.h"

namespace thimble::io::checksum_test {
namespace {

using test::error_of;

std::string hex_of(const std::string& text) {
  Xxh64 sum;
  sum.update(std::as_bytes(std::span(text)));
  return sum.hex();
}

// As the reference implementation computes them (Python package xxhash).
TEST(xxh64, computes_what_the_specification_says) {
  EXPECT_EQ(hex_of(""), "ef46db3751d8e999");
  EXPECT_EQ(hex_of("a"), "d24ec4f1a98c6e5b");
  EXPECT_EQ(hex_of("abc"), "44bc2cf5ad770999");
  std::string bytes(1001, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(7 * i);
  EXPECT_EQ(hex_of(bytes.substr(0, 32)), "91b0cb0931a8c629");
  EXPECT_EQ(hex_of(bytes.substr(0, 63)), "219110bf13e2fa26");
  EXPECT_EQ(hex_of(bytes), "4028f1f4865bbe17");
}

TEST(xxh64, does_not_depend_on_where_the_bytes_are_cut) {
  std::string bytes(300, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(31 * i);
  for (size_t piece = 1; piece < 100; ++piece) {
    Xxh64 sum;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      const std::string part = bytes.substr(at, piece);
      sum.update(std::as_bytes(std::span(part)));
    }
    EXPECT_EQ(sum.hex(), hex_of(bytes)) << piece;
  }
}

// A file of two tensors and metadata, as bytes.
std::string small_file(const test::TemporaryFolder& folder) {
  const std::vector<float> values{1.5F, -2.0F, 3.25F};
  const std::vector<int8_t> bytes{1, 2, 3, 4, 5};
  const TensorView tensors[] = {{"w", DType::f32, {3}, std::as_bytes(std::span(values))},
                                {"none", DType::f32, {0}, {}},
                                {"b", DType::i8, {5}, std::as_bytes(std::span(bytes))}};
  write_safetensors(folder / "t", tensors, {{"step", "12"}, {"note", "\"checksum_of_header\":\""}});
  return read_file(folder / "t", 1 << 16);
}

void write(const std::string& path, const std::string& bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

TEST(checksum, is_no_part_of_the_metadata_that_is_read) {
  const test::TemporaryFolder folder;
  const Safetensors file = Safetensors::parse("f", small_file(folder));
  EXPECT_EQ(file.metadata(), (Metadata{{"step", "12"}, {"note", "\"checksum_of_header\":\""}}));
}

TEST(checksum, finds_every_flipped_bit_of_a_file) {
  const test::TemporaryFolder folder;
  const std::string good = small_file(folder);
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_NE(error_of([&] { static_cast<void>(Safetensors::parse("f", bad)); }), "no error")
        << "bit " << bit % 8 << " of byte " << bit / 8;
  }
}

TEST(checksum, is_compared_when_an_opened_file_is_scanned) {
  const test::TemporaryFolder folder;
  std::string bytes = small_file(folder);
  bytes.back() ^= 1;  // of the tensor b
  write(folder / "t", bytes);
  const Safetensors file = Safetensors::open(folder / "t");
  size_t seen = 0;
  file.scan(*file.find("w"), [&](size_t offset, std::span<const std::byte> part) {
    EXPECT_EQ(offset, seen);
    seen += part.size();
  });
  EXPECT_EQ(seen, 12U);
  EXPECT_NE(error_of([&] { file.scan(*file.find("b")); }).find("the tensor b is damaged"),
            std::string::npos);
}

TEST(checksum, does_not_hinder_reading_of_files_without) {
  const std::string header = R"({"w":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}   )";
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size());
  const Safetensors file = Safetensors::parse("f", length + header + "ab");
  EXPECT_EQ(file.tensors().size(), 1U);
  file.scan(*file.find("w"));
}

TEST(checksum, is_right_in_a_file_that_is_written_to_a_pipe) {
  const test::TemporaryFolder folder;
  const std::vector<float> values{1.5F, -2.0F, 3.25F};
  int fetched = 0;
  TensorView tensor{"w", DType::f32, {3}, {}};
  tensor.fetch = [&] {
    ++fetched;
    return std::as_bytes(std::span(values));
  };
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::string bytes;
  std::thread reader([&] { bytes = read_file(folder / "pipe", 1 << 16); });
  write_safetensors(folder / "pipe", std::span(&tensor, 1), {});
  reader.join();
  EXPECT_EQ(fetched, 2);
  EXPECT_NE(Safetensors::parse("f", bytes).find("w"), nullptr);
  // The same bytes as in a file.
  write_safetensors(folder / "file", std::span(&tensor, 1), {});
  EXPECT_EQ(read_file(folder / "file", 1 << 16), bytes);
  EXPECT_EQ(fetched, 3);
}

TEST(checksum, refuses_texts_that_are_not_utf8) {
  const test::TemporaryFolder folder;
  EXPECT_NE(error_of([&] {
              write_safetensors(folder / "t", {}, {{"a", "\xff"}});
            }).find("not UTF-8"),
            std::string::npos);
}

}  // namespace
}  // namespace thimble::io::checksum_test
