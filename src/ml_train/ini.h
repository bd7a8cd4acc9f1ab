// INI files: sections of keys and values.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace thimble::ml_train {

struct IniSection {
  std::string name;                                       // as written
  std::vector<std::pair<std::string, std::string>> keys;  // lower-cased, and as written
  // Null where the key is not there.
  [[nodiscard]] const std::string* find(std::string_view key) const;
};

// where: in errors. '#' and ';' begin comments, quotes around values are dropped, of a key that is
// repeated the last one counts. Throws std::invalid_argument naming the line.
[[nodiscard]] std::vector<IniSection> parse_ini(std::string_view text, const std::string& where);

[[nodiscard]] std::string to_text(const std::vector<IniSection>& sections);

}  // namespace thimble::ml_train
