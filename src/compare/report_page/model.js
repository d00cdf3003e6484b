"use strict";
// One model: what its errors are like, and how it was trained.
(() => {
  const { data, element, short, hint, table, plot, axis, base, line } = Page;
  const SHOWN_CURVES = 8;
  const share = (value) => value === null ? "" : `${(100 * value).toFixed(2)} %`;
  const area = (value) => value === null ? "" : value.toFixed(4);
  const points = (list) => list.map(([x, y]) => ({ x, y }));
  const curves = data.curves || [];
  const isBinary = data.num_classes === 2;

  // Tables ------------------------------------------------------------------------------------
  function tableCard(title) {
    const section = element("section", undefined, document.getElementById("tables"));
    const heading = element("h2", title, section);
    heading.id = `table-${document.querySelectorAll("#tables section").length}`;
    section.setAttribute("aria-labelledby", heading.id);
    return section;
  }

  function measures() {
    const section = tableCard("Measures");
    table("Measures on the rows named above", null, data.measures, section).className = "facts";
  }

  function confusion() {
    if (data.regression) return;
    const section = tableCard("Confusion matrix");
    if (!data.matrix) {
      table("The classes that are confused most often", ["class", "predicted as", "rows"],
            data.confusions.map(([from, to, rows]) => [from, to, String(rows)]), section);
      hint(`A matrix is shown for up to 30 classes; here are ${data.num_classes}.`, section);
      return;
    }
    const labels = data.classes.map((one) => one.label);
    const made = table("Rows of each class (down) by predicted class (across)", ["class", ...labels, "recall"],
                       data.matrix.map((counts, i) => [labels[i], ...counts.map(String), share(data.classes[i].recall)]), section);
    made.className = "matrix";
    const foot = element("tr", undefined, element("tfoot", undefined, made));
    element("th", "precision", foot).scope = "row";
    for (const one of data.classes) element("td", share(one.precision), foot).className = "share";
    element("td", "", foot).className = "share";
    data.matrix.forEach((counts, i) => {
      const all = counts.reduce((sum, count) => sum + count, 0);
      const cells = made.tBodies[0].rows[i].cells;
      counts.forEach((count, j) => {
        if (i === j) cells[j + 1].className = "right";
        if (count > 0) cells[j + 1].style.backgroundColor =
          i === j ? `rgba(0, 128, 93, ${0.08 + 0.3 * count / all})` : `rgba(194, 78, 0, ${0.08 + 0.3 * count / all})`;
      });
      cells[counts.length + 1].className = "share";
    });
    hint("Bold: correct. Recall is the correct part of a class's rows, precision that of a prediction's.", section);
  }

  function classes() {
    if (data.regression || (isBinary && curves.length < 2 && data.matrix)) return;
    const section = tableCard("Classes");
    section.className = "broad";
    const found = new Map(curves.map((one) => [one.label, one]));
    const of = (label, name) => found.has(label) ? area(found.get(label)[name]) : "";
    table("One class against the rest", ["class", "rows", "predicted", "correct", "recall", "precision", "ROC area", "average precision"],
          data.classes.map((one) => [one.label, String(one.rows), String(one.predicted), String(one.correct), share(one.recall),
                                     share(one.precision), of(one.label, "roc_area"), of(one.label, "average_precision")]), section);
    if (data.classes.length < data.num_classes) hint(`The ${data.classes.length} classes with the most rows.`, section);
  }

  // Charts ------------------------------------------------------------------------------------
  // Of many classes, those that are hardest to tell from the rest.
  function shownCurves() {
    const known = curves.filter((one) => one.roc_area !== null);
    return [...known].sort((a, b) => a.roc_area - b.roc_area).slice(0, SHOWN_CURVES);
  }
  const whichCurves = (shown) => isBinary ? `Class ${shown[0].label} against the other.`
    : shown.length < curves.length ? `Each class against the rest; the ${shown.length} with the smallest ROC area.`
      : "Each class against the rest.";
  const unit = (title) => axis(title, { type: "linear", min: 0, max: 1 });
  const reference = (label, from, to) => ({
    label, data: points([from, to]), borderColor: Page.style("--soft"), backgroundColor: Page.style("--soft"), borderDash: [3, 5],
    borderWidth: 1, pointRadius: 0,
  });

  function rocAndPrecision() {
    const shown = shownCurves();
    if (shown.length === 0) {
      if (!data.regression) hint("No ROC and precision-recall curves: they need rows of two classes that the model knows.", Page.card("Curves"));
      return;
    }
    const roc = base("line");
    roc.scales = { x: unit("false positive rate"), y: unit("recall (true positive rate)") };
    plot("ROC curve", `${whichCurves(shown)} Up and to the left is better; an area of 0.5 is chance.`, {
      type: "line",
      data: {
        datasets: [...shown.map((one, i) => line(i, `${one.label}: area ${area(one.roc_area)}`, points(one.roc))),
                   reference("chance", [0, 0], [1, 1])],
      },
      options: roc,
    });
    const precision = base("line");
    precision.scales = { x: unit("recall"), y: unit("precision") };
    plot("Precision and recall", `${whichCurves(shown)} Up and to the right is better.`, {
      type: "line",
      data: {
        datasets: shown.map((one, i) => line(i, `${one.label}: average ${area(one.average_precision)}`, points(one.precision))),
      },
      options: precision,
    });
  }

  function calibration() {
    if (data.regression) return;
    if (!data.has_probabilities) {
      const section = Page.card("Calibration");
      hint("This model has no probabilities. To get them, train it with probabilities (program: --probability-folds 5, Python: " +
           "probability=True), or fit them on rows that it was not trained on (tamis calibrate).", section);
      return;
    }
    const shown = curves.filter((one) => one.calibration.length > 0).slice(0, SHOWN_CURVES);
    if (shown.length === 0) return;
    const options = base("line");
    options.scales = { x: unit("mean predicted probability"), y: unit("fraction of the rows that belong to the class") };
    const rowsOf = new Map(shown.map((one) => [one.label, one.calibration.map((bin) => bin[2])]));
    options.plugins.tooltip = { callbacks: { afterLabel: (at) => {
      const one = shown[at.datasetIndex];
      return one ? `${rowsOf.get(one.label)[at.dataIndex]} rows` : "";
    } } };
    plot("Calibration", "Probabilities in ten bins: on the diagonal, they are right. Points of few rows vary by chance.", {
      type: "line",
      data: {
        datasets: [...shown.map((one, i) => line(i, `${one.label}: mean deviation ${area(one.calibration_error)}`,
                                                 one.calibration.map((bin) => ({ x: bin[3], y: bin[4] })), { pointRadius: 4 })),
                   reference("calibrated", [0, 0], [1, 1])],
      },
      options,
    });
  }

  function regression() {
    if (!data.regression) return;
    const { sample, low, high, histogram } = data.residuals;
    const both = sample.flat().filter((value) => value !== null);
    const [from, to] = both.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
    const against = base("line");
    against.scales = { x: axis("actual value", { type: "linear" }), y: axis("predicted value", { type: "linear" }) };
    plot("Predicted and actual values", `On the diagonal, a prediction is right. ${sample.length} rows are shown.`, {
      type: "line",
      data: {
        datasets: [line(0, "rows", points(sample), { pointRadius: 2, showLine: false }),
                   reference("predicted = actual", [from, from], [to, to])],
      },
      options: against,
    });
    const spread = base("points");
    spread.scales = { x: axis("predicted value", { type: "linear" }), y: axis("predicted - actual", { type: "linear" }) };
    plot("Residuals", "A pattern means that the model misses something: a curve, or errors that grow with the value.", {
      type: "scatter",
      data: { datasets: [line(0, "rows", sample.map(([x, y]) => ({ x: y, y: y - x })), { pointRadius: 2 })] },
      options: spread,
    });
    const width = (high - low) / histogram.length;
    const bars = base("bar");
    bars.plugins.legend.display = false;
    bars.scales = { x: axis("predicted - actual", {}), y: axis("rows", { beginAtZero: true }) };
    plot("Distribution of the residuals", "All rows measured, in 30 bins; the middle of each is named.", {
      type: "bar",
      data: {
        labels: histogram.map((_, b) => short(low + (b + 0.5) * width)),
        datasets: [{ label: "rows", data: histogram, backgroundColor: Page.colour(0) }],
      },
      options: bars,
    });
  }

  function learning() {
    if (data.learning.length === 0) return;
    const known = data.learning.filter((point) => !point.failure);
    const options = base("line");
    options.scales = {
      x: axis("rows trained on", { type: "logarithmic" }),
      y: axis(data.error_title, { beginAtZero: true }),
    };
    const failed = data.learning.filter((point) => point.failure).map((point) => ` No result with ${point.rows} rows: ${point.failure}.`);
    plot("Learning curve", "Would more rows help? If the held-out error still falls at the right end, they would. The error on the " +
         `training rows is optimistic: it shows how closely these are fitted.${failed.join("")}`, {
      type: "line",
      data: {
        datasets: [line(0, "held-out rows", known.map((point) => ({ x: point.rows, y: point.error })), { pointRadius: 4 }),
                   line(1, "training rows (optimistic)", known.map((point) => ({ x: point.rows, y: point.training_error })), { pointRadius: 4 })],
      },
      options,
    });
  }

  function training() {
    if (data.training.length === 0) return;
    const section = Page.card("Training");
    table("What the training reported", null, data.training, section).className = "facts";
    for (const remark of data.remarks) hint(remark, section);
  }

  Page.start(() => {
    measures();
    confusion();
    classes();
  }, (hasCharts) => {
    if (hasCharts) {
      rocAndPrecision();
      calibration();
      regression();
      learning();
      Page.featureWeights([data]);
    }
    training();
    if (hasCharts) {
      Page.phases([data]);
      Page.convergence([data]);
    }
  });
})();
