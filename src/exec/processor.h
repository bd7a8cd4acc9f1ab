// The processor that runs the program.
#pragma once

namespace thimble::exec {

// Throws an Error where the library was compiled for the vector instructions of another processor
// alone (THIMBLE_VECTOR_TARGET).
void check_processor();

}  // namespace thimble::exec
