// Properties as text.
#pragma once

#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace nntrainer {

// "key=value", the value as a stream prints it.
template <class T>
std::string withKey(const std::string& key, const T& value) {
  std::ostringstream text;
  text << key << "=" << value;
  return text.str();
}

// "key=a,b". Throws std::invalid_argument where there is no value.
template <class T>
std::string withKey(const std::string& key, std::initializer_list<T> values) {
  if (std::empty(values)) {
    throw std::invalid_argument("[" + key + "] the list of values is empty; name at least one");
  }
  std::ostringstream text;
  text << key << "=";
  const char* separator = "";
  for (const T& value : values) {
    text << separator << value;
    separator = ",";
  }
  return text.str();
}

}  // namespace nntrainer
