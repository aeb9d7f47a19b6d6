// Storage may be forbidden to a page from disk.
const remembered = (key, value) => {
  try { return value === undefined ? localStorage.getItem(key) : localStorage.setItem(key, value); } catch { return null; }
};
const theme = remembered("benchc-theme");
if (theme) document.documentElement.dataset.theme = theme;
get("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  remembered("benchc-theme", root.dataset.theme);
});

// A click on the head of a column sorts by the first number of its cells, or by text.
const numberIn = text => {
  const found = text.replaceAll("−", "-").replaceAll(",", "").match(/([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)([kMB]\b)?/i);
  return found ? Number(found[1]) * ({k: 1e3, M: 1e6, B: 1e9}[found[2]] ?? 1) : null;
};
for (const table of document.querySelectorAll(".printed table")) {
  const body = table.tBodies[0], heads = [...(table.tHead?.rows[0]?.cells ?? [])];
  if (!body) continue;
  for (const row of body.rows) for (const cell of row.cells) {
    const verdict = {holds: "right", "does not hold": "wrong"}[cell.textContent];
    cell.className = cell.textContent.length > 40 ? "wide" : verdict ?? "";
  }
  const original = [...body.rows];
  heads.forEach((head, column) => {
    head.tabIndex = 0;
    const sort = () => {
      const turns = {none: "descending", descending: "ascending", ascending: "none"};
      const next = turns[head.getAttribute("aria-sort") ?? "none"];
      heads.forEach(each => each.removeAttribute("aria-sort"));
      if (next === "none") { body.append(...original); return; }
      head.setAttribute("aria-sort", next);
      const texts = original.map(row => (row.cells[column]?.textContent ?? "").trim().replace(/^–$/, ""));
      const isNumber = texts.filter(text => /^[-+−(]?\d/.test(text)).length > texts.filter(Boolean).length / 2;
      const keys = new Map(original.map((row, at) => [row, isNumber ? numberIn(texts[at]) : texts[at]]));
      const sign = next === "ascending" ? 1 : -1;
      body.append(...[...original].sort((one, two) => {
        const [a, b] = [keys.get(one), keys.get(two)];
        if (a === null || b === null || a === "" || b === "") return (a === null || a === "") - (b === null || b === "");
        return sign * (isNumber ? a - b : a.localeCompare(b));
      }));
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", event => { if (event.key === "Enter") sort(); });
  });
}
// Long tables stay closed in print.
addEventListener("beforeprint", () => document.querySelectorAll(".caption, section.tables > details").forEach(each => {
  if (each.querySelectorAll("tr").length <= 60 && !each.dataset.page) each.open = true;
}));
// Other pages of the run are read when they are opened.
for (const each of document.querySelectorAll("details[data-page]")) each.addEventListener("toggle", () => {
  const frame = each.querySelector("iframe");
  if (each.open && !frame.getAttribute("src")) frame.src = each.dataset.page;
});
for (const each of document.querySelectorAll("a[data-model]")) each.addEventListener("click", event => {
  event.preventDefault();
  const at = models.findIndex(one => one.id === each.dataset.model);
  if (at >= 0) change({...DEFAULTS, model: String(at)});
  get("samples")?.scrollIntoView();
});
