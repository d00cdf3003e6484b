"""The site of tools/make_site: it is made, its links are checked, and its search works without a network."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "cli"), str(ROOT / "tools")]

import browser
import site_links

SKIPPED = 77
FIND = """(words => { const input = document.getElementById("search"); input.value = words;
  input.dispatchEvent(new Event("input"));
  return [...document.querySelectorAll("#found a")].map(link => link.getAttribute("href")); })"""


def make(*arguments):
    return subprocess.run([sys.executable, ROOT / "tools" / "make_site", *arguments], capture_output=True, text=True)


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tamis-site-")
        cls.addClassCleanup(folder.cleanup)
        cls.site = pathlib.Path(folder.name) / "site"
        cls.made = make("--output", cls.site, "--package", os.environ["TAMIS_PACKAGE"])

    def test_is_made_without_broken_links(self):
        self.assertEqual(self.made.returncode, 0, self.made.stdout + self.made.stderr)
        for page in ("index", "tutorial", "large-data", "benchmarks", "reproduction/index", "reference/python", "reference/cpp/train", "reference/c"):
            self.assertIn("<h1", (self.site / f"{page}.html").read_text(), page)
        self.assertIn("tamis_predict_row", (self.site / "reference/c.html").read_text())
        self.assertIn("tamis.SVC", (self.site / "reference/python.html").read_text())

    def test_broken_links_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "a.html"
            page.write_text('<a href="b.html">x</a><a href="#c">x</a><a id="d" href="#d">x</a><img src="https://example.org/x.png">')
            problems, _ = site_links.problems(pathlib.Path(folder))
        self.assertEqual(problems, ["a.html: fetches https://example.org/x.png", "a.html: b.html is not there",
                                    "a.html: #c: the page has no such heading"])

    @unittest.skipUnless(browser.PROGRAM, "no browser")
    def test_search(self):
        page = browser.Browser()
        self.addCleanup(page.close)
        page.open(self.site / "reproduction" / "index.html", 1200)
        for words, wanted in (("duality gap", "../glossary.html"), ("from libsvm", "../from-libsvm.html"), ("racing", "../tune.html")):
            found = page.run(f"{FIND}({words!r})")
            self.assertTrue(any(link.startswith(wanted) for link in found), (words, found))
        self.assertEqual(page.run(f"{FIND}('xyzzyx')"), [])
        self.assertEqual(page.messages, [])
        self.assertTrue(all(address.startswith("file:") for address in page.requests), page.requests)
        for width in (360, 1200):
            page.open(self.site / "exact.html", width, dark=width < 600)
            self.assertLessEqual(page.run("document.documentElement.scrollWidth"), width)
        if folder := os.environ.get("TAMIS_SCREENSHOTS"):
            page.open(self.site / "index.html", 360, dark=True)
            page.screenshot(pathlib.Path(folder) / "site_phone.png")


if __name__ == "__main__":
    if not shutil.which("mkdocs"):
        print("skipped: MkDocs is not installed (scripts/setup site)")
        sys.exit(SKIPPED)
    unittest.main()
