// C source text: tokens, and the definitions that a file consists of.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace thimble::emit {

// A definition at the outermost level of a file.
struct CItem {
  enum class Kind {
    function,
    macro,
    type,        // typedef, struct or enum
    data,        // a constant
    invocation,  // of a macro that makes definitions
  };
  Kind kind = Kind::data;
  std::vector<std::string> names;  // that it defines; of an invocation the macro's
  std::string comment;             // that stands before it; may be empty
  std::string text;
};

// The definitions of a text, in order. Conditional parts are chosen as if THIMBLE_OF_INTEGERS alone
// may be defined; includes are left out.
[[nodiscard]] std::vector<CItem> items_of(std::string_view text, bool of_integers);

// A macro with parameters.
struct CMacro {
  std::vector<std::string> parameters;
  std::string body;
};
// Of an item of that kind.
[[nodiscard]] CMacro macro_of(const CItem& item);
// The text that an invocation stands for.
[[nodiscard]] std::string expanded(const CMacro& macro, const CItem& invocation);

// Arguments "a, f(b, c), d" that stand between parentheses.
[[nodiscard]] std::vector<std::string> split_arguments(std::string_view text);

// An identifier within a text.
struct CIdentifier {
  std::string_view name;
  bool is_called = false;  // followed by an opening parenthesis
  bool is_member = false;  // behind . or ->
};
// The text with every identifier, outside of comments and strings, replaced by what `of` returns.
[[nodiscard]] std::string with_identifiers(
    std::string_view text, const std::function<std::string(const CIdentifier&)>& of);
// Calls use for each of them.
void for_each_identifier(std::string_view text, const std::function<void(const CIdentifier&)>& use);

// Without spaces and line ends at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);
// Without comments.
[[nodiscard]] std::string without_comments(std::string_view text);

// As it stands within a string literal.
[[nodiscard]] std::string quoted(const std::string& text);

}  // namespace thimble::emit
