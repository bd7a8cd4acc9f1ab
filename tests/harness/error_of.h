// What an action complains of.
#pragma once

#include <thimble/error.h>

#include <string>

namespace thimble::test {

// The message of the Error that the action throws, or "no error".
template <class Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace thimble::test
