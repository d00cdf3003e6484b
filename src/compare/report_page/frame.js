"use strict";
// What the scripts of all report pages share: elements, tables, charts with the numbers behind them.
const Page = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const darkQuery = matchMedia("(prefers-color-scheme: dark)");
  // After Okabe and Ito, for people with colour blindness, each at least 3:1 against the card it is drawn on.
  const LIGHT = ["#0072b2", "#c24e00", "#00805d", "#b0568a", "#8f6a00", "#1f7fb5", "#7a57a5", "#8c5f14", "#6b6b6b"];
  const DARK = ["#4aa8e0", "#f08040", "#2fc79a", "#dd94bd", "#e6b030", "#7fc8f2", "#b79ad6", "#cf9c4a", "#a8a8a8"];
  const colour = (i) => (darkQuery.matches ? DARK : LIGHT)[i % LIGHT.length];
  // Lines differ in more than colour.
  const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [4, 4], [12, 4], [1, 2], [6, 2, 1, 2]];
  const SHAPES = ["circle", "rect", "triangle", "rectRot", "star", "cross", "rectRounded", "crossRot"];
  const dash = (i) => DASHES[i % DASHES.length];
  const shape = (i) => SHAPES[i % SHAPES.length];
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const element = (tag, text, parent) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (parent) parent.append(made);
    return made;
  };
  const short = (value) => Number(value.toPrecision(3)).toString();
  const hint = (text, parent) => {
    const made = element("p", text, parent);
    made.className = "hint";
    return made;
  };

  function fillText() {
    document.getElementById("facts").textContent = data.facts;
    for (const line of data.summary) element("p", line, document.getElementById("summary"));
  }

  // A box that scrolls when its table is wider, also by keyboard.
  function wideBox(label, parent) {
    const box = element("div", undefined, parent);
    box.className = "wide";
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", label);
    return box;
  }

  // `lines`: cells by row, the first of each is its title.
  function table(caption, head, lines, parent) {
    const made = element("table", undefined, wideBox(caption, parent));
    element("caption", caption, made);
    if (head) {
      const titles = element("tr", undefined, element("thead", undefined, made));
      for (const title of head) element("th", title, titles).scope = "col";
    }
    const body = element("tbody", undefined, made);
    for (const cells of lines) {
      const line = element("tr", undefined, body);
      cells.forEach((cell, c) => {
        const one = element(c === 0 ? "th" : "td", cell, line);
        if (c === 0) one.scope = "row";
      });
    }
    return made;
  }

  // Charts ------------------------------------------------------------------------------------
  const charts = [];
  const text = (value) => value === null || value === undefined ? "" : typeof value === "number" ? short(value) : value;

  // The numbers of a chart, as a table that is made when it is opened.
  function numbersOf(title, config, section) {
    const details = element("details", undefined, section);
    element("summary", "Show the numbers", details).setAttribute("aria-label", `Show the numbers of: ${title}`);
    details.addEventListener("toggle", () => {
      if (!details.open || details.children.length > 1) return;
      const { labels, datasets } = config.data;
      const titleOf = (name) => ((config.options.scales[name] || {}).title || {}).text || name;
      if (labels && labels.length > 0) {  // Chart.js adds an empty list
        const valueAxis = config.options.indexAxis === "y" ? "x" : "y";
        table(title, ["", ...datasets.map((set) => set.label || titleOf(valueAxis))],
              labels.map((label, i) => [text(label), ...datasets.map((set) => text(set.data[i]))]), details);
      } else {
        table(title, ["series", titleOf("x"), titleOf("y")],
              datasets.flatMap((set) => set.data.map((point) => [set.label, text(point.x), text(point.y)])), details);
      }
    });
  }

  function card(title) {
    const section = element("section", undefined, document.getElementById("charts"));
    const heading = element("h2", title, section);
    heading.id = `chart-${document.querySelectorAll("#charts section").length}`;
    section.setAttribute("aria-labelledby", heading.id);
    return section;
  }

  function plot(title, remark, config) {
    const section = card(title);
    const box = element("div", undefined, section);
    box.className = "plot";
    const canvas = element("canvas", undefined, box);
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${title}. ${remark} The numbers are in a table below.`);
    hint(remark, section);
    numbersOf(title, config, section);
    charts.push(new Chart(canvas, config));
  }

  const axis = (title, more) => Object.assign({
    title: { display: title !== "", text: title, color: style("--soft") },
    ticks: { color: style("--soft") },
    grid: { color: style("--line") },
  }, more);
  // `kind` says how the legend shows a series: as a "bar", as the "line" it is, or by its "points".
  const base = (kind) => ({
    animation: false, responsive: true, maintainAspectRatio: false,
    plugins: { legend: { labels: Object.assign({ color: style("--text"), boxWidth: 24 },
                                               kind === "line" ? { boxHeight: 0 } : kind === "points" ? { usePointStyle: true } : {}) } },
  });
  const line = (i, label, points, more) => Object.assign({
    label, data: points, borderColor: colour(i), backgroundColor: colour(i), borderDash: dash(i), pointStyle: shape(i),
    pointRadius: 0, borderWidth: 2,
  }, more);

  // Charts of trainings, each with a name, phases, convergence, rounds and feature_weights ------
  function phases(trainings) {
    const names = [...new Set(trainings.flatMap((row) => row.phases.map(([name]) => name)))];
    if (names.length === 0) return;
    const options = base("bar");
    options.indexAxis = "y";
    options.scales = { x: axis("seconds", { stacked: true }), y: axis("", { stacked: true }) };
    plot("Where the training time goes", trainings.length > 1 ? "Of the first run." : "Seconds per phase.", {
      type: "bar",
      data: {
        labels: trainings.map((row) => row.name),
        datasets: names.map((name, i) => ({
          label: name, backgroundColor: colour(i),
          data: trainings.map((row) => row.phases.filter(([n]) => n === name).reduce((sum, [, s]) => sum + s, 0)),
        })),
      },
      options,
    });
  }

  function convergence(trainings) {
    for (const [key, title, remark, x, y, scale] of [
      ["convergence", "Convergence", "How far the solver is from the optimum.", "seconds", "largest violation", "logarithmic"],
      ["rounds", "Rounds", "Error on the validation set, round by round.", "round", data.error_title, "linear"],
    ]) {
      const with_it = trainings.map((row, i) => [row, i]).filter(([row]) => row[key] && row[key].length > 1);
      if (with_it.length === 0) continue;
      const options = base("line");
      options.scales = { x: axis(x, { type: "linear" }), y: axis(y, { type: scale }) };
      plot(title, remark, {
        type: "line",
        data: {
          datasets: with_it.map(([row, i]) => line(i, row.name, row[key].map(([a, b]) => ({ x: a, y: b })), { pointRadius: 2 })),
        },
        options,
      });
    }
  }

  // The columns with the largest weights of any training, each next to those of the others.
  function featureWeights(trainings) {
    const SHOWN = 20;
    const learned = trainings.map((row, i) => [row, i]).filter(([row]) => row.feature_weights.length > 0);
    if (learned.length === 0) return;
    const largest = new Map();
    for (const [row] of learned) {
      for (const [column, weight] of row.feature_weights) largest.set(column, Math.max(weight, largest.get(column) || 0));
    }
    const columns = [...largest.entries()].sort((a, b) => b[1] - a[1]).slice(0, SHOWN).map(([column]) => column);
    const options = base("bar");
    options.indexAxis = "y";
    options.scales = { x: axis("weight", { beginAtZero: true }), y: axis("", {}) };
    plot("Feature weights", "How much the answer depends on each scaled column; without learning, every weight is 1.", {
      type: "bar",
      data: {
        labels: columns,
        datasets: learned.map(([row, i]) => {
          const own = new Map(row.feature_weights);
          return { label: row.name, backgroundColor: colour(i), data: columns.map((column) => own.get(column) ?? null) };
        }),
      },
      options,
    });
  }

  // Draws the page now, and its charts again when the reader changes between light and dark.
  // `withCharts` is called with whether there is Chart.js.
  function start(once, withCharts) {
    const draw = () => {
      for (const chart of charts.splice(0)) chart.destroy();
      const place = document.getElementById("charts");
      place.replaceChildren();
      const hasCharts = typeof Chart !== "undefined";
      if (!hasCharts) hint("No charts: this tamis was built without Chart.js.", place);
      withCharts(hasCharts);
    };
    fillText();
    once();
    draw();
    darkQuery.addEventListener("change", draw);
    addEventListener("beforeprint", () => charts.forEach((chart) => chart.resize()));
    addEventListener("afterprint", () => charts.forEach((chart) => chart.resize()));
    document.documentElement.dataset.ready = "yes";
  }

  return { data, colour, shape, style, element, short, hint, table, wideBox, card, plot, axis, base, line, phases, convergence,
           featureWeights, start };
})();
