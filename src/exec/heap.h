// The heap of the process.
#pragma once

namespace thimble::exec {

// Gives memory that was freed, and that the heap keeps for later, back to the system where it can:
// what compiling took must not stand beside what training takes.
void trim_heap();

// Holds the heap of the whole process to one arena and fixed thresholds, so that it keeps little of
// what was freed: what the published sizes of a process assume. For a program's main, before any
// thread is started. Does nothing where the C library has no such settings.
void hold_heap();

}  // namespace thimble::exec
