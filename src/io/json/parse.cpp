#include "io/json/parse.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <set>
#include <vector>

namespace thimble::io {

using nlohmann::json;

json parse_json(const JsonPlace& place, std::string_view text, int max_depth) {
  std::vector<std::set<std::string>> names;  // of the objects that are open
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth > max_depth) {
      throw Error(place.file, fmt::format("{} is nested too deeply", place.what));
    }
    if (event == json::parse_event_t::object_start) names.emplace_back();
    if (event == json::parse_event_t::object_end) names.pop_back();
    if (event == json::parse_event_t::key &&
        !names.back().insert(parsed.get<std::string>()).second) {
      throw Error(place.file,
                  fmt::format("the name {} stands twice in {}", printable(parsed), place.what));
    }
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const json::parse_error& error) {
    throw Error(place.file,
                fmt::format("{} is not JSON: it breaks off or goes wrong at byte {} of {}",
                            place.what, place.offset + error.byte, place.counted));
  } catch (const json::exception&) {  // numbers too large to hold
    throw Error(place.file,
                fmt::format("{} is not JSON: it has a number that is out of range", place.what));
  }
}

std::string printable(const json& value) {
  constexpr size_t kLongest = 60;
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

}  // namespace thimble::io
