// The error that an action throws.
#pragma once

#include <thimble/error.h>

#include <string>

namespace thimble::test {

inline constexpr const char* kNoError = "no error";

// The message of the Error that the action throws, or kNoError.
template <class Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return kNoError;
}

}  // namespace thimble::test
