"""The report page, looked at with a headless Chromium. Skipped where there is none. With TAMIS_SCREENSHOTS=FOLDER,
pictures of the pages are kept there."""
import os
import pathlib
import random
import re
import unittest

import browser
from harness import CliTest, main

# Whether a canvas shows more than one colour.
DRAWN = """[...document.querySelectorAll('canvas')].map((canvas) => {
  const copy = document.createElement('canvas');
  copy.width = canvas.width;
  copy.height = canvas.height;
  const context = copy.getContext('2d');
  context.drawImage(canvas, 0, 0);
  const pixels = new Uint32Array(context.getImageData(0, 0, copy.width, copy.height).data.buffer);
  return new Set(pixels).size > 1;
})"""


@unittest.skipUnless(browser.PROGRAM, "chromium is not installed")
class Report(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def setUp(self):
        super().setUp()
        self.browser.messages.clear()
        self.browser.requests.clear()
        self.ok("generate", "checkerboard", "--rows", 600, "-o", "train.svm")

    def open(self, name, width, dark=False):
        self.browser.open(self.folder / name, width, dark=dark)
        kept = os.environ.get("TAMIS_SCREENSHOTS")
        if kept:
            self.browser.screenshot(pathlib.Path(kept) / f"{self._testMethodName}-{width}{'-dark' if dark else ''}.png")
        self.assertEqual(self.browser.messages, [])
        self.assertEqual(self.browser.run("document.documentElement.dataset.ready"), "yes")
        outside = [url for url in self.browser.requests if not url.startswith(("file:", "data:", "about:"))]
        self.assertEqual(outside, [])

    def compare(self, *arguments):
        self.ok("compare", "train.svm", "-c", 10, "-g", 100, "--methods", "exact,falk,linear,falk-c", "--set", "falk.k=50",
                "--set", "falk-c.k=10", "--set", "falk-c.k-prime=20", "--report", "r.html", *arguments)

    def test_comparison(self):
        self.compare("--runs", 2)
        for width, dark in ((1440, False), (1440, True), (360, False)):
            self.open("r.html", width, dark)
            # Four charts and a picture for each of three methods.
            self.assertEqual(self.browser.run(DRAWN), [True] * 7, f"{width} px")
            # Wide tables scroll inside; the page itself does not.
            self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), width)
            self.assertTrue(self.browser.run(
                "[...document.querySelectorAll('canvas')].every((c) => c.getBoundingClientRect().right <= innerWidth)"))

    def test_feature_weights(self):
        draw = random.Random(1)
        rows = [[draw.gauss(0, 1) for _ in range(6)] for _ in range(600)]
        lines = ["a,<b>,c,d,e,f,label"] + [",".join([*(f"{x:.3f}" for x in row), "yes" if row[1] * row[4] > 0 else "no"])
                                           for row in rows]
        (self.folder / "table.csv").write_text("\n".join(lines) + "\n")
        self.ok("compare", "table.csv", "-c", 4, "--metric-rounds", 2, "--methods", "exact,falk", "--report", "w.html")
        for width in (1440, 360):
            self.open("w.html", width)
            self.assertTrue(all(self.browser.run(DRAWN)))
            self.assertIn("Feature weights", self.browser.run("[...document.querySelectorAll('h2')].map((h) => h.textContent)"))
            self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), width)
        weights = self.browser.run("JSON.parse(document.getElementById('data').textContent).rows[0].feature_weights")
        self.assertEqual({weights[0][0], weights[1][0]}, {"<b>", "e"})
        self.assertEqual(len(weights), 6)

    def test_table_sorts(self):
        self.compare()
        self.open("r.html", 1440)
        names = "[...document.querySelectorAll('#table tbody tr')].map((line) => line.cells[0].textContent)"
        click = "document.querySelectorAll('#table thead button')[{}].click()"
        error = ("[...document.querySelectorAll('#table tbody tr')].map((line) => "
                 "Number(line.cells[1].dataset.value)).filter((e) => !isNaN(e))")
        self.assertEqual(self.browser.run(names), ["exact", "falk", "linear", "falk-c"])
        self.browser.run(click.format(1))
        upwards = self.browser.run(error)
        self.assertEqual(upwards, sorted(upwards))
        self.browser.run(click.format(1))
        self.assertEqual(self.browser.run(error), sorted(upwards, reverse=True))
        self.assertEqual(self.browser.run(names)[-1], "falk-c")  # no result: last either way
        self.browser.run(click.format(0))
        self.assertEqual(self.browser.run(names), ["exact", "falk", "falk-c", "linear"])

    def test_failures_are_told(self):
        self.compare()
        self.open("r.html", 1440)
        self.assertRegex(self.browser.run("document.querySelector('#summary').textContent"), "falk-c gave no result: k-prime is 20")
        self.assertRegex(self.browser.run("document.querySelector('td.why').textContent"), "no result: k-prime is 20")

    def test_tuning(self):
        self.ok("tune", "train.svm", "--grid", "cost=1,10,100", "--grid", "gamma=10,100", "--report", "t.html")
        self.open("t.html", 360)
        self.assertEqual(self.browser.run("document.querySelectorAll('.heat td').length"), 6)
        self.assertEqual(self.browser.run("document.querySelectorAll('.heat td.best').length"), 1)
        self.assertRegex(self.browser.run("document.querySelector('#summary').textContent"), "Best parameters found: cost")

    def test_without_chart_js(self):
        """As built where Chart.js is missing: the rest of the page is there."""
        self.compare()
        page = (self.folder / "r.html").read_text()
        chart = re.search(r"<script>/\*!\s+\* Chart\.js.*?</script>", page, re.DOTALL)
        self.write("r.html", page.replace(chart.group(), ""))
        self.open("r.html", 1440)
        self.assertRegex(self.browser.run("document.querySelector('#charts').textContent"), "built without Chart.js")
        self.assertEqual(self.browser.run("document.querySelectorAll('#table tbody tr').length"), 4)

    def test_tuning_marks_dropped_points(self):
        self.ok("tune", "train.svm", "--grid", "cost=1,10,100", "--grid", "gamma=0.01,100", "--report", "t.html", "--json", "t.json")
        dropped = sum("dropped" in p for p in self.report("t.json")["points"])
        self.assertGreater(dropped, 0)
        self.open("t.html", 360)
        cells = self.browser.run("[...document.querySelectorAll('.heat td.dropped')].map((cell) => cell.textContent)")
        self.assertEqual(len(cells), dropped)
        self.assertTrue(all(text.endswith("*") for text in cells))
        self.assertIn("*: dropped after the first folds", self.browser.run("document.querySelector('#tuning .hint').textContent"))

    def test_names_are_text(self):
        name = "a<script>alert(1)&.svm"
        (self.folder / "train.svm").rename(self.folder / name)
        self.ok("compare", name, "--methods", "exact/</script><b>", "--report", "r.html")
        self.open("r.html", 1440)
        self.assertEqual(self.browser.run("document.querySelector('h1').textContent"), f"Comparison of methods on {name}")
        self.assertEqual(self.browser.run("document.querySelector('#table td').textContent"), "exact/</script><b>")

    def test_hostile_names_run_nothing(self):
        # Every way out of a text that HTML and scripts know, in file name, method name, column names and labels.
        bad = "</title></script><img src=x onerror=document.title='hit'>\"'`${1}&lt;\u2028--><!--"
        field = '"' + bad.replace('"', '""') + '"'
        name = bad.replace("/", "|") + ".csv"
        self.write(name, f"{field},b,label\n" + "".join(f"{x},{x * x % 7},{field if x % 2 else 'c'}\n" for x in range(60)))
        self.ok("compare", name, "--methods", f"exact/{bad},linear", "--report", "r.html")
        self.open("r.html", 1440)
        self.assertEqual(self.browser.run("document.querySelector('h1').textContent"), f"Comparison of methods on {name}")
        self.assertEqual(self.browser.run("document.title"), f"Comparison of methods on {name}")
        self.assertEqual(self.browser.run("document.querySelector('#table td').textContent"), f"exact/{bad}")
        self.assertEqual(self.browser.run("document.querySelectorAll('img').length"), 0)

    def test_the_policy_runs_and_fetches_nothing_else(self):
        self.compare()
        self.open("r.html", 1440)
        refused = self.browser.run("""(async () => {
          const refused = [];
          addEventListener('securitypolicyviolation', (event) => refused.push(event.effectiveDirective));
          const script = document.createElement('script');
          script.textContent = "document.title = 'hit'";
          document.head.append(script);
          const image = new Image();
          await new Promise((done) => {
            image.onload = image.onerror = done;
            image.src = 'r.png';
          });
          await new Promise((done) => setTimeout(done));  // events of violations are tasks of their own
          return refused.sort();
        })()""")
        self.assertEqual(refused, ["img-src", "script-src-elem"])
        self.assertRegex(self.browser.run("document.title"), "^Comparison")


if __name__ == "__main__":
    main()
