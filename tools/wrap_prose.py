"""Wraps the prose of Markdown at 100 columns. Code, tables, headings and comments stay as they are."""
import re
import textwrap

WIDTH = 100
FENCE = re.compile(r" *```")
ITEM = re.compile(r"( *(?:[-*+]|\d+[.)]) +)\S")
# A line that is no prose, or ends a paragraph: blank, table, heading, comment, picture.
NO_PROSE = re.compile(r" *$| *\||#|<!--|!\[")
JOINED = "\x00"  # a blank at which no line may end


def paragraphs(lines):
    """(begin, end) of each paragraph of prose; a list item is one."""
    begin, code = None, False
    for i, line in enumerate([*lines, ""]):
        fence = bool(FENCE.match(line))
        prose = not (code or fence or NO_PROSE.match(line))
        if begin is not None and (not prose or ITEM.match(line)):
            yield begin, i
            begin = None
        if prose and begin is None:
            begin = i
        code ^= fence


def join(match):
    return match.group(0).replace(" ", JOINED)


def wrapped(lines):
    """The lines of one paragraph, filled up to WIDTH columns."""
    item = ITEM.match(lines[0])
    first = item.group(1) if item else re.match(" *", lines[0]).group(0)
    following = re.match(" *", lines[1]).group(0) if len(lines) > 1 and not item else " " * len(first)
    text = " ".join(line.strip() for line in lines)[len(first.lstrip()):].strip()
    text = re.sub(r"`[^`]{1,80}`", join, text)                # code in one piece
    text = re.sub(r" (?:[-+*#>|=]|\d+[.)])(?= )", join, text)  # would begin a list at the start of a line
    text = re.sub(r"\d %", join, text)
    filled = textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=following, break_long_words=False,
                           break_on_hyphens=False)
    return [line.replace(JOINED, " ") for line in filled]


def too_long(lines):
    """Numbers, from 0, of lines of prose that are too long and can be wrapped."""
    return [i for begin, end in paragraphs(lines) for i in range(begin, end)
            if len(lines[i]) > WIDTH and len(wrapped(lines[begin:end])) > 1]


def wrap(text):
    """The text, with every paragraph filled again that has a line of more than WIDTH columns."""
    lines, result, end = text.split("\n"), [], 0
    for begin, stop in paragraphs(lines):
        result += lines[end:begin]
        part = lines[begin:stop]
        result += wrapped(part) if max(map(len, part)) > WIDTH else part
        end = stop
    return "\n".join(result + lines[end:])
