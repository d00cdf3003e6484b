"""tools/check_words and tools/wrap_prose.py find what they are for, and leave alone what is not prose."""
import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import wrap_prose


def load(name):
    loader = importlib.machinery.SourceFileLoader(name, str(ROOT / "tools" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


check_words = load("check_words")


def found(text, part=check_words.prose):
    return [line.split("'")[1] for line in check_words.findings("x", part(text))]


class Words(unittest.TestCase):
    def test_words_that_the_field_does_not_use(self):
        for text, wrong in (("A machine a pair.", "machine"), ("one label a row", "label a row"), ("the pair that votes", "that votes"),
                            ("in so many folds", "so many"), ("rows that rest", "rows that rest"), ("it creeps", "creeps"),
                            ("the offset of the SVM", "offset"), ("that is left out", "is left out"), ("by itself", "by itself"),
                            ("the price of a training error", "price of a training error"), ("it is told", "is told"),
                            ("threads; 0: all", "0: "), ("the centre", "centre"), ("optimised", "optimised")):
            self.assertEqual(found(text), [wrong], text)

    def test_names_titles_and_code_are_left_alone(self):
        self.assertEqual(found('`machine` and "Fast and scalable local kernel machines"\n```\nmachine\n```\nsupport vector machines'), [])
        self.assertEqual(found('"a machine" is short enough to be our own word'), ["machine"])

    def test_strings_of_programs(self):
        self.assertEqual(found('counted(n, "machine"); name = "centre"; f"{machine(x)} is a line"', check_words.strings), ["machine"])
        self.assertEqual(found('"{} kernel values a row"', check_words.strings), ["values a row"])

    def test_a_gloss_once(self):
        once = "The gap says how far it is\nfrom the optimum. "
        self.assertEqual(check_words.repeated_glosses("x", once), [])
        self.assertEqual(len(check_words.repeated_glosses("x", 2 * once)), 1)


class Lines(unittest.TestCase):
    LONG = "word " * 30

    def test_paragraphs_and_items_are_wrapped(self):
        for head, following in (("", ""), ("- ", "  "), ("12. ", "    "), ("  - ", "    ")):
            lines = wrap_prose.wrap(head + self.LONG).split("\n")
            self.assertEqual(len(lines), 2, head)
            self.assertTrue(lines[0].startswith(head + "word") and lines[1].startswith(following + "word"), lines)
            self.assertLessEqual(max(map(len, lines)), 100)
            self.assertEqual(wrap_prose.too_long((head + self.LONG).split("\n")), [0])

    def test_what_is_no_prose_stays(self):
        for text in (f"```\n{self.LONG}\n```", f"| {self.LONG} |", f"# {self.LONG}", f"<!-- {self.LONG} -->", f"![{self.LONG}](x.png)",
                     "x" * 120, "short\nlines"):
            self.assertEqual(wrap_prose.wrap(text), text)
            self.assertEqual(wrap_prose.too_long(text.split("\n")), [])

    def test_code_and_signs_do_not_begin_a_line(self):
        text = "word " * 18 + "`tamis train DATA` and - a dash " + self.LONG
        lines = wrap_prose.wrap(text).split("\n")
        self.assertTrue(any("`tamis train DATA`" in line for line in lines))
        self.assertFalse(any(line.startswith("- ") for line in lines))
        self.assertEqual(" ".join(" ".join(lines).split()), " ".join(text.split()))


if __name__ == "__main__":
    unittest.main()
