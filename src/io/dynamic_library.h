// Libraries that are loaded when they are first needed.
#pragma once

#include <initializer_list>
#include <string>

namespace thimble::io {

// A shared library that stays loaded for the rest of the process. Programs that never open what it
// reads carry nothing of it, and run where it is not installed.
class DynamicLibrary {
 public:
  // Loads the first of the names that is there. Throws Error: name is needed to `purpose` and not
  // installed, with the Debian package that has it.
  DynamicLibrary(const char* name, std::initializer_list<const char*> files, const char* purpose,
                 const char* package);

  // Sets a pointer to a function. Throws Error where the library lacks it.
  template <class Function>
  void find(const char* symbol, Function& function) const {
    function = reinterpret_cast<Function>(address(symbol));
  }

 private:
  [[nodiscard]] void* address(const char* symbol) const;

  const char* name_;
  void* library_ = nullptr;
};

}  // namespace thimble::io
