// Errors of functions that are composed of other ops.
#pragma once

#include <thimble/error.h>

namespace thimble::ops {

// What build returns; an Error it throws names this op in the place of the one it is made of.
template <class Build>
auto named_op(const char* op, const Build& build) {
  try {
    return build();
  } catch (const Error& error) {
    throw Error(op, error.message());
  }
}

}  // namespace thimble::ops
