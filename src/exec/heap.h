// The heap of the process.
#pragma once

namespace thimble::exec {

// Gives memory that was freed, and that the heap keeps for later, back to the system where it can:
// what compiling took must not stand beside what training takes.
void trim_heap();

}  // namespace thimble::exec
