// Errors of functions that are composed of other ops.
#pragma once

#include <thimble/error.h>

#include <string>

namespace thimble::ops {

// what() without where, which stands first, in brackets.
inline std::string message_of(const Error& error) {
  return std::string(error.what()).substr(error.where().size() + 3);
}

// What build returns; an Error it throws names this op in the place of the one it is made of.
template <class Build>
auto named_op(const char* op, const Build& build) {
  try {
    return build();
  } catch (const Error& error) {
    throw Error(op, message_of(error));
  }
}

}  // namespace thimble::ops
