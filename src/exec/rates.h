// How fast this machine computes.
#pragma once

#include "parallel/thread_pool.h"
#include "plan/node_times.h"

namespace thimble::exec {

// Times nodes by their flops and bytes, at the rates of a small product of matrices and a sum of
// two arrays, measured in some milliseconds once for every number of threads. Thread-safe.
[[nodiscard]] plan::NodeTimes measured_rates(parallel::ThreadPool& pool);

}  // namespace thimble::exec
