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
function makeSortable(table) {
  const body = table.tBodies[0], heads = [...(table.tHead?.rows[0]?.cells ?? [])];
  if (!body) return;
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
      const texts = original.map(row => (row.cells[column]?.dataset.sort ?? row.cells[column]?.textContent ?? "").trim().replace(/^–$/, ""));
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
document.querySelectorAll(".printed table").forEach(makeSortable);
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

// The record of the run (run.json) is written after the page. Without it, the page says so.
{
  const seconds = number => number < 60 ? `${number.toFixed(1)} s` : number < 3600 ? `${(number / 60).toFixed(1)} min` : `${(number / 3600).toFixed(1)} h`;
  const gigabytes = number => number == null ? "–" : `${(number / 1000).toFixed(1)} GB`;
  const listed = names => names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ") || "–";
  const code = call => !call.revision ? "" : `, commit ${call.revision.slice(0, 12)}${call.modified.length ? ` with changes in ${listed(call.modified)}` : ""}`;
  const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

  function showCalls(calls) {
    const list = element("dl", undefined, "made");
    for (const call of calls.slice(-5)) {
      const ended = call.end ? `${call.result} ${call.end}, ${counted(call.jobs, "job")}${call.tried_again ? `, ${call.tried_again} tried again` : ""}` : call.result === "killed" ? "was killed" : "has not ended, or was killed";
      list.append(element("dt", call.start), element("dd", `${call.command} on ${call.host} (${call.executor}): ${ended}; benchc ${call.benchc}${code(call)}, Snakemake ${call.snakemake}, Python ${call.python}`));
    }
    return [element("h3", calls.length > 5 ? `The last 5 of ${calls.length} calls of Snakemake` : "Calls of Snakemake"), list];
  }

  function showStages(stages) {
    const table = element("table"), head = table.createTHead().insertRow(), body = table.createTBody();
    const box = element("div", undefined, "printed scroll");
    for (const name of ["rule", "jobs", "time", "longest", "memory used", "memory asked for", "hosts", "GPUs"]) head.append(element("th", name));
    for (const [rule, one] of Object.entries(stages).sort((a, b) => b[1].seconds - a[1].seconds)) {
      const row = body.insertRow();
      for (const text of [rule, one.jobs, seconds(one.seconds), seconds(one.longest_seconds), gigabytes(one.peak_mb), gigabytes(one.asked_mb), listed(one.hosts), listed(one.gpus)]) row.append(element("td", text));
      row.cells[2].dataset.sort = one.seconds;
      row.cells[3].dataset.sort = one.longest_seconds;
    }
    box.append(table);
    makeSortable(table);
    return [element("h3", "Cost by rule"), box];
  }

  function showInputs(files, inputs) {
    const details = element("details", undefined, "caption"), list = element("dl", undefined, "made");
    details.append(element("summary", `Made from ${counted(Object.keys(inputs).length, "file")}`), list);
    for (const [name, hash] of Object.entries(inputs)) list.append(element("dt", name), element("dd", hash ?? "changed or removed since"));
    files.after(details);
  }

  const showNothing = () => get("record").append(element("p", "The record of the run is not beside this page: Snakemake writes it when it ends, and copies of the page have none.", "note"));

  function showRecord(record) {
    const file = element("a", "run.json"), line = element("p", undefined, "files");
    file.href = "run.json";
    line.append(file);
    get("record").append(...showCalls(record.calls), ...showStages(record.stages), line);
    for (const files of document.querySelectorAll("p.files")) {
      const found = [...files.querySelectorAll("a")].map(each => record.outputs[decodeURI(each.getAttribute("href"))]).find(Boolean);
      if (found) showInputs(files, found.inputs);
    }
  }

  if (get("record")) load("page/run.js", "run").then(record => record ? showRecord(record) : showNothing(), showNothing);
}
