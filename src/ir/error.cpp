#include <thimble/error.h>

namespace thimble {

Error::Error(const std::string& where, const std::string& message)
    : std::runtime_error("[" + where + "] " + message), where_(where) {}

}  // namespace thimble
