// Shared by the tests of the swap file: ways to run one, and access to its file.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "exec/swap_file.h"
#include "io/temporary_folder.h"

namespace thimble::test {

using Bytes = std::vector<std::byte>;

inline Bytes random_bytes(int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes bytes(static_cast<size_t>(count));
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
    const uint64_t word = random();
    std::memcpy(&bytes[at], &word, std::min(sizeof word, bytes.size() - at));
  }
  return bytes;
}

// How transfers are requested: each engine, with and without the page cache.
struct SwapKind {
  const char* name;
  exec::SwapEngine engine;
  bool direct;
};

inline constexpr SwapKind kSwapKinds[] = {
    {"uring", exec::SwapEngine::uring, true},
    {"blocking", exec::SwapEngine::blocking, true},
    {"buffered", exec::SwapEngine::blocking, false},
};

inline std::string name_of_kind(const testing::TestParamInfo<SwapKind>& info) {
  return info.param.name;
}

class SwapTest : public testing::TestWithParam<SwapKind> {
 protected:
  void SetUp() override {
    if (GetParam().engine != exec::SwapEngine::uring) return;
    if (!exec::SwapFile(folder(), {1}).uses_uring()) {
      GTEST_SKIP() << "this build, kernel or file system has no io_uring for direct transfers";
    }
  }

  // Small buffers, so that small slots have many chunks.
  [[nodiscard]] static exec::SwapOptions options() {
    return {.buffer_bytes = 16 << 10, .engine = GetParam().engine, .direct = GetParam().direct};
  }
  [[nodiscard]] const std::string& folder() const { return folder_.path(); }

  // The swap file in folder() as an open file of this process, or "". It has no other name.
  [[nodiscard]] std::string descriptor_path() const {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code error;
      const std::string target = std::filesystem::read_symlink(entry.path(), error).string();
      if (target.rfind(folder() + "/", 0) == 0 && target.ends_with("(deleted)")) {
        return entry.path().string();
      }
    }
    return "";
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace thimble::test
