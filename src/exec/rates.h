// How fast this machine computes.
#pragma once

#include "parallel/thread_pool.h"
#include "plan/node_times.h"

namespace thimble::exec {

// Estimates times of nodes from their flops and bytes. The rates come from a small matrix product
// and a sum of two arrays, measured once for every number of threads in some milliseconds. fast: as
// the fast kernels compute them; else as the reference kernels do, which use one thread and sum in
// f64. Thread-safe.
[[nodiscard]] plan::NodeTimes measured_rates(parallel::ThreadPool& pool, bool fast);

}  // namespace thimble::exec
