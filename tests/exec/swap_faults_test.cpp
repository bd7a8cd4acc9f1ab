// Disks that fail: every fault is a wait() of false and a clear error, never a hang or a crash.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "exec/swap_file.h"
#include "exec/swap_test.h"

namespace thimble::exec::swap_faults_test {
namespace {

using test::Bytes;
using test::random_bytes;
using testing::HasSubstr;

constexpr int64_t kBuffer = 16 << 10;  // as of SwapTest::options()
constexpr int64_t kBytes = 10 * kBuffer + 100;

class SwapFaultsTest : public test::SwapTest {
 protected:
  // Changes the file without the swap file's knowledge.
  void tamper(const std::function<void(int)>& change) const {
    const int descriptor = ::open(descriptor_path().c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(descriptor, 0);
    change(descriptor);
    ::close(descriptor);
  }
};

struct Fault {
  const char* name;
  bool write;      // of writes, else of reads
  int64_t answer;  // instead of the system's result
  const char* message;
};

constexpr Fault kFaults[] = {
    {"full disk", true, -ENOSPC, "No space left on device"},
    {"broken disk", true, -EIO, "Input/output error"},
    {"broken disk", false, -EIO, "Input/output error"},
    {"end of the file", false, 0, "the file ends before it"},
    {"disk that takes nothing", true, 0, "moves no more bytes"},
    {"interrupted for ever", true, -EINTR, "moves no more bytes"},
    {"interrupted for ever", false, -EAGAIN, "moves no more bytes"},
};

TEST_P(SwapFaultsTest, each_is_reported_with_its_place) {
  for (const Fault& fault : kFaults) {
    // The fifth chunk of slot 1, which lies behind the whole blocks of slot 0.
    const int64_t place = (kBytes + 4095) / 4096 * 4096 + 4 * kBuffer;
    SwapOptions options = this->options();
    options.answer = [&](const SwapRequest& request, int64_t answer) {
      const bool here = request.write == fault.write && request.offset == place;
      return here ? fault.answer : answer;
    };
    SwapFile file(folder(), {kBytes, kBytes}, options);
    Bytes data = random_bytes(kBytes, 1);
    for (const int slot : {0, 1}) file.start_write(slot, data.data(), kBytes);
    for (const int slot : {0, 1}) file.start_read(slot, data.data(), kBytes);
    EXPECT_FALSE(file.wait(1)) << fault.name;
    const std::string told = file.error();
    EXPECT_THAT(told, HasSubstr(fault.message));
    EXPECT_THAT(told, HasSubstr(fault.write ? "writing slot 1" : "reading slot 1"));
    EXPECT_THAT(told, HasSubstr("at offset " + std::to_string(place)));
    EXPECT_THAT(told, HasSubstr(folder()));
    EXPECT_THAT(told, HasSubstr("swap_dir (on the command line --swap-dir)"));
    EXPECT_FALSE(file.wait(0)) << "also for what went well";
    file.start_write(0, data.data(), kBytes);
    EXPECT_FALSE(file.wait(0)) << "also afterwards";
    EXPECT_EQ(file.error(), told);
  }
}

// Partial transfers and interruptions are no fault; they only take more calls.
TEST_P(SwapFaultsTest, short_transfers_go_on) {
  std::atomic<int64_t> calls{0};
  SwapOptions options = this->options();
  options.answer = [&](const SwapRequest&, int64_t answer) -> int64_t {
    const int64_t call = ++calls;
    if (call % 3 == 0) return -EINTR;
    return call % 3 == 1 && answer > 4096 ? answer / 2 : answer;
  };
  SwapFile file(folder(), {kBytes}, options);
  const Bytes data = random_bytes(kBytes, 1);
  Bytes found(kBytes);
  file.start_write(0, data.data(), kBytes);
  file.start_read(0, found.data(), kBytes);
  ASSERT_TRUE(file.wait(0)) << file.error();
  EXPECT_EQ(found, data);
  EXPECT_GT(calls.load(), 2 * (kBytes / kBuffer + 1)) << "no transfer was short";
}

TEST_P(SwapFaultsTest, a_flipped_bit_is_found) {
  // The first and the last byte, one of the middle, and one behind the first chunk.
  for (const int64_t at : {int64_t{0}, kBytes - 1, kBytes / 2, kBuffer + 1}) {
    SwapFile file(folder(), {kBytes}, options());
    Bytes data = random_bytes(kBytes, 1);
    file.start_write(0, data.data(), kBytes);
    ASSERT_TRUE(file.wait(0)) << file.error();
    tamper([&](int descriptor) {
      const std::byte flipped = data[static_cast<size_t>(at)] ^ std::byte{0x80};
      ASSERT_EQ(::pwrite(descriptor, &flipped, 1, at), 1);
    });
    file.start_read(0, data.data(), kBytes);
    EXPECT_FALSE(file.wait(0)) << "byte " << at;
    EXPECT_THAT(file.error(), HasSubstr("checksum"));
    EXPECT_THAT(file.error(), HasSubstr("at offset " + std::to_string(at / kBuffer * kBuffer)));
  }
}

TEST_P(SwapFaultsTest, exchanged_chunks_are_found) {
  SwapFile file(folder(), {2 * kBuffer}, options());
  Bytes data = random_bytes(2 * kBuffer, 1);
  file.start_write(0, data.data(), 2 * kBuffer);
  ASSERT_TRUE(file.wait(0)) << file.error();
  tamper([&](int descriptor) {
    ASSERT_EQ(::pwrite(descriptor, data.data() + kBuffer, kBuffer, 0), kBuffer);
    ASSERT_EQ(::pwrite(descriptor, data.data(), kBuffer, kBuffer), kBuffer);
  });
  file.start_read(0, data.data(), 2 * kBuffer);
  EXPECT_FALSE(file.wait(0));
  EXPECT_THAT(file.error(), HasSubstr("checksum"));
}

TEST_P(SwapFaultsTest, a_file_cut_off_is_found) {
  for (const int64_t left : {int64_t{0}, kBuffer, 5 * kBuffer + 1000}) {
    SwapFile file(folder(), {kBytes}, options());
    Bytes data = random_bytes(kBytes, 1);
    file.start_write(0, data.data(), kBytes);
    ASSERT_TRUE(file.wait(0)) << file.error();
    tamper([&](int descriptor) { ASSERT_EQ(::ftruncate(descriptor, left), 0); });
    file.start_read(0, data.data(), kBytes);
    EXPECT_FALSE(file.wait(0));
    EXPECT_THAT(file.error(), HasSubstr("the file ends before it")) << left << " bytes left";
  }
}

// Transfers queued after a failure are dropped, and the caller's memory is not touched from wait()
// on.
TEST_P(SwapFaultsTest, nothing_is_touched_after_a_failure) {
  SwapOptions options = this->options();
  options.answer = [](const SwapRequest& request, int64_t answer) {
    return !request.write && request.offset == 2 * kBuffer ? -EIO : answer;
  };
  SwapFile file(folder(), {kBytes, kBytes}, options);
  const Bytes data = random_bytes(kBytes, 1);
  file.start_write(0, data.data(), kBytes);
  file.start_write(1, data.data(), kBytes);
  Bytes first(kBytes);
  Bytes second(kBytes);
  file.start_read(0, first.data(), kBytes);
  file.start_read(1, second.data(), kBytes);
  EXPECT_FALSE(file.wait(1));
  EXPECT_EQ(second, Bytes(kBytes));
  std::fill(first.begin(), first.end(), std::byte{1});
  EXPECT_FALSE(file.wait(0));
  EXPECT_EQ(first, Bytes(kBytes, std::byte{1}));
}

TEST_P(SwapFaultsTest, is_destroyed_while_an_error_stands) {
  for (int i = 0; i < 20; ++i) {
    SwapOptions options = this->options();
    options.answer = [&](const SwapRequest& request, int64_t answer) {
      return request.offset == i * kBuffer ? -ENOSPC : answer;
    };
    Bytes data(20 * kBuffer);
    SwapFile file(folder(), {20 * kBuffer}, options);
    for (int j = 0; j < 5; ++j) file.start_write(0, data.data(), 20 * kBuffer);
    if (i % 2 == 0) {
      EXPECT_FALSE(file.wait(0));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(engines, SwapFaultsTest, testing::ValuesIn(test::kSwapKinds),
                         test::name_of_kind);

}  // namespace
}  // namespace thimble::exec::swap_faults_test
