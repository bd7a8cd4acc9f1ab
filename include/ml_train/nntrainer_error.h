// Status codes, exceptions, and macros that throw them.
#pragma once

#include <cerrno>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string>

#define ML_ERROR_NONE 0
#define ML_ERROR_INVALID_PARAMETER (-22)
#define ML_ERROR_TRY_AGAIN (-11)
#define ML_ERROR_OUT_OF_MEMORY (-12)
#define ML_ERROR_PERMISSION_DENIED (-13)
#define ML_ERROR_UNKNOWN (-1073741824)
#define ML_ERROR_TIMED_OUT (-1073741823)
#define ML_ERROR_NOT_SUPPORTED (-1073741822)

namespace nntrainer::exception {

// Something that this library does not offer.
class not_supported : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// Gathers a message and throws it when the statement ends.
template <class Error>
class Thrower {
 public:
  Thrower() = default;
  Thrower(const Thrower&) = delete;
  Thrower& operator=(const Thrower&) = delete;
  ~Thrower() noexcept(false) { throw Error(text_.str()); }
  template <class T>
  Thrower& operator<<(const T& part) {
    text_ << part;
    return *this;
  }

 private:
  std::ostringstream text_;
};

}  // namespace nntrainer::exception

// NNTR_THROW_IF(n < 1, std::invalid_argument) << "n is " << n;
#define NNTR_THROW_IF(condition, Exception)                   \
  if (condition) ::nntrainer::exception::Thrower<Exception> { \
    }

// The text of an errno value, in a buffer of `size` characters.
#define SAFE_STRERROR(number, buffer, size) \
  (std::strncpy((buffer), std::strerror(number), (size)), (buffer)[(size)-1] = '\0')
