// Finds the sections that have every word of the query, as a whole or as a beginning. The index is a script, so that it is there
// when the pages are opened from disk.
"use strict";
(() => {
  const base = document.body.dataset.base;
  const input = document.getElementById("search");
  const list = document.getElementById("found");
  const sections = window.searchIndex.map((section) => ({ ...section, lower: section.text.toLowerCase(),
                                                          name: section.title.toLowerCase() }));

  const begins = (text, word) => {
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
      if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1])) return at;
    return -1;
  };

  // The title counts most; a page before its sections; reference pages after the others.
  const score = (section, words) => {
    let sum = 0;
    for (const word of words) {
      const inTitle = begins(section.name, word) >= 0;
      if (!inTitle && begins(section.lower, word) < 0) return 0;
      sum += inTitle ? (section.name === word ? 20 : 8) : 1;
    }
    return sum + (section.location.includes("#") ? 0 : 1) - (/^(reference|project|files)\//.test(section.location) ? 2 : 0) + 3;
  };

  const excerpt = (section, word) => {
    const at = Math.max(0, begins(section.lower, word));
    const from = Math.max(0, at - 40);
    return (from > 0 ? ".. " : "") + section.text.slice(from, from + 120) + " ..";
  };

  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    list.replaceChildren();
    list.hidden = words.length === 0;
    if (list.hidden) return;
    const found = sections.map((section) => [score(section, words), section]).filter(([points]) => points > 0);
    found.sort((a, b) => b[0] - a[0]);
    for (const [, section] of found.slice(0, 12)) {
      const link = document.createElement("a");
      link.href = `${base}/${section.location}`;
      link.textContent = section.page === section.title ? section.title : `${section.page}: ${section.title}`;
      const small = document.createElement("small");
      small.textContent = excerpt(section, words[0]);
      link.append(small);
      const item = document.createElement("li");
      item.append(link);
      list.append(item);
    }
    if (found.length === 0) list.append(Object.assign(document.createElement("li"), { textContent: "Nothing found" }));
  };

  input.addEventListener("input", show);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      input.value = "";
      show();
    } else if (event.key === "/" && document.activeElement !== input) {
      event.preventDefault();
      input.focus();
    }
  });
})();

// On a phone the page comes first: the open group of the menu would fill the screen.
if (matchMedia("(max-width: 760px)").matches)
  for (const group of document.querySelectorAll("nav details[open]")) group.open = false;
