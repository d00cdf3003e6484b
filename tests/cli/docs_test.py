"""Help, man pages and completions agree with the commands."""
import pathlib
import re
import shutil
import subprocess

from harness import CliTest, main


class Docs(CliTest):
    def commands(self):
        block = self.ok("--help").out.split("Commands:\n")[1].split("\n\n")[0]
        return re.findall(r"^  (\S+)", block, re.MULTILINE)

    def options(self, command):
        block = self.ok(command, "--help").out.split("\nOptions:\n")[1].split("\nExample:")[0]
        return re.findall(r"^  (?:-\w, )?(--[\w-]+)", block, re.MULTILINE)

    def test_help(self):
        self.assertGreaterEqual(set(self.commands()), {"predict", "generate", "convert", "scale", "check", "info"})
        self.assertEqual(self.ok("--help").out, self.ok("-h").out)
        for command in self.commands():
            text = self.ok(command, "--help").out
            self.assertRegex(text, rf"\nExample:\n  tamis {command} ")
            self.assertGreaterEqual(set(self.options(command)), {"--threads", "--memory", "--quiet", "--json", "--help"})
            self.assertLessEqual(max(map(len, text.splitlines())), 80)

    def test_the_library_names_no_flags(self):
        """It is used from C++ and Python too: its messages name options, "memory", not "--memory"."""
        root = pathlib.Path(__file__).resolve().parents[2]
        sources = [path for folder in ("src", "include", "python") for path in (root / folder).rglob("*.?pp")]
        self.assertGreater(len(sources), 200)
        for path in sources:
            code = re.sub(r'"\n\s*"', "", re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.MULTILINE))
            for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', code):
                flags = re.findall(r"(?<![\w'`}])--?[a-z][\w-]*", text.replace("LIBLINEAR's -B", ""))
                self.assertEqual(flags, [], f"{path}: {text}")

    def test_the_table_of_options_names_every_choice(self):
        text = re.sub(r"\n {20,}", " ", self.ok("train", "--help").out)
        choices = {option: names.split(", ") for option, names in
                   re.findall(r"^  (?:-\w, )?--([\w-]+) NAME .*; one of ([\w, -]+?)(?: \(default: .*\))?$", text, re.MULTILINE)}
        self.assertGreaterEqual(set(choices), {"kernel", "loss", "scale", "method"})
        seen = set()
        for method in choices["method"]:
            for line in self.ok("options-table", method).out.splitlines()[2:]:
                option, allowed = re.fullmatch(r"\| `--([\w-]+)` \|.*?\|.*?\| (.*?) \| .* \|", line).groups()
                if option in choices:
                    self.assertEqual(allowed, ", ".join(f"`{name}`" for name in choices[option]), line)
                    seen.add(option)
        self.assertGreaterEqual(seen, {"kernel", "loss", "scale"})

    def test_help_of_a_method(self):
        """train --help shows what all methods share, --help METHOD what is the method's own."""
        common = self.ok("train", "--help").out
        methods = re.findall(r"^  ([\w-]+) +\S", common[common.index("\nMethods:\n"):common.index("\nReading and running:")], re.MULTILINE)
        self.assertGreaterEqual(set(methods), {"exact", "falk", "auto"})
        own = set()
        for method in methods:
            if method == "tamis":
                continue
            text = self.ok("train", "--help", method).out
            self.assertTrue(text.startswith(f"{method} - "), text)
            self.assertLessEqual(max(map(len, text.splitlines())), 80)
            own |= set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, re.MULTILINE))
        self.assertIn("--k-prime", own)
        self.assertNotIn("--k-prime", common)
        table = {line.split("`")[1] for method in methods if method != "tamis"
                 for line in self.ok("options-table", method).out.splitlines()[2:]}
        self.assertEqual(table, own)

    def test_man_pages_have_every_option(self):
        self.assertIn(".SH NAME\ntamis ", self.ok("man").out)
        for command in self.commands():
            page = self.ok("man", command).out
            self.assertTrue(page.startswith(f".TH TAMIS\\-{command.upper()} 1\n"), page[:40])
            for option in self.options(command):
                self.assertIn(option.replace("-", "\\-"), page)
            self.assertIn(".SH EXAMPLE", page)
        self.fails(2, "no command", "man", "nothing")

    def test_man_pages_are_sound(self):
        if not shutil.which("groff"):
            self.skipTest("groff is not installed")
        for command in ["", *self.commands()]:
            page = self.ok("man", *[command][:len(command)]).out
            checked = subprocess.run(["groff", "-man", "-ww", "-Tutf8"], input=page.encode(), capture_output=True)
            self.assertEqual((checked.returncode, checked.stderr), (0, b""))

    def test_completions_parse(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.ok("completion", shell).out
            for command in self.commands():
                self.assertIn(command, script)
                for option in self.options(command):
                    self.assertIn(option.removeprefix("--"), script)
            if shutil.which(shell):
                self.write("script", script)
                checked = subprocess.run([shell, "-n", "script"], cwd=self.folder, capture_output=True)
                self.assertEqual((checked.returncode, checked.stderr), (0, b""), shell)
        self.fails(2, "bash, zsh or fish", "completion", "tcsh")

    def complete(self, *words):
        self.write("script", self.ok("completion", "bash").out)
        code = ("source ./script; COMP_WORDS=(" + " ".join(f"'{w}'" for w in words) + f"); COMP_CWORD={len(words) - 1}; "
                "_tamis; echo \"${COMPREPLY[*]}\"")
        done = subprocess.run(["bash", "-c", code], cwd=self.folder, capture_output=True, check=True)
        return done.stdout.decode().split()

    def test_bash_completes(self):
        self.assertEqual(self.complete("tamis", "gen"), ["generate"])
        self.assertEqual(self.complete("tamis", "generate", "check"), ["checkerboard"])
        self.assertEqual(self.complete("tamis", "scale", "--me"), ["--method", "--memory"])
        self.assertEqual(self.complete("tamis", "scale", "--method", "m"), ["minmax", "maxabs"])
        self.write("train.svm", "1 1:1\n")
        self.assertEqual(self.complete("tamis", "check", "tr"), ["train.svm"])
        self.assertEqual(self.complete("tamis", "generate", "spirals", "-o", "tr"), ["train.svm"])


if __name__ == "__main__":
    main()
