// Any text as a schedule, as an optimizer, as a scheme and as contributions of parts: one whose own
// text means the same, or an Error.
#include <thimble/error.h>
#include <thimble/optimizers.h>
#include <thimble/schedule.h>
#include <thimble/scheme_search.h>
#include <thimble/update_scheme.h>

#include <cmath>
#include <cstdlib>

namespace {

void parse_schedule(std::string_view text) {
  const auto schedule = thimble::Schedule::parse(text, 0.1, 1000);
  for (const int64_t step : {int64_t{0}, int64_t{1}, int64_t{999}, INT64_MAX}) {
    const double rate = schedule.at(step);
    if (!std::isfinite(rate) || rate < 0.0) std::abort();
  }
}

void parse_optimizer(std::string_view text) {
  const std::string said = thimble::Optimizer::parse(text).text();
  if (thimble::Optimizer::parse(said).text() != said) std::abort();
}

void parse_scheme(std::string_view text) {
  const auto scheme = thimble::UpdateScheme::parse(text);
  if (thimble::UpdateScheme::parse(scheme.text()) != scheme) std::abort();
}

void parse_contributions(std::string_view text) {
  const std::string said = thimble::Contributions::parse(text, "parts").text();
  if (thimble::Contributions::parse(said, "parts").text() != said) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto parse : {parse_schedule, parse_optimizer, parse_scheme, parse_contributions}) {
    try {
      parse(text);
    } catch (const thimble::Error&) {
    }
  }
  return 0;
}
