// The functions of libsndfile (http://libsndfile.github.io/libsndfile) that are used, loaded on
// first use.
#pragma once

#include <cstdio>

#include <sndfile.h>

namespace thimble::io {

struct SndfileLibrary {
  decltype(&sf_open_virtual) open = nullptr;
  decltype(&sf_readf_float) read = nullptr;
  decltype(&sf_seek) seek = nullptr;
  decltype(&sf_close) close = nullptr;
  decltype(&sf_strerror) error_text = nullptr;
};

// Throws Error saying what to install where the library is missing. Thread-safe.
[[nodiscard]] const SndfileLibrary& sndfile_library();

}  // namespace thimble::io
