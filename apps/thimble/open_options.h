// Options of how a file or folder named by --data is read.
#pragma once

#include <thimble/thimble.h>

#include <CLI/CLI.hpp>

namespace thimble::cli {

// Adds --validation-split, --stratified, --image-fit, --image-mean, --image-deviation,
// --sample-rate and --sound-window, which fill `options`.
void add_open_options(CLI::App& command, data::OpenOptions& options);

}  // namespace thimble::cli
