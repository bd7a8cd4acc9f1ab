// Files that are no part of the project: tests that need them are skipped without them.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace thimble::test {

// A file below the folder that THIMBLE_DATA names; empty: it is not there.
inline std::string given_data(const std::string& path) {
  const char* const folder = std::getenv("THIMBLE_DATA");
  if (folder == nullptr) return "";
  const std::string file = std::string(folder) + "/" + path;
  return std::filesystem::exists(file) ? file : "";
}

// The int8 MCUNet of 5 frames a second; empty: it is not there.
inline std::string given_mcunet() { return given_data("models/mcunet5fps/mcunet5fps_int8.json"); }

inline constexpr const char* kNeedsMcunet = "set THIMBLE_DATA to a folder with models/mcunet5fps";

}  // namespace thimble::test
