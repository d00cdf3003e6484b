"""Ranks of methods over data sets, and the two tests that go with them (as in the FaLK-SVM paper's experiments 1 and 2; J. Demsar,
"Statistical comparisons of classifiers over multiple data sets", 2006). Standard library only."""
import math


def ranks(values):
    """1 for the lowest; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    first = 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for k in order[first:last + 1]:
            result[k] = (first + last) / 2 + 1
        first = last + 1
    return result


def upper_gamma(a, x):
    """Regularized upper incomplete gamma function: series below a + 1, continued fraction above."""
    if x <= 0:
        return 1.0
    scale = math.exp(-x + a * math.log(x) - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        n = a
        while term > total * 1e-15:
            n += 1
            term *= x / n
            total += term
        return 1 - total * scale
    b = x + 1 - a
    c, d = 1e300, 1 / b
    h = d
    for i in range(1, 1000):
        an = -i * (i - a)
        b += 2
        d = 1 / (an * d + b)
        c = b + an / c
        h *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return h * scale


def friedman(table):
    """Chi-square with its probability under equal methods; `table` has a row of values for each data set."""
    n, k = len(table), len(table[0])
    means = [sum(column) / n for column in zip(*(ranks(row) for row in table))]
    chi = 12 * n / (k * (k + 1)) * (sum(r * r for r in means) - k * (k + 1) ** 2 / 4)
    return chi, upper_gamma((k - 1) / 2, chi / 2)


def wilcoxon(a, b):
    """Two-sided probability of the signed-rank statistic under equal methods; equal pairs are omitted. Exact up to 25 pairs
    without ties, else by the normal distribution. None when all pairs are equal."""
    differences = [x - y for x, y in zip(a, b) if x != y]
    if not differences:
        return None
    n = len(differences)
    rank = ranks([abs(d) for d in differences])
    positive = sum(r for r, d in zip(rank, differences) if d > 0)
    smaller = min(positive, n * (n + 1) / 2 - positive)
    if n <= 25 and all(r == int(r) for r in rank):
        ways = [1]  # number of sign patterns with each sum
        for r in range(1, n + 1):
            longer = ways + [0] * r
            for s, count in enumerate(ways):
                longer[s + r] += count
            ways = longer
        return min(1.0, 2 * sum(ways[:int(smaller) + 1]) / 2 ** n)
    deviation = math.sqrt(sum(r * r for r in rank) / 4)
    return min(1.0, math.erfc((n * (n + 1) / 4 - smaller) / deviation / math.sqrt(2)))
