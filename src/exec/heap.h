// Settings of the heap of the process.
#pragma once

namespace thimble::exec {

// Returns free heap memory to the system where possible, so that memory freed after compiling does
// not add to that of training.
void trim_heap();

// Limits the heap of the whole process to one arena and fixed thresholds, so that little freed
// memory is kept. The published sizes of a process assume this. Call it in main before any thread
// is started. Does nothing where the C library has no such settings.
void hold_heap();

}  // namespace thimble::exec
