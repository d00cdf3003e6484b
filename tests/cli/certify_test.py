"""`tamis certify`: what it prints, reports and returns."""
from harness import REGRESSION_MODEL, CliTest, main

# x = -1 and 3: f(x) = (x - 1) / 2 is the optimum for any C above 1/8.
TWO_POINTS = "-1 1:-1\n1 1:3\n"
OPTIMUM = """svm_type c_svc
kernel_type linear
nr_class 2
total_sv 2
rho 0.5
label 1 -1
nr_sv 1 1
SV
0.125 1:3 
-0.125 1:-1 
"""


class Certify(CliTest):
    def setUp(self):
        super().setUp()
        self.write("a.svm", TWO_POINTS)
        self.write("m", OPTIMUM)

    def test_the_optimum(self):
        result = self.ok("certify", "m", "a.svm", "-c", "10", "-e", "1e-9")
        self.assertIn("assumed: C-SVC, C 10, l1 slacks", result.out)
        self.assertIn("primal 0.125, dual 0.125, gap 0", result.out)
        self.assertIn("certified: the optimum at eps 1e-09", result.out)

    def test_a_model_of_one_class(self):
        self.write("one.model", "svm_type c_svc\nkernel_type rbf\ngamma 1\nnr_class 1\ntotal_sv 0\nrho\nlabel 1\nnr_sv 0\nSV\n")
        self.write("one.svm", "1 1:1\n1 1:2\n")
        self.fails(2, "knows one class only", "certify", "one.model", "one.svm")

    def test_the_hard_margin(self):
        self.assertIn("no slacks allowed", self.ok("certify", "m", "a.svm", "-c", "inf").out)

    def test_not_the_optimum(self):
        self.write("b.svm", TWO_POINTS + "1 1:1.5\n")
        result = self.run_tamis("certify", "m", "b.svm", "-c", "10", "--json", "r.json")
        self.assertEqual(result.code, 3)
        self.assertIn("not certified at eps 0.001: row 3 violates by 0.75", result.out)
        report = self.report("r.json")
        self.assertEqual(report["violating_rows"], 1)
        self.assertEqual(report["binary_svms"][0]["worst_row"], 3)
        self.assertAlmostEqual(report["gap"], 7.5)
        self.assertFalse(report["certified"])

    def test_a_cost_below_the_coefficients(self):
        result = self.run_tamis("certify", "m", "a.svm", "-c", "0.1")
        self.assertEqual(result.code, 3)
        self.assertIn("is C right?", result.out)

    def test_class_weights_as_libsvm_writes_them(self):
        result = self.ok("certify", "m", "a.svm", "-c", "0.1", "-w1", "2", "-w-1", "3")
        self.assertIn("C of class 1 times 2, C of class -1 times 3", result.out)

    def test_support_vectors_from_elsewhere(self):
        self.write("c.svm", "-1 1:-1\n1 1:3.5\n")
        result = self.run_tamis("certify", "m", "c.svm", "--json", "r.json")
        self.assertEqual(result.code, 3)
        self.assertIn("1 support vector is not among the rows", result.out)
        self.assertIsNone(self.report("r.json")["dual"])

    def test_against_another_model(self):
        self.write("other", OPTIMUM.replace("1:3", "1:5"))
        result = self.ok("certify", "m", "a.svm", "--against", "other", "--json", "r.json")
        self.assertIn("1 support vector shared: 50.0 % of 2 here, 50.0 % of 2 in other", result.out)
        self.assertEqual(self.report("r.json")["against"]["shared"], 1)

    def test_regression(self):
        self.write("r.svm", "3 1:1\n1 1:0.5\n")
        self.write("r.model", REGRESSION_MODEL)
        result = self.run_tamis("certify", "r.model", "r.svm", "-p", "0.25")
        self.assertEqual(result.code, 3)
        self.assertIn("assumed: epsilon-SVR, tube 0.25, C 1, l1 slacks", result.out)

    def test_wrong_usage_and_data(self):
        self.fails(2, "cost", "certify", "m", "a.svm", "-c", "0")
        self.fails(2, "DATA", "certify", "m")
        self.write("d.svm", "-1 1:-1\n4 1:3\n")
        self.fails(1, "row 2 has the label 4", "certify", "m", "d.svm")


if __name__ == "__main__":
    main()
