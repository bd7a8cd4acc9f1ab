// Names the outer op in errors of functions that are composed of other ops.
#pragma once

#include <thimble/error.h>

namespace thimble::ops {

// Returns the result of build. An Error that build throws names this op instead of the inner one.
template <class Build>
auto named_op(const char* op, const Build& build) {
  try {
    return build();
  } catch (const Error& error) {
    throw Error(op, error.message());
  }
}

}  // namespace thimble::ops
