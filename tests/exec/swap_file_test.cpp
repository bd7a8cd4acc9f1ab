#include "exec/swap_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thimble/error.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <future>
#include <random>
#include <thread>

#include "exec/swap_test.h"
#include "harness/file_limit.h"

namespace thimble::exec::swap_file_test {
namespace {

using test::Bytes;
using test::random_bytes;
using testing::HasSubstr;

class SwapFileTest : public test::SwapTest {};

std::vector<int64_t> sizes_around(const SwapOptions& options) {
  const int64_t buffer = options.buffer_bytes;
  return {0,      1,          4095,           4096,           4097,       buffer - 1,
          buffer, buffer + 1, 2 * buffer + 1, 3 * buffer + 5, 20 * buffer};
}

TEST_P(SwapFileTest, gives_back_what_was_written) {
  for (const int64_t buffer_bytes : {4096, 16 << 10, 256 << 10}) {
    for (const int buffers : {1, 2, 5}) {
      SwapOptions options = this->options();
      options.buffer_bytes = buffer_bytes;
      options.buffers = buffers;
      const std::vector<int64_t> sizes = sizes_around(options);
      SwapFile file(folder(), sizes, options);
      std::vector<Bytes> contents;
      for (size_t slot = 0; slot < sizes.size(); ++slot) {
        contents.push_back(random_bytes(sizes[slot], slot));
        file.start_write(static_cast<int>(slot), contents[slot].data(), sizes[slot]);
      }
      std::vector<Bytes> found(sizes.size());
      for (size_t slot = sizes.size(); slot-- > 0;) {
        found[slot].assign(static_cast<size_t>(sizes[slot]), std::byte{0x55});
        file.start_read(static_cast<int>(slot), found[slot].data(), sizes[slot]);
      }
      for (size_t slot = 0; slot < sizes.size(); ++slot) {
        ASSERT_TRUE(file.wait(static_cast<int>(slot))) << file.error();
        ASSERT_EQ(found[slot], contents[slot]) << sizes[slot] << " bytes";
      }
      EXPECT_EQ(file.error(), "");
    }
  }
}

TEST_P(SwapFileTest, takes_less_than_a_slot_and_addresses_of_any_alignment) {
  SwapFile file(folder(), {100'000}, options());
  Bytes contents = random_bytes(70'003, 1);
  file.start_write(0, contents.data() + 3, 70'000);
  Bytes found(70'007);
  file.start_read(0, found.data() + 7, 70'000);
  ASSERT_TRUE(file.wait(0)) << file.error();
  EXPECT_TRUE(std::equal(found.begin() + 7, found.end(), contents.begin() + 3));
  EXPECT_EQ(found[6], std::byte{0});
}

// Any order of writes and reads, with any deadlines, gives the results of a plain array of byte
// strings.
TEST_P(SwapFileTest, agrees_with_a_model_over_random_orders) {
  constexpr int kSlots = 12;
  constexpr int kTransfers = 400;
  for (const uint64_t seed : {1, 2, 3}) {
    std::mt19937_64 random(seed);
    const auto below = [&](int64_t n) {
      return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
    };
    SwapOptions options = this->options();
    options.buffers = 1 + static_cast<int>(below(4));
    std::vector<int64_t> sizes;
    for (int slot = 0; slot < kSlots; ++slot) sizes.push_back(below(6 * options.buffer_bytes));
    SwapFile file(folder(), sizes, options);
    // A write's source and a read's target, one of each for every slot.
    std::vector<Bytes> model(kSlots), found(kSlots);
    std::vector<bool> reads(kSlots, false);
    const auto settle = [&](int slot) {
      const auto s = static_cast<size_t>(slot);
      ASSERT_TRUE(file.wait(slot)) << file.error();
      if (reads[s]) {
        ASSERT_EQ(found[s], model[s]) << "seed " << seed << ", slot " << slot;
      }
      reads[s] = false;
    };
    for (int i = 0; i < kTransfers; ++i) {
      const int slot = static_cast<int>(below(kSlots));
      const auto s = static_cast<size_t>(slot);
      if (model[s].empty() || below(3) == 0) {
        settle(slot);
        model[s] = random_bytes(below(sizes[s] + 1), random());
        file.start_write(slot, model[s].data(), static_cast<int64_t>(model[s].size()), below(10));
      } else if (!reads[s]) {
        found[s].assign(model[s].size(), std::byte{0x55});
        file.start_read(slot, found[s].data(), static_cast<int64_t>(found[s].size()), below(10));
        reads[s] = true;
      } else {
        settle(slot);
      }
    }
    for (int slot = 0; slot < kSlots; ++slot) settle(slot);
  }
}

// The order in which the disk gets chunks of slots, if all but the first are queued.
TEST_P(SwapFileTest, takes_the_most_urgent_first_and_those_of_a_slot_in_order) {
  constexpr int64_t kChunk = 4096;
  constexpr int kChunks[] = {3, 2, 1, 1};  // by slot
  SwapOptions options = this->options();
  options.buffer_bytes = kChunk;
  options.buffers = 1;
  std::promise<void> all_queued;
  std::shared_future<void> queued = all_queued.get_future().share();
  std::string order;
  options.answer = [&](const SwapRequest& request, int64_t moved) {
    queued.wait();
    int64_t chunk = request.offset / kChunk;
    int slot = 0;
    while (chunk >= kChunks[slot]) chunk -= kChunks[slot++];
    order += fmt::format("{}{}.{} ", request.write ? "w" : "r", slot, chunk);
    return moved;
  };
  Bytes data(3 * kChunk);
  SwapFile file(folder(), {3 * kChunk, 2 * kChunk, kChunk, kChunk}, options);
  file.start_write(0, data.data(), 3 * kChunk, 8);
  while (file.counters().busy_ms == 0.0) std::this_thread::yield();  // its first chunk has started
  file.start_write(1, data.data(), 2 * kChunk, 9);
  file.start_write(2, data.data(), kChunk, 5);
  file.start_read(2, data.data(), kChunk, 1);  // the write before it in the slot must come first
  file.start_write(3, data.data(), kChunk, 5);
  all_queued.set_value();
  for (int slot = 0; slot < 4; ++slot) ASSERT_TRUE(file.wait(slot)) << file.error();
  EXPECT_EQ(order, "w0.0 w2.0 r2.0 w3.0 w0.1 w0.2 w1.0 w1.1 ");
}

TEST_P(SwapFileTest, has_no_name_and_is_private_to_its_user) {
  const SwapFile file(folder(), {100'000}, options());
  const std::string path = descriptor_path();
  ASSERT_NE(path, "");
  EXPECT_TRUE(std::filesystem::is_empty(folder()));
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
  EXPECT_EQ(status.st_nlink, 0U);
  EXPECT_EQ(status.st_size, file.file_bytes());
  EXPECT_GE(status.st_blocks * 512, file.file_bytes()) << "its place is not taken";
}

TEST_P(SwapFileTest, leaves_nothing_open) {
  { const SwapFile file(folder(), {100'000}, options()); }
  EXPECT_EQ(descriptor_path(), "");
}

TEST_P(SwapFileTest, is_destroyed_with_transfers_under_way) {
  const Bytes drawn = random_bytes(4 << 20, 1);
  for (int i = 0; i < 20; ++i) {
    Bytes contents = drawn;  // gone after the file: a transfer that goes on would use it
    SwapFile file(folder(), {4 << 20, 4 << 20}, options());
    file.start_write(0, contents.data(), 4 << 20);
    file.start_write(1, contents.data(), 4 << 20);
    file.start_read(0, contents.data(), 4 << 20);
  }
}

TEST_P(SwapFileTest, counts_bytes_and_time) {
  SwapFile file(folder(), {1 << 20, 1000}, options());
  Bytes contents = random_bytes(1 << 20, 1);
  file.start_write(0, contents.data(), 1 << 20);
  file.start_write(1, contents.data(), 1000);
  file.start_read(1, contents.data(), 1000);
  ASSERT_TRUE(file.wait(0));
  ASSERT_TRUE(file.wait(1));
  SwapCounters counters = file.counters();
  EXPECT_EQ(counters.written_bytes, (1 << 20) + 1000);
  EXPECT_EQ(counters.read_bytes, 1000);
  EXPECT_GT(counters.busy_ms, 0.0);
  EXPECT_GT(counters.stall_ms, 0.0);
  file.reset_counters();
  counters = file.counters();
  EXPECT_EQ(counters.written_bytes, 0);
  EXPECT_EQ(counters.read_bytes, 0);
  EXPECT_EQ(counters.stall_ms, 0.0);
}

TEST_P(SwapFileTest, waiting_for_a_finished_transfer_is_no_stall) {
  SwapFile file(folder(), {4096}, options());
  const Bytes contents(4096);
  ASSERT_TRUE(file.wait(0)) << "there is nothing to wait for";
  file.start_write(0, contents.data(), 4096);
  ASSERT_TRUE(file.wait(0));
  file.reset_counters();
  ASSERT_TRUE(file.wait(0));
  EXPECT_EQ(file.counters().stall_ms, 0.0);
}

TEST_P(SwapFileTest, may_have_no_slots) {
  const SwapFile file(folder(), {}, options());
  EXPECT_EQ(file.file_bytes(), 0);
}

TEST_P(SwapFileTest, misuse_is_a_failure_that_says_so) {
  Bytes data(5000);
  const struct {
    void (*act)(SwapFile&, Bytes&);
    const char* message;
  } cases[] = {
      {[](SwapFile& f, Bytes& d) { f.start_read(0, d.data(), 5000); }, "never written"},
      {[](SwapFile& f, Bytes& d) {
         f.start_write(0, d.data(), 5000);
         f.start_read(0, d.data(), 4999);
       },
       "4999 bytes are asked for, 5000 were written"},
      {[](SwapFile& f, Bytes& d) { f.start_write(0, d.data(), 5001); },
       "5001 bytes, the slot has 5000"},
      {[](SwapFile& f, Bytes& d) { f.start_write(0, d.data(), -1); }, "-1 bytes"},
      {[](SwapFile& f, Bytes& d) { f.start_write(1, d.data(), 1); }, "there are 1 slots"},
      {[](SwapFile& f, Bytes& d) { f.start_read(-1, d.data(), 1); }, "reading slot -1"},
      {[](SwapFile& f, Bytes&) { static_cast<void>(f.wait(7)); }, "slot 7"},
  };
  for (const auto& c : cases) {
    SwapFile file(folder(), {5000}, options());
    c.act(file, data);
    EXPECT_FALSE(file.wait(0)) << c.message;
    EXPECT_THAT(file.error(), HasSubstr(c.message));
    file.start_write(0, data.data(), 5000);
    EXPECT_FALSE(file.wait(0)) << "nothing works after a failure";
    EXPECT_THAT(file.error(), HasSubstr(c.message)) << "the first failure is told";
  }
}

TEST_P(SwapFileTest, a_full_queue_is_a_failure) {
  SwapOptions options = this->options();
  options.capacity = 4;
  SwapFile file(folder(), {8 << 20}, options);
  Bytes data(8 << 20);
  for (int i = 0; i < 10; ++i) file.start_write(0, data.data(), 8 << 20);
  EXPECT_FALSE(file.wait(0));
  EXPECT_THAT(file.error(), HasSubstr("4 transfers are queued already"));
}

INSTANTIATE_TEST_SUITE_P(engines, SwapFileTest, testing::ValuesIn(test::kSwapKinds),
                         test::name_of_kind);

TEST(swap_file, staging_is_what_the_options_say) {
  EXPECT_EQ(SwapFile::staging_bytes({}), 2 * (256 << 10) + 4096 - 64);
  EXPECT_EQ(SwapFile::staging_bytes({.buffer_bytes = 16 << 10, .buffers = 3}),
            3 * (16 << 10) + 4096 - 64);
}

TEST(swap_file, a_disk_without_room_is_refused_with_what_is_free) {
  const test::TemporaryFolder folder;
  try {
    const SwapFile file(folder.path(), {int64_t{1} << 43});
    FAIL() << "8 TiB were to be had";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("[swap file] needs 8796093022208 bytes in " + folder.path()));
    EXPECT_THAT(error.what(), HasSubstr("bytes are free"));
    EXPECT_THAT(error.what(), HasSubstr("swap_dir (on the command line --swap-dir)"));
  }
}

TEST(swap_file, a_missing_folder_is_refused) {
  try {
    const SwapFile file("/no/such/folder", {4096});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/no/such/folder"));
    EXPECT_THAT(error.what(), HasSubstr("swap_dir (on the command line --swap-dir)"));
  }
}

TEST(swap_file, a_limit_of_file_sizes_is_an_error_and_no_signal) {
  const test::FileLimit limit(1 << 20);
  EXPECT_THROW(SwapFile("", {2 << 20}), Error);
  EXPECT_THAT(SwapFile::why_not("", 2 << 20), HasSubstr("needs 2097152 bytes"));
  EXPECT_EQ(SwapFile::why_not("", 1 << 20), "");
}

TEST(swap_file, says_beforehand_that_a_disk_has_no_room) {
  const int64_t bytes = int64_t{1} << 60;
  EXPECT_THAT(SwapFile::why_not("", bytes), HasSubstr("needs 1152921504606846976 bytes in /"));
}

TEST(swap_file, is_measured_on_a_disk_with_little_room) {
  const test::FileLimit limit(4 << 20);
  const Bandwidth bandwidth = measure_bandwidth("");
  EXPECT_GT(bandwidth.write_bytes_per_second, 0.0);
  EXPECT_GT(bandwidth.read_bytes_per_second, 0.0);
}

// As in a container that forbids io_uring.
TEST(swap_file, does_without_io_uring_if_the_kernel_refuses_it) {
  if (THIMBLE_ADDRESS_SANITIZER) GTEST_SKIP() << "the sanitizer needs descriptors of its own";
  struct rlimit limit {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const int next = ::dup(0);
  ASSERT_GE(next, 0);
  ::close(next);
  // File descriptors for the file, but none for a ring.
  const struct rlimit one_more { static_cast<rlim_t>(next) + 1, limit.rlim_max };
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &one_more), 0);
  {
    EXPECT_THROW(SwapFile("", {10'000}, {.engine = SwapEngine::uring}), Error);
    SwapFile file("", {10'000});
    EXPECT_FALSE(file.uses_uring());
    const Bytes contents = random_bytes(10'000, 1);
    Bytes found(10'000);
    file.start_write(0, contents.data(), 10'000);
    file.start_read(0, found.data(), 10'000);
    EXPECT_TRUE(file.wait(0)) << file.error();
    EXPECT_EQ(found, contents);
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
}

TEST(swap_file, options_that_make_no_sense_are_refused) {
  EXPECT_THROW(SwapFile("", {1}, {.buffer_bytes = 1000}), Error);
  EXPECT_THROW(SwapFile("", {1}, {.buffer_bytes = 0}), Error);
  EXPECT_THROW(SwapFile("", {1}, {.buffers = 0}), Error);
  EXPECT_THROW(SwapFile("", {1}, {.capacity = 0}), Error);
  EXPECT_THROW(SwapFile("", {-1}), Error);
}

TEST(swap_file, lies_where_temporary_files_go) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(::setenv("TMPDIR", folder.path().c_str(), 1), 0);
  EXPECT_EQ(SwapFile::default_folder(), folder.path());
  ASSERT_EQ(::unsetenv("TMPDIR"), 0);
  EXPECT_THAT(SwapFile::default_folder(), testing::AnyOf("/tmp", "/var/tmp"));
}

TEST(swap_file, bandwidth_is_measured_quickly) {
  const test::TemporaryFolder folder;
  const Bandwidth bandwidth = measure_bandwidth(folder.path());
  EXPECT_GT(bandwidth.read_bytes_per_second, 1e5);
  EXPECT_LT(bandwidth.read_bytes_per_second, 1e12);
  EXPECT_GT(bandwidth.write_bytes_per_second, 1e5);
  EXPECT_LT(bandwidth.write_bytes_per_second, 1e12);
  EXPECT_GT(bandwidth.seconds_per_transfer, 1e-7);
  EXPECT_LT(bandwidth.seconds_per_transfer, 1.0);
  EXPECT_NO_THROW(static_cast<void>(
      measure_bandwidth(folder.path(), {.buffer_bytes = 4096, .buffers = 1, .capacity = 1})));
  EXPECT_NO_THROW(static_cast<void>(measure_bandwidth(folder.path(), {.buffer_bytes = 8 << 20})));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace thimble::exec::swap_file_test
