// A limit of the size of the files that this process may make.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>

namespace thimble::test {

// For as long as it lives.
class FileLimit {
 public:
  explicit FileLimit(int64_t bytes) {
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit limit{static_cast<rlim_t>(bytes), before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~FileLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace thimble::test
