#include "scheme_trainings.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include "console.h"

namespace thimble::cli {

bool run_trainings(AnalyzeOptions& options, const char* verb, const std::function<void()>& work) {
  ProgressBar bar;
  options.on_progress = [&](const AnalyzeProgress& now) {
    bar.show(now.done, now.total, verb,
             fmt::format("{}/{} trainings  {} left", now.done, now.total,
                         format_seconds(now.seconds_left)));
    return !interrupted();
  };
  try {
    work();
  } catch (const Error&) {
    bar.clear();
    if (!interrupted()) throw;
    note(fmt::format("stopped. Finished trainings are kept in {}: run the same command to go on",
                     options.cache));
    return false;
  }
  bar.clear();
  return true;
}

}  // namespace thimble::cli
