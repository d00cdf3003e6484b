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


class PageTest(CliTest):
    """Opens pages that the program wrote; what they complain about or fetch is a failure."""

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

    def titles(self):
        return self.browser.run("[...document.querySelectorAll('h2')].map((h) => h.textContent)")

    def data(self):
        return self.browser.run("JSON.parse(document.getElementById('data').textContent)")

    def require_fits(self, width):
        """Wide tables scroll inside; the page itself does not. Every chart is drawn, and inside of the window."""
        self.assertTrue(all(self.browser.run(DRAWN)), f"{width} px")
        self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), width)
        self.assertTrue(self.browser.run(
            "[...document.querySelectorAll('canvas')].every((c) => c.getBoundingClientRect().right <= innerWidth)"))


@unittest.skipUnless(browser.PROGRAM, "chromium is not installed")
class Report(PageTest):
    def compare(self, *arguments):
        self.ok("compare", "train.svm", "-c", 10, "-g", 100, "--methods", "exact,falk,linear,falk-c", "--set", "falk.k=50",
                "--set", "falk-c.k=10", "--set", "falk-c.k-prime=20", "--report", "r.html", *arguments)

    def test_comparison(self):
        self.compare("--runs", 2)
        for width, dark in ((1440, False), (1440, True), (360, False)):
            self.open("r.html", width, dark)
            # Four charts and a picture for each of three methods.
            self.assertEqual(self.browser.run(DRAWN), [True] * 7, f"{width} px")
            self.require_fits(width)

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


# Contrast (WCAG 2) of each text with what is behind it, and of the colors of charts with the card they are on: the lowest of each.
CONTRAST = """(() => {
  const parts = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const over = (front, back) => {
    const alpha = front.length > 3 ? front[3] : 1;
    return [0, 1, 2].map((i) => alpha * front[i] + (1 - alpha) * back[i]);
  };
  const behind = (element) => {
    const above = element.parentElement ? behind(element.parentElement) : [255, 255, 255];
    return over(parts(getComputedStyle(element).backgroundColor), above);
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const texts = [...document.querySelectorAll('h1, h2, p, th, td, caption, summary')].filter((e) => e.textContent.trim() && e.offsetParent);
  const hex = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  const card = behind(document.querySelector('section'));
  return [Math.min(...texts.map((e) => contrast(parts(getComputedStyle(e).color), behind(e)))),
          Math.min(...[...Array(9).keys()].map((i) => contrast(hex(Page.colour(i)), card)))];
})()"""


@unittest.skipUnless(browser.PROGRAM, "chromium is not installed")
class ModelReport(PageTest):
    def test_two_classes(self):
        self.ok("train", "train.svm", "-c", 10, "-g", 100, "--probability-folds", 3, "--report", "m.html", "--learning-curve")
        for width, dark in ((1440, False), (1440, True), (360, False), (360, True)):
            self.open("m.html", width, dark)
            self.require_fits(width)
            text, colors = self.browser.run(CONTRAST)
            self.assertGreaterEqual(text, 4.5)
            self.assertGreaterEqual(colors, 3)
        self.assertEqual(self.titles()[:6], ["In short", "Measures", "Confusion matrix", "Results", "ROC curve", "Precision and recall"])
        self.assertLessEqual({"Calibration", "Learning curve", "Training", "Where the training time goes"}, set(self.titles()))
        self.assertRegex(self.browser.run("document.querySelector('#summary').textContent"),
                         "Error rate .* on 120 rows.*Measured on 120 rows held out of train.svm at random, with a model trained with "
                         "the same options on the other 480. The model that was written is trained on all of them")
        self.assertEqual([point["rows"] for point in self.data()["learning"]], [30, 60, 120, 240, 480])

    def test_keyboard_and_screen_reader(self):
        self.ok("train", "train.svm", "-c", 10, "-g", 100, "--report", "m.html")
        self.open("m.html", 1440)
        # Every chart names itself, and has its numbers in a table that opens by keyboard.
        self.assertTrue(self.browser.run("[...document.querySelectorAll('canvas')].every((c) => c.getAttribute('role') === 'img' && "
                                         "c.getAttribute('aria-label').length > 20)"))
        self.assertEqual(self.browser.run("document.querySelectorAll('.plot').length"),
                         self.browser.run("document.querySelectorAll('#charts details').length"))
        self.browser.run("document.querySelector('#charts summary').focus()")
        self.assertEqual(self.browser.run("document.activeElement.tagName"), "SUMMARY")
        for kind in ("keyDown", "keyUp"):
            self.browser.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
        rows = self.browser.run("""(async () => {
          let rows = 0;
          for (let wait = 0; wait < 100 && rows === 0; ++wait) {
            await new Promise((done) => setTimeout(done, 50));
            rows = document.querySelectorAll('#charts details[open] tbody tr').length;
          }
          return rows;
        })()""")
        self.assertGreater(rows, 10)
        # Regions that scroll can be reached and have names; sections and tables have titles.
        self.assertTrue(self.browser.run("[...document.querySelectorAll('.wide')].every((e) => e.tabIndex === 0 && e.getAttribute('aria-label'))"))
        self.assertTrue(self.browser.run("[...document.querySelectorAll('#tables table')].every((t) => t.caption && "
                                         "[...t.querySelectorAll('th')].every((h) => h.scope))"))

    def test_several_classes_on_a_test_file(self):
        self.ok("generate", "ten-gaussians", "--rows", 600, "-o", "g.svm")
        lines = (self.folder / "g.svm").read_text().splitlines()
        # A third class by the first feature.
        split = [line if i % 3 else "5 " + line.split(" ", 1)[1] for i, line in enumerate(lines)]
        self.write("a.svm", "\n".join(split[:400]) + "\n")
        self.write("b.svm", "\n".join(split[400:]) + "\n")
        done = self.ok("train", "a.svm", "--test", "b.svm", "--report", "m.html", "--json", "m.json")
        self.assertIn("report written to m.html", done.err)
        self.open("m.html", 360)
        self.require_fits(360)
        self.assertIn("Classes", self.titles())
        page = self.data()
        self.assertEqual(len(page["curves"]), 3)
        self.assertEqual(sum(map(sum, page["matrix"])), 200)
        self.assertRegex(self.browser.run("document.querySelector('#summary').textContent"), "Measured on the 200 rows of b.svm, with the model")
        # The same numbers as evaluate.
        self.ok("evaluate", "a.svm.model", "b.svm", "--json", "e.json", "--report", "e.html")
        self.assertEqual(self.report("m.json")["test"]["error_rate"], self.report("e.json")["error_rate"])
        self.open("e.html", 1440)
        self.assertEqual(self.data()["matrix"], self.report("e.json")["confusion"])
        self.assertEqual(self.data()["curves"], page["curves"])
        self.assertIn("To get them", self.browser.run("document.querySelector('#charts').textContent"))
        self.assertNotIn("Training", self.titles())

    def test_regression(self):
        draw = random.Random(1)
        rows = [[draw.uniform(0, 3) for _ in range(6)] for _ in range(500)]  # four of the six columns are noise
        self.write("r.csv", "a,b,c,d,e,f,y\n" + "".join(
            ",".join(f"{x:.4f}" for x in [*row, row[0] * row[1] + draw.gauss(0, 0.1)]) + "\n" for row in rows))
        self.ok("train", "r.csv", "--task", "regression", "-c", 10, "--report", "r.html", "--split", 0.3, "--metric-rounds", 2)
        for width, dark in ((1440, False), (360, True)):
            self.open("r.html", width, dark)
            self.require_fits(width)
        self.assertLessEqual({"Predicted and actual values", "Residuals", "Distribution of the residuals", "Feature weights"}, set(self.titles()))
        self.assertEqual(sum(self.data()["residuals"]["histogram"]), 150)
        self.assertEqual({column for column, _ in self.data()["feature_weights"][:2]}, {"a", "b"})
        self.assertRegex(self.browser.run("document.querySelector('#summary').textContent"), r"Root mean squared error 0\.\d+, mean absolute")

    def test_the_model_is_the_same_with_and_without(self):
        self.ok("train", "train.svm", "-c", 10, "-g", 100, "-o", "a.model")
        self.ok("train", "train.svm", "-c", 10, "-g", 100, "-o", "b.model", "--report", "m.html")
        self.assertEqual((self.folder / "a.model").read_bytes(), (self.folder / "b.model").read_bytes())

    def test_hostile_names_run_nothing(self):
        bad = "</title></script><img src=x onerror=document.title='hit'>\"'`${1}&lt;\u2028--><!--"
        field = '"' + bad.replace('"', '""') + '"'
        name = bad.replace("/", "|") + ".csv"
        self.write(name, f"{field},b,label\n" + "".join(f"{x},{x * x % 7},{field if x % 2 else 'c'}\n" for x in range(60)))
        self.ok("train", name, "--report", "m.html", "-o", "m.model")
        self.open("m.html", 1440)
        self.assertEqual(self.browser.run("document.title"), f"Model m.model, trained on {name}")
        self.assertEqual(self.browser.run("document.querySelectorAll('img').length"), 0)
        self.assertIn(bad, self.browser.run("[...document.querySelectorAll('.matrix th')].map((h) => h.textContent)"))

    def test_options_that_do_not_go_together(self):
        self.fails(2, "--test is of no use without --report", "train", "train.svm", "--test", "train.svm")
        self.fails(2, "--learning-curve is of no use without --report", "train", "train.svm", "--learning-curve")
        self.fails(2, "--split and --test", "train", "train.svm", "--report", "m.html", "--split", 0.5, "--test", "train.svm")
        self.fails(2, "--stream and --report", "train", "train.svm", "--method", "leader", "--stream", "--report", "m.html")
        self.fails(2, "--report would replace DATA", "train", "train.svm", "--report", "train.svm")
        self.assertEqual(self.files(), ["train.svm"])


if __name__ == "__main__":
    main()
