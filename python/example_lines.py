"""The example of an op, one line of C++, read as an expression and written in Python.

    line:      ["auto" (name | "[" names "]") "="] value [";"]
    value:     factor (("+" | "-" | "*" | "/") factor)*
    factor:    "-" factor | "{" values "}" | ("(" value ")" | literal | name) ("." name | call)*
               | type "::" name ["(" ")"]
    call:      "(" (value | "{" ("." name "=" value)* "}")* ")"
"""

import io
import tokenize

WORDS = {"true": "True", "false": "False"}


class Line:
    """Reads a line from left to right. Each method returns what it read, in Python."""

    def __init__(self, text, functions):
        """functions: the names that stand in the module tb."""
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        try:
            self.tokens = [token.string for token in tokens if token.string.strip()]
        except tokenize.TokenError as error:
            raise SyntaxError(f"{error.args[0]} in {text!r}") from error
        self.text = text
        self.functions = functions
        self.called = []  # names, in the order of their calls

    def comes(self, *tokens):
        return self.tokens[: len(tokens)] == list(tokens)

    def take(self, *tokens):
        """Reads these tokens if they come next."""
        found = self.comes(*tokens)
        if found:
            del self.tokens[: len(tokens)]
        return found

    def need(self, token):
        if not self.take(token):
            raise SyntaxError(f"expected {token} before {' '.join(self.tokens)!r} in {self.text!r}")

    def next(self):
        if not self.tokens:
            raise SyntaxError(f"{self.text!r} ends too early")
        return self.tokens.pop(0)

    def items(self, end, read):
        """What read() reads, separated by commas, up to the end."""
        found = []
        while not self.take(end):
            if found:
                self.need(",")
            found.append(read())
        return ", ".join(found)

    def line(self):
        target = ""
        if self.take("auto"):
            target = self.items("]", self.next) if self.take("[") else self.next()
            self.need("=")
            target += " = "
        value = self.value()
        self.take(";")
        if self.tokens:
            raise SyntaxError(f"{' '.join(self.tokens)!r} is left over in {self.text!r}")
        return target + value

    def value(self):
        found = self.factor()
        while self.tokens and self.tokens[0] in ("+", "-", "*", "/"):
            found += f" {self.next()} {self.factor()}"
        return found

    def factor(self):
        if self.take("-"):
            return "-" + self.factor()
        if self.take("{"):
            return "[" + self.items("}", self.value) + "]"
        if self.take("("):
            found = f"({self.value()})"
            self.need(")")
        else:
            found = self.next()
        if self.take(":", ":"):  # a constant or a function of a type: its name as text
            found = f'"{self.next()}"'
            self.take("(", ")")
            return found
        found = WORDS.get(found, found)
        while self.comes(".") or self.comes("("):
            found = f"{found}.{self.next()}" if self.take(".") else self.call(found)
        return found

    def call(self, function):
        self.called.append(function)
        self.need("(")
        module = "tb." if function in self.functions else ""
        return f"{module}{function}({self.items(')', self.argument)})"

    def argument(self):
        """A value, or the fields of attributes as keyword arguments."""
        if not self.comes("{", "."):
            return self.value()
        self.need("{")
        return self.items("}", self.field)

    def field(self):
        self.need(".")
        name = self.next()
        self.need("=")
        return f"{name}={self.value()}"


def python_example(name, text, functions):
    """The line in Python; nothing where it calls other functions than the one of this name."""
    line = Line(text, functions)
    example = line.line() if text else ""
    return example if name in line.called or not line.called else ""
