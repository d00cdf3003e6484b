"use strict";
// A comparison of methods, and a search for parameters.
(() => {
  const { data, colour, shape, element, short, plot, axis, base } = Page;
  const rows = data.rows || [];
  const done = rows.filter((row) => row.runs > 0);

  // The table ---------------------------------------------------------------------------------
  const full = done.find((row) => row.method === "exact");
  const percent = (value) => value === null ? "" : `${short(100 * value)} %`;
  const ratio = (name) => (row) => full && row[name] !== null && full[name] > 0 ? row[name] / full[name] : null;
  const plain = (value) => value === null ? "" : short(value);
  const bytes = (value) => value === null ? "" : value < 1024 * 1024 ? `${short(value / 1024)} KiB` : `${short(value / 1024 / 1024)} MiB`;
  const count = (value) => value === null ? "" : Math.round(value).toString();
  const errorText = (row) => {
    const text = row.error.toFixed(data.error_digits);
    return row.runs > 1 ? `${text} ± ${row.error_sd.toFixed(data.error_digits)}` : text;
  };
  // Title, the number that sorts, and its text.
  const COLUMNS = [
    [data.error_title, (row) => row.error, (_, row) => errorText(row)],
    ["to full", ratio("error"), (value) => value === null ? "" : value.toFixed(2)],
    ["SVs", (row) => row.support_vectors, count],
    ["of full's SVs", (row) => row.full_support_vectors, percent],
    ["train, s", (row) => row.train_seconds, plain],
    ["of full's time", ratio("train_seconds"), percent],
    ["predict, s", (row) => row.predict_seconds, plain],
    ["model", (row) => row.model_bytes, bytes],
    ["rows used", (row) => row.rows_used, count],
  ];

  function fillTable() {
    if (rows.length === 0) return;
    document.getElementById("results").hidden = false;
    const table = document.getElementById("table");
    const head = element("tr", undefined, table.tHead);
    ["method", ...COLUMNS.map(([title]) => title)].forEach((title, c) => {
      const cell = element("th", undefined, head);
      cell.scope = "col";
      element("button", title, cell).addEventListener("click", () => sortBy(table, c));
    });
    for (const row of rows) {
      const line = element("tr", undefined, table.tBodies[0]);
      const name = element("td", row.name, line);
      name.dataset.value = row.name;
      name.title = row.parameters.join(", ");
      if (row.runs === 0) {
        const why = element("td", row.why, line);
        why.className = "why";
        why.colSpan = COLUMNS.length;
        continue;
      }
      for (const [, value, text] of COLUMNS) {
        const number = value(row);
        const cell = element("td", text(number, row), line);
        if (number !== null) cell.dataset.value = number;
      }
      if (row.why) line.title = row.why;
    }
  }

  function sortBy(table, column) {
    const head = table.tHead.rows[0].cells;
    const upwards = head[column].getAttribute("aria-sort") !== "ascending";
    for (const cell of head) cell.removeAttribute("aria-sort");
    head[column].setAttribute("aria-sort", upwards ? "ascending" : "descending");
    const key = (line) => line.cells[column] && line.cells[column].dataset.value;
    const lines = [...table.tBodies[0].rows];
    lines.sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
      const order = column === 0 ? x.localeCompare(y) : Number(x) - Number(y);
      return upwards ? order : -order;
    });
    table.tBodies[0].append(...lines);
  }

  // Charts ------------------------------------------------------------------------------------
  function errorAgainstTime() {
    const options = base("points");
    options.scales = {
      x: axis("training, seconds", { type: "logarithmic" }),
      y: axis(data.error_title, { beginAtZero: true }),
    };
    plot("Error against training time", "Down and to the left is better. A dot is a run.", {
      type: "scatter",
      data: {
        datasets: done.map((row, i) => ({
          label: row.name, backgroundColor: colour(i), borderColor: colour(i), pointRadius: 6, pointStyle: shape(i),
          data: row.seconds.map((x, r) => ({ x: Math.max(x, 1e-6), y: row.errors[r] })),
        })),
      },
      options,
    });
  }

  function supportVectors() {
    const options = base("bar");
    options.plugins.legend.display = false;
    options.scales = { x: axis("", {}), y: axis("distinct support vectors", { beginAtZero: true }) };
    plot("Support vectors", "What is kept of the rows, and what predicting costs.", {
      type: "bar",
      data: {
        labels: done.map((row) => row.name),
        datasets: [{ data: done.map((row) => row.support_vectors), backgroundColor: done.map((_, i) => colour(i)) }],
      },
      options,
    });
  }

  // Heat map ----------------------------------------------------------------------------------
  function heatMap() {
    const tuning = data.tuning;
    if (!tuning) return;
    const section = document.getElementById("tuning");
    section.hidden = false;
    const table = element("table", undefined, section.querySelector(".wide"));
    table.className = "heat";
    const head = element("tr", undefined, element("thead", undefined, table));
    element("th", `${tuning.down.name} \\ ${tuning.across.name}`, head);
    for (const value of tuning.across.values) element("th", short(value), head);
    const known = tuning.cells.flat().filter((error) => error !== null).sort((a, b) => a - b);
    const body = element("tbody", undefined, table);
    tuning.cells.forEach((line, r) => {
      const made = element("tr", undefined, body);
      element("th", short(tuning.down.values[r]), made);
      line.forEach((error, c) => {
        const dropped = tuning.dropped.includes(r * line.length + c);
        const cell = element("td", error === null ? "" : short(error) + (dropped ? "*" : ""), made);
        if (error === null) return;
        if (dropped) cell.className = "dropped";
        const rank = known.indexOf(error) / Math.max(1, known.length - 1);
        cell.style.backgroundColor = `hsl(${130 * (1 - rank)}, 60%, 28%)`;
        if (r === tuning.best[0] && c === tuning.best[1]) cell.className = "best";
      });
    });
    const hint = element("p", tuning.hint, section);
    hint.className = "hint";
  }

  // Decision regions --------------------------------------------------------------------------
  function regions() {
    const shown = done.filter((row) => row.regions);
    if (shown.length === 0) return;
    const section = document.getElementById("regions");
    section.hidden = false;
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const place = section.querySelector(".pictures");
    place.replaceChildren();
    const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    const tint = (hex) => rgb(hex).map((v) => Math.round(dark ? 0.45 * v : 255 - 0.45 * (255 - v)));
    for (const row of shown) {
      const figure = element("figure", undefined, place);
      const canvas = element("canvas", undefined, figure);
      const found = row.regions;
      const size = 480;
      canvas.width = canvas.height = size;
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", `decision regions of ${row.name}`);
      const draw = canvas.getContext("2d");
      const cell = size / found.width;
      for (let y = 0; y < found.height; ++y) {
        for (let x = 0; x < found.width; ++x) {
          draw.fillStyle = `rgb(${tint(colour(found.classes[y * found.width + x]))})`;
          draw.fillRect(Math.floor(x * cell), Math.floor(size - (y + 1) * cell), Math.ceil(cell), Math.ceil(cell));
        }
      }
      const at = ([x, y]) => [
        (x - found.low[0]) / (found.high[0] - found.low[0]) * size,
        size - (y - found.low[1]) / (found.high[1] - found.low[1]) * size,
      ];
      data.sample.forEach(([x, y, c]) => {
        const [px, py] = at([x, y]);
        draw.fillStyle = c < 0 ? "#888" : colour(c);
        draw.fillRect(px - 1.5, py - 1.5, 3, 3);
      });
      draw.strokeStyle = dark ? "#fff" : "#000";
      draw.lineWidth = 1;
      for (const vector of found.support_vectors) {
        const [px, py] = at(vector);
        draw.beginPath();
        draw.arc(px, py, 3, 0, 2 * Math.PI);
        draw.stroke();
      }
      element("figcaption", `${row.name}: error ${errorText(row)} %, ${count(row.support_vectors)} support vector${row.support_vectors === 1 ? "" : "s"}`, figure);
    }
    let hint = section.querySelector(".hint");
    if (!hint) {
      hint = element("p", undefined, section);
      hint.className = "hint";
    }
    hint.textContent = "Squares are test rows in the color of their class, rings are support vectors (of many, a part).";
  }

  function drawCharts(hasCharts) {
    if (hasCharts && done.length > 0) {
      errorAgainstTime();
      supportVectors();
      Page.phases(done);
      Page.convergence(done);
      Page.featureWeights(done);
    }
    regions();
  }

  Page.start(() => {
    fillTable();
    heatMap();
  }, drawCharts);
})();
