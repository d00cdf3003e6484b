"""The reference pages of the site, as Markdown: C++ and C from the comments of include/tamis, Python from the docstrings."""
import inspect
import re
import sys
import textwrap

NAMES = re.compile(r"(?:enum class|enum|struct|class|using|concept)\s+(?:TAMIS_EXPORT\s+)?(\w+)|(?:constexpr\b.*?(\w+)\s*=)|([\w~]+|operator\W+)\s*\(")


def comment_text(lines):
    """Prose of // and /// lines; lines indented by three blanks or more are code."""
    out, code = [], []
    for line in [re.sub(r"^\s*///?<? ?", "", line) for line in lines] + [""]:
        if line.startswith("  "):
            code.append(line)
            continue
        if code:
            out += ["", "```cpp", *textwrap.dedent("\n".join(code)).splitlines(), "```", ""]
            code = []
        out.append(line)
    return "\n".join(out).strip()


def declarations(body):
    """(comment lines, code lines) of each declaration in a namespace: they end where the braces are closed."""
    comment, code, depth = [], [], 0
    for line in body.splitlines():
        bare = re.sub(r"//.*", "", line)
        if depth == 0 and (not line.strip() or line.lstrip().startswith("//")) and code:
            yield comment, code
            comment, code = [], []
        if depth == 0 and line.lstrip().startswith("//"):
            comment.append(line)
        elif line.strip() or depth:
            code.append(line)
        elif comment and not code:  # a remark of its own
            comment = []
        depth += bare.count("{") - bare.count("}") + bare.count("(") - bare.count(")")
    if code:
        yield comment, code


def names_of(code):
    """Of the types and functions that a piece of code declares, each once."""
    names, depth, statement = [], 0, ""
    for character in re.sub(r"//.*", "", code):
        depth += (character in "{(") - (character in "})")
        statement += character
        if depth == 0 and character in ";}":
            found = NAMES.search(statement)
            names += [part for part in found.groups() if part] if found else []
            statement = ""
    return list(dict.fromkeys(names))


def cpp_page(path):
    text = path.read_text()
    head, rest = text.split("#pragma once", 1)
    body = rest[rest.index("namespace tamis {") + len("namespace tamis {"):rest.rindex("}  // namespace tamis")]
    out = [f"# tamis/{path.name}", "", comment_text(head.splitlines()), "", f"```cpp\n#include \"tamis/{path.name}\"\n```", ""]
    for comment, code in declarations(body):
        code = re.sub("///<?", "//", "\n".join(code).replace("TAMIS_EXPORT ", ""))
        out += [f"## {', '.join(names_of(code))}", ""] if names_of(code) else []
        out += [comment_text(comment), ""] if comment else []
        out += ["```cpp", code, "```", ""]
    return "\n".join(out)


def c_page(path):
    """Functions under the headings that remarks of their own are in the header."""
    text = path.read_text()
    head = text[:text.index("#ifndef")]
    begin, end = 'extern "C" {\n#endif\n', "#ifdef __cplusplus\n}"
    body = text[text.index(begin) + len(begin):text.rindex(end)]
    out = ["# C reference", "", "Generated from the header; [C](../c.md) says where to start.", "", comment_text(head.splitlines()), "",
           f"```c\n#include \"tamis/{path.name}\"\n```", ""]
    for part in re.split(r"(?<=\n\n)(?=// )", body):
        lines = part.splitlines()
        title = []
        while lines and re.match(r"//(?!/)", lines[0]):
            title.append(lines.pop(0))
        if title:
            out += [f"## {title[0].removeprefix('// ')}", "", comment_text(title[1:]), ""]
        for comment, code in declarations("\n".join(lines)):
            code = re.sub("///<?", "//", "\n".join(code).replace("TAMIS_API ", ""))
            names = [name for found in re.findall(r"\b(tamis_\w+)\(|enum (\w+)|\(\*(\w+)\)|struct \w+ (\w+);", code)
                     for name in found if name]
            out += [f"### {', '.join(names)}", ""] if names else []
            out += [comment_text(comment), ""] if comment else []
            out += ["```c", code, "```", ""]
    return "\n".join(out)


def cpp_index(paths, guide):
    """`guide`: the page that says in a table what is in each header."""
    contents = dict(re.findall(r"^\| \[?([\w.]+)\]?(?:\([^)]*\))? \| (.*) \|$", guide.read_text(), re.MULTILINE))
    out = ["# C++ reference", "", "Generated from the public headers; [C++](../../cpp.md) says where to start.", "",
           "| header | content |", "|---|---|"]
    out += [f"| [{path.name}]({path.stem}.md) | {contents[path.name]} |" for path in paths]
    return "\n".join(out) + "\n"


SECTION = re.compile(r"^(\w[\w ]*)\n-+$", re.MULTILINE)


def docstring(text):
    """A docstring of NumPy's form as Markdown."""
    text = inspect.cleandoc(text or "")
    parts = SECTION.split(text)
    out = [parts[0].strip(), ""]
    for title, body in zip(parts[1::2], parts[2::2]):
        body = body.strip("\n")
        out += [f"**{title}**", ""]
        if title == "Examples":
            out += ["```python", body.strip(), "```", ""]
            continue
        for item in re.split(r"\n(?=\S)", body.strip()):
            first, _, rest = item.partition("\n")
            name, _, kind = first.partition(" : ")
            out.append(f"- `{name}`" + (f": *{kind.replace('*', '')}*" if kind else ""))
            if rest.strip():
                out[-1] += ". " + " ".join(rest.split())
        out.append("")
    return "\n".join(out)


def methods_of(kind):
    """Public methods with a docstring of ours."""
    for name, member in inspect.getmembers(kind):
        function = inspect.unwrap(member) if callable(member) else None
        if name.startswith("_") or not inspect.isroutine(member) or not getattr(member, "__doc__", None):
            continue
        if getattr(function, "__module__", "").startswith("tamis"):
            yield name, member


def python_page(package):
    sys.path.insert(0, str(package))
    import tamis

    out = ["# Python reference", "", "Generated from the docstrings; [Python](../python.md) says where to start.", ""]
    for name in tamis.__all__:
        member = getattr(tamis, name)
        if name == "__version__":
            continue
        if inspect.ismodule(member):
            out += [f"## tamis.{name}", "", docstring(member.__doc__), ""]
            for inner, function in inspect.getmembers(member, inspect.isfunction):
                if not inner.startswith("_") and function.__module__ == member.__name__:
                    out += [f"### {name}.{inner}", "", docstring(function.__doc__), ""]
            continue
        out += [f"## tamis.{name}", "", docstring(member.__doc__), ""]
        if inspect.isclass(member):
            for method, function in methods_of(member):
                if method in vars(member) or name in ("SVC", "SVR"):  # the others have the same
                    out += [f"### {name}.{method}", "", docstring(function.__doc__), ""]
            if name not in ("SVC", "SVR") and list(methods_of(member)):
                like = "SVR" if name.endswith("SVR") else "SVC"
                out += [f"Methods: those of [{like}](#tamis{like.lower()}).", ""]
    return "\n".join(out)
