#include "emit/c_text.h"

#include <thimble/error.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

namespace thimble::emit {
namespace {

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The end of the token that begins at `at`: a comment, a string, a name, a number or one character.
size_t token_end(std::string_view text, size_t at) {
  const auto rest = text.substr(at);
  const auto behind = [&](std::string_view end, size_t from) {
    const size_t found = text.find(end, from);
    return found == std::string_view::npos ? text.size() : found + end.size();
  };
  if (rest.starts_with("/*")) return behind("*/", at + 2);
  if (rest.starts_with("//")) return std::min(text.find('\n', at), text.size());
  if (text[at] == '"' || text[at] == '\'') {
    size_t end = at + 1;
    while (end < text.size() && text[end] != text[at]) end += text[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text.size());
  }
  size_t end = at + 1;
  if (starts_name(text[at])) {
    while (end < text.size() && is_in_name(text[end])) ++end;
  } else if (std::isdigit(static_cast<unsigned char>(text[at])) != 0) {
    while (end < text.size() &&
           (is_in_name(text[end]) || text[end] == '.' ||
            ((text[end] == '+' || text[end] == '-') &&
             std::string_view("eEpP").find(text[end - 1]) != std::string_view::npos))) {
      ++end;
    }
  }
  return end;
}

bool introduces_type(std::string_view token) {
  return token == "typedef" || token == "enum" || token == "struct" || token == "union";
}

bool is_comment(std::string_view token) {
  return token.starts_with("/*") || token.starts_with("//");
}

size_t skip_spaces(std::string_view text, size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
  return at;
}

// The lines of the chosen conditional parts, without includes and the like.
class Conditionals {
 public:
  explicit Conditionals(bool of_integers) : of_integers_(of_integers) {}

  std::string chosen(std::string_view text) {
    std::string out;
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end);
      if (!directive(trimmed(line)) && is_active()) out += line;
    }
    return out;
  }

 private:
  // A part that is chosen here, or one that the C compiler chooses by its own macros.
  struct Part {
    bool is_ours = true;
    bool taken = true;
  };
  [[nodiscard]] bool is_active() const {
    return std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.taken; });
  }
  // Whether a line is a directive that is used up here.
  bool directive(std::string_view line) {
    if (!line.starts_with("#")) return false;
    line = trimmed(line.substr(1));
    size_t end = 0;
    while (end < line.size() && is_in_name(line[end])) ++end;
    const std::string_view word = line.substr(0, end);
    const std::string_view rest = trimmed(line.substr(end));
    if (word == "define") return false;
    if (word == "ifdef" || word == "ifndef") {
      const bool is_defined = of_integers_ && rest.starts_with("THIMBLE_OF_INTEGERS");
      parts_.push_back({true, is_defined == (word == "ifdef")});
      return true;
    }
    if (word == "if") {
      parts_.push_back({false, true});
      return false;
    }
    if (parts_.empty() || (word != "elif" && word != "else" && word != "endif")) return true;
    const bool is_ours = parts_.back().is_ours;
    if (word == "endif") {
      const bool was_active = is_active();
      parts_.pop_back();
      return is_ours || !was_active;
    }
    if (is_ours) parts_.back().taken = !parts_.back().taken;
    return is_ours;
  }

  bool of_integers_;
  std::vector<Part> parts_;
};

// Reads items one after another.
class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  std::vector<CItem> items() {
    std::vector<CItem> all;
    std::string comment;
    while ((at_ = skip_spaces(text_, at_)) < text_.size()) {
      if (text_.substr(at_).starts_with("/*") || text_.substr(at_).starts_with("//")) {
        const size_t end = token_end(text_, at_);
        comment = text_.substr(at_, end - at_);
        at_ = end;
        continue;
      }
      CItem item = text_[at_] == '#' ? macro() : definition();
      item.comment = std::exchange(comment, {});
      if (!item.names.empty()) all.push_back(std::move(item));
    }
    return all;
  }

 private:
  CItem macro() {
    size_t end = at_;
    do {
      end = std::min(text_.find('\n', end), text_.size() - 1) + 1;
    } while (end < text_.size() && text_.substr(0, end).ends_with("\\\n"));
    CItem item{.kind = CItem::Kind::macro};
    item.text = trimmed(text_.substr(at_, end - at_));
    at_ = end;
    size_t begin = skip_spaces(item.text, 1);
    if (!item.text.substr(begin).starts_with("define")) return item;  // parts of no function
    begin += std::string_view("define").size();
    begin = skip_spaces(item.text, begin);
    item.names = {item.text.substr(begin, token_end(item.text, begin) - begin)};
    return item;
  }

  CItem definition() {
    const size_t begin = at_;
    const size_t first_end = token_end(text_, at_);
    const bool may_be_invocation =
        starts_name(text_[at_]) && first_end < text_.size() && text_[first_end] == '(';
    int depth = 0;
    bool is_function = false;
    std::string_view before;  // the token before this one
    CItem item;
    std::string function;
    std::vector<std::string> enumerators;
    std::string last_name;
    std::string array;
    const bool is_type = starts_with_word("typedef") || starts_with_word("enum") ||
                         starts_with_word("struct") || starts_with_word("union");
    const bool is_enum =
        text_.substr(at_).starts_with("enum") || text_.substr(at_).starts_with("typedef enum");
    while (at_ < text_.size()) {
      at_ = skip_spaces(text_, at_);
      if (at_ >= text_.size()) break;
      const size_t end = token_end(text_, at_);
      const std::string_view token = text_.substr(at_, end - at_);
      at_ = end;
      if (is_comment(token)) continue;
      if (token == "(" && depth == 0 && function.empty() && !before.empty()) function = before;
      if (token == "{" && depth == 0 && before == ")" && !is_type) is_function = true;
      if ((token == "[" || token == "=") && depth == 0 && array.empty()) array = before;
      if (is_enum && depth == 1 && starts_name(token[0]) && (before == "{" || before == ",")) {
        enumerators.emplace_back(token);
      }
      if (token == "(" || token == "{" || token == "[") ++depth;
      if (token == ")" || token == "}" || token == "]") --depth;
      if (depth == 0 && starts_name(token[0]) && !introduces_type(token)) last_name = token;
      before = token;
      if (depth > 0) continue;
      if (token == ";" || (token == "}" && is_function)) break;
      if (token == ")" && may_be_invocation) {
        const size_t next = skip_spaces(text_, at_);
        if (next >= text_.size() || (text_[next] != '{' && text_[next] != ';')) {
          item.kind = CItem::Kind::invocation;
          item.names = {std::string(text_.substr(begin, first_end - begin))};
          item.text = text_.substr(begin, at_ - begin);
          return item;
        }
      }
    }
    item.text = text_.substr(begin, at_ - begin);
    if (is_function) {
      item.kind = CItem::Kind::function;
      item.names = {function};
    } else if (is_type) {
      item.kind = CItem::Kind::type;
      item.names = std::move(enumerators);
      if (!last_name.empty()) item.names.push_back(last_name);
    } else if (!array.empty()) {
      item.kind = CItem::Kind::data;
      item.names = {array};
    }
    return item;
  }

  [[nodiscard]] bool starts_with_word(std::string_view word) const {
    const std::string_view rest = text_.substr(at_);
    return rest.starts_with(word) && rest.size() > word.size() && !is_in_name(rest[word.size()]);
  }

  std::string_view text_;
  size_t at_ = 0;
};

void visit(std::string_view text, const std::function<void(std::string_view, size_t)>& other,
           const std::function<void(const CIdentifier&)>& name) {
  std::string_view before;
  std::string_view before_that;
  for (size_t at = 0; at < text.size();) {
    const size_t end = token_end(text, at);
    const std::string_view token = text.substr(at, end - at);
    if (starts_name(token[0])) {
      const size_t next = skip_spaces(text, end);
      name({token, next < text.size() && text[next] == '(',
            before == "." || (before == ">" && before_that == "-")});
    } else {
      other(token, at);
    }
    if (!is_comment(token) && std::isspace(static_cast<unsigned char>(token[0])) == 0) {
      before_that = before;
      before = token;
    }
    at = end;
  }
}

// Without the two spaces by which a macro's body is indented, and without backslashes at line ends.
std::string as_plain_lines(std::string_view body) {
  std::string out;
  while (!body.empty()) {
    const size_t end = std::min(body.find('\n'), body.size());
    std::string_view line = body.substr(0, end);
    body.remove_prefix(std::min(end + 1, body.size()));
    while (!line.empty() && (line.back() == '\\' || line.back() == ' ')) line.remove_suffix(1);
    if (line.starts_with("  ")) line.remove_prefix(2);
    out += out.empty() ? "" : "\n";
    out += line;
  }
  return out;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const char* const spaces = " \t\r\n";
  const size_t begin = text.find_first_not_of(spaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(spaces) - begin + 1);
}

std::string without_comments(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = token_end(text, at);
    const std::string_view token = text.substr(at, end - at);
    out += is_comment(token) ? " " : token;
    at = end;
  }
  return out;
}

std::vector<CItem> items_of(std::string_view text, bool of_integers) {
  const std::string chosen = Conditionals(of_integers).chosen(text);
  return Splitter(chosen).items();
}

std::vector<std::string> split_arguments(std::string_view text) {
  std::vector<std::string> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t at = 0; at < text.size(); at = token_end(text, at)) {
    const char c = text[at];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c != ',' || depth > 0) continue;
    parts.emplace_back(trimmed(text.substr(begin, at - begin)));
    begin = at + 1;
  }
  const std::string_view last = trimmed(text.substr(begin));
  if (!last.empty() || !parts.empty()) parts.emplace_back(last);
  return parts;
}

CMacro macro_of(const CItem& item) {
  CMacro macro;
  size_t at = item.text.find(item.names.front()) + item.names.front().size();
  if (at < item.text.size() && item.text[at] == '(') {
    const size_t end = item.text.find(')', at);
    macro.parameters = split_arguments(std::string_view(item.text).substr(at + 1, end - at - 1));
    at = end + 1;
  }
  macro.body = std::string_view(item.text).substr(at);
  return macro;
}

std::string expanded(const CMacro& macro, const CItem& invocation) {
  const size_t open = invocation.text.find('(');
  const size_t close = invocation.text.rfind(')');
  const std::vector<std::string> arguments =
      split_arguments(std::string_view(invocation.text).substr(open + 1, close - open - 1));
  if (arguments.size() != macro.parameters.size()) {
    throw Error("kernel source", invocation.text + " has another number of arguments than " +
                                     invocation.names.front());
  }
  std::map<std::string_view, std::string> values;
  for (size_t i = 0; i < arguments.size(); ++i) values[macro.parameters[i]] = arguments[i];
  std::string text = with_identifiers(macro.body, [&](const CIdentifier& name) {
    const auto value = values.find(name.name);
    return value == values.end() ? std::string(name.name) : value->second;
  });
  for (size_t at = text.find("##"); at != std::string::npos; at = text.find("##", at)) {
    size_t begin = at;
    size_t end = at + 2;
    while (begin > 0 && text[begin - 1] == ' ') --begin;
    while (end < text.size() && text[end] == ' ') ++end;
    text.erase(begin, end - begin);
    at = begin;
  }
  return as_plain_lines(text);
}

std::string with_identifiers(std::string_view text,
                             const std::function<std::string(const CIdentifier&)>& of) {
  std::string out;
  visit(
      text, [&](std::string_view token, size_t) { out += token; },
      [&](const CIdentifier& name) { out += of(name); });
  return out;
}

void for_each_identifier(std::string_view text,
                         const std::function<void(const CIdentifier&)>& use) {
  visit(
      text, [](std::string_view, size_t) {}, use);
}

std::string quoted(const std::string& text) {
  std::string made;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 32) continue;
    made += (c == '"' || c == '\\') ? std::string("\\") + c : std::string(1, c);
  }
  return made;
}

}  // namespace thimble::emit
