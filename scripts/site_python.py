"""Pages of the documentation site from the built Python package. Its files are read, not imported."""

import ast
import html
import inspect
import re

# Module, title of its page. The first two are what "import thimble" gives, in two pages.
MODULES = [
    ("thimble", "thimble"),
    ("ops", "thimble.ops"),
    ("optimizers", "thimble.optimizers"),
    ("data", "thimble.data"),
    ("init", "thimble.init"),
    ("recipes", "thimble.recipes"),
]
PARTS = ("Args", "Returns", "Yields", "Raises", "Errors", "Example", "Examples")


class Package:
    """The syntax trees of a package's files, and where its names are defined."""

    def __init__(self, folder):
        self.trees = {}
        for path in [*folder.glob("*.py"), *folder.glob("*.pyi")]:
            self.trees[path.stem] = ast.parse(path.read_text("utf-8"))

    def definition(self, module, name):
        """The node that defines a name which a module defines or imports; None where there is none."""
        for node in self.trees[module].body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name:
                # Overloads: the last one has the docstring.
                same = [n for n in self.trees[module].body if getattr(n, "name", None) == name]
                return next((n for n in same if ast.get_docstring(n)), node)
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == name:
                # he_normal = Initializer.he_normal
                if isinstance(node.value, ast.Attribute) and isinstance(node.value.value, ast.Name):
                    owner = self.definition(module, node.value.value.id)
                    return next((n for n in owner.body if getattr(n, "name", None) == node.value.attr), None)
            if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module in self.trees:
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return self.definition(node.module, alias.name)
        return None

    def public(self, module):
        """The names of a module that users see: __all__ in its order, or all without an underscore."""
        for node in self.trees[module].body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "__all__":
                return [n.value for n in node.value.elts if isinstance(n, ast.Constant)]
        names = []
        for node in self.trees[module].body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                names.append(node.name)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
                names.append(node.targets[0].id)
        return [name for name in dict.fromkeys(names) if not name.startswith("_")]


def signature(node, name):
    """A function's head, on several lines where it is long."""
    arguments = node.args
    parts, positional = [], arguments.posonlyargs + arguments.args
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults

    def one(argument, default, mark=""):
        kind = f": {ast.unparse(argument.annotation)}" if argument.annotation else ""
        kind = re.sub(r"\bnumpy\.typing\.", "", kind)
        value = "" if default is None else (" = " if kind else "=") + ast.unparse(default)
        return mark + argument.arg + kind + value

    parts = [one(argument, default) for argument, default in zip(positional, defaults)]
    if parts and positional[0].arg in ("self", "cls"):
        parts = parts[1:]
    if arguments.vararg:
        parts.append(one(arguments.vararg, None, "*"))
    elif arguments.kwonlyargs:
        parts.append("*")
    parts += [one(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    if arguments.kwarg:
        parts.append(one(arguments.kwarg, None, "**"))
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    result = re.sub(r"\bnumpy\.typing\.", "", result)
    line = f"{name}({', '.join(parts)}){result}"
    if len(line) <= 90:
        return line
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){result}"


def plain(text):
    return re.sub(r"([\\*_\[\]|#])", r"\\\1", html.escape(text, quote=False))


def prose(text):
    """Docstring text as Markdown: an indented block after a blank line or a colon is code; other
    indented lines go on with the line above; lines "name: meaning" are a list."""
    out, kind = [], ""  # kind of the last block: "text", "list", "code"
    blank = True
    for line in text.strip("\n").splitlines():
        if not line.strip():
            blank = True
            continue
        indented = line.startswith("    ")
        if indented and kind == "code":
            out[-1] += ("\n\n" if blank else "\n") + line
        elif indented and (blank or out[-1].rstrip().endswith(":")):
            out.append(line)
            kind = "code"
        elif not indented and re.match(r"[a-z_0-9]+(, [a-z_0-9]+)*: ", line):
            name, _, meaning = line.partition(": ")
            item = f"- `{name}`: {plain(meaning)}"
            if kind == "list":
                out[-1] += "\n" + item
            else:
                out.append(item)
            kind = "list"
        elif not out or kind == "code" or blank:
            out.append(plain(line.strip()))
            kind = "text"
        else:
            out[-1] += (" " if kind == "list" else "\n") + plain(line.strip())
        blank = False
    return "\n\n".join(
        "```python\n" + inspect.cleandoc(block) + "\n```" if block.startswith("    ") else block
        for block in out)


def document(text):
    """A docstring with the parts Args, Returns, Example as Markdown."""
    if not text:
        return ""
    head, part, parts = [], None, {}
    for line in text.splitlines():
        match = re.fullmatch(rf"({'|'.join(PARTS)}):", line)
        if match:
            part = parts.setdefault(match[1], [])
        else:
            (head if part is None else part).append(line)
    out = [prose("\n".join(head))]
    for name, lines in parts.items():
        body = inspect.cleandoc("\n".join(lines))
        out.append(f"**{name}**")
        if name.startswith("Example"):
            out.append(f"```python\n{body}\n```")
            continue
        items = re.split(r"\n(?=\S)", body)
        rows = []
        for item in items:
            left, _, right = " ".join(line.strip() for line in item.splitlines()).partition(": ")
            rows.append(f"- `{left}`: {plain(right)}" if right else f"- {plain(left)}")
        out.append("\n".join(rows))
    return "\n\n".join(part for part in out if part)


def function(node, name, level):
    decorators = {ast.unparse(d).split("(")[0] for d in node.decorator_list}
    if decorators & {"property", "functools.cached_property"}:
        kind = f": {ast.unparse(node.returns)}" if node.returns else ""
        code = f"{name}{kind}"
    else:
        code = signature(node, name)
    short = name.rsplit(".", 1)[-1].replace("_", "\\_")
    text = document(ast.get_docstring(node))
    return f"{'#' * level} {short}\n\n```python\n{code}\n```\n\n{text}\n"


def klass(package, node, name):
    out = [f"## {node.name}\n"]
    bases = [ast.unparse(base) for base in node.bases if not ast.unparse(base).startswith(("_", "Generic"))]
    members = [n for n in node.body if isinstance(n, ast.FunctionDef)]
    constructors = [n for n in members if n.name == "__init__" and (n.args.args[1:] or n.args.kwonlyargs)]
    fields = [n for n in node.body if isinstance(n, ast.AnnAssign) and not n.target.id.startswith("_")]
    if constructors:
        out.append(f"```python\n{signature(constructors[0], name)}\n```\n")
    elif fields:
        lines = "".join(f"    {ast.unparse(field)},\n" for field in fields)
        out.append(f"```python\n{name}(\n{lines})\n```\n")
    if bases:
        out.append(f"Derived from `{', '.join(bases)}`.\n")
    out.append(document(ast.get_docstring(node)) + "\n")
    for one in constructors:
        out.append(document(ast.get_docstring(one)) + "\n")
    seen = set()
    for member in members:
        setter = any(ast.unparse(d).endswith(".setter") for d in member.decorator_list)
        if not member.name.startswith("_") and member.name not in seen and not setter:
            seen.add(member.name)
            out.append(function(member, f"{node.name}.{member.name}", 3))
    return "\n".join(out)


def write(folder, out):
    """Writes the pages below out; returns their navigation."""
    package = Package(folder)
    target = out / "python/thimble"
    target.mkdir(parents=True)
    entries, table = [], []
    for module, title in MODULES:
        tree = package.trees["__init__" if module == "thimble" else module]
        text = ast.get_docstring(tree) or ""
        names = package.public("__init__" if module == "thimble" else module)
        blocks = [f"# {title}\n", document_of_module(text)]
        for name in sorted(names, key=str.lower) if module != "init" else names:
            node = package.definition("__init__" if module == "thimble" else module, name)
            if isinstance(node, ast.ClassDef):
                blocks.append(klass(package, node, name))
            elif node is not None:
                blocks.append(function(node, name, 2))
        (target / f"{module}.md").write_text("\n".join(blocks), "utf-8")
        entries.append((title, f"python/thimble/{module}.md"))
        table.append(f"| [`{title}`]({module}.md) | {plain(text.splitlines()[0]) if text else ''} |")
    (target / "README.md").write_text("\n".join([
        "# Python API", "", "`import thimble as tb` gives the classes, all ops and all optimizers.",
        "[The guide](../../docs/guide/python.md) shows how they work together.", "",
        "| module | what it holds |", "| --- | --- |", *table, ""]), "utf-8")
    return [("Overview", "python/thimble/README.md"), *entries]


def document_of_module(text):
    return prose(text) + "\n"
