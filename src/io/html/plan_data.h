// A memory plan as data of the report page's scripts.
#pragma once

#include <thimble/plan.h>

#include <nlohmann/json.hpp>

namespace thimble::io {

// Compact, because a plan may have tens of thousands of buffers: a column for each property of
// theirs and of the steps, in which names are numbers of a list that holds each of them once.
[[nodiscard]] nlohmann::ordered_json plan_data(const Plan& plan);

}  // namespace thimble::io
