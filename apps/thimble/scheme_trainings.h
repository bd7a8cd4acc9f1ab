// Trainings of sparse updates, one after another: `thimble analyze` and `thimble search --verify`.
#pragma once

#include <thimble/scheme_search.h>

#include <functional>

namespace thimble::cli {

// Calls `work`, which trains with the options, and shows `verb`, how many trainings are done and
// the time left. False if it was interrupted; what is finished is then in the options' cache.
[[nodiscard]] bool run_trainings(AnalyzeOptions& options, const char* verb,
                                 const std::function<void()>& work);

}  // namespace thimble::cli
