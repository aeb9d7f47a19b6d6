// The sample viewer. Its data are scripts, since a page from disk can load no others: each calls benchcData.

const CLEAN = 0, MISSING = 255, NO_MEASURE = -32768, ROW = 62;
const loaded = new Map();
window.benchcData = (name, value) => loaded.set(name, value);

let loading = Promise.resolve();
/** Load a script and return what it gives under a name. One after another: two runs use the same names. */
function load(path, name) {
  const next = loading.then(() => new Promise((resolve, reject) => {
    loaded.delete(name);
    const script = document.createElement("script");
    script.src = path;
    script.onload = () => {
      script.remove();
      if (loaded.has(name)) resolve(loaded.get(name)); else reject(new Error(`${path} has no ${name}`));
      loaded.delete(name);
    };
    script.onerror = () => reject(new Error(`${path} cannot be read`));
    document.head.append(script);
  }));
  loading = next.catch(() => {});
  return next;
}

const TYPES = {uint8: Uint8Array, uint16: Uint16Array, int16: Int16Array};
async function unpacked(data) {
  const bytes = Uint8Array.from(atob(data.deflate), letter => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new TYPES[data.type](await new Response(stream).arrayBuffer());
}

/** The samples of one run, or of the samples that two runs share. */
class Run {
  static async read(base, name) {
    const found = new Run();
    found.base = base;
    found.name = name;
    found.index = await load(`${base}page/samples.js`, "samples");
    found.pictures = await load(`${base}page/images/images.js`, "images");
    const index = found.index;
    found.grades = await unpacked(index.grades);
    found.states = index.stateValues ? await unpacked(index.stateValues) : null;
    found.measures = [];
    for (const measure of index.measures) found.measures.push(await unpacked(measure.values));
    found.scenarios = 1 + index.corruptions.length * index.severities.length;
    found.items = new Map();
    return found;
  }
  at(sample, model, scenario) {
    return (sample * this.index.models.length + model) * this.scenarios + scenario;
  }
  scenario(corruption, severity) {
    const place = this.index.corruptions.findIndex(each => each.id === corruption);
    const level = this.index.severities.indexOf(severity);
    return place < 0 || level < 0 ? CLEAN : 1 + place * this.index.severities.length + level;
  }
  /** The grade in [0, 1], or null. */
  grade(sample, model, scenario) {
    const value = this.grades[this.at(sample, model, scenario)];
    return value === MISSING ? null : value / this.index.full;
  }
  state(sample, model, scenario) {
    const value = this.states?.[this.at(sample, model, scenario)] ?? MISSING;
    return value === MISSING ? null : value;
  }
  measure(number, sample, model, scenario) {
    const value = this.measures[number][this.at(sample, model, scenario)];
    return value === NO_MEASURE ? null : value / this.index.unit;
  }
  async item(sample) {
    if (!this.items.has(sample)) {
      if (this.items.size > 50) this.items.clear();
      const item = await load(`${this.base}page/items/${sample}.js`, `item ${sample}`);
      for (const question of item.questions) {
        question.grades = await unpacked(question.grades);
        question.probabilities = question.probabilities && await unpacked(question.probabilities);
      }
      this.items.set(sample, item);
    }
    return this.items.get(sample);
  }
}

/** A model of a run, as the viewer lists it. */
const runs = [];
let models = [];  // {run, number, label}
let corruptions = [], severities = [];
let samples = [];  // for each sample its number in each run
let shared = null;  // the index whose texts, sources and facts are shown

const state = {};
const DEFAULTS = {model: "0", other: "", corruption: "", severity: "", outcome: "", source: "", task: "", sort: "change",
  text: "", sample: "", seen: "", level: ""};
const OUTCOMES = [["rw", "right → wrong"], ["wr", "wrong → right"], ["rr", "right → right"], ["ww", "wrong → wrong"]];

const number = (value, digits = 3) => value === null || value === undefined ? "–"
  : value.toFixed(digits).replace(/^-(?=0(\.0+)?$)/, "").replace("-", "−");
const signed = points => (points > 0 && number(points, 0) !== "0" ? "+" : "") + number(points, 0);
const words = name => name.replaceAll("_", " ");
const mean = values => values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;

function readAddress() {
  const given = new URLSearchParams(location.hash.startsWith("#samples?") ? location.hash.slice(9) : "");
  for (const [key, value] of Object.entries(DEFAULTS)) state[key] = given.get(key) ?? value;
  if (!models[state.model]) state.model = DEFAULTS.model;
  if (!models[state.other] || state.other === state.model) state.other = "";
  if (state.corruption && !corruptions.some(each => each.id === state.corruption)) state.corruption = "";
  for (const key of ["severity", "level"]) if (state[key] && !severities.includes(Number(state[key]))) state[key] = "";
  if (!corruptions.some(each => each.id === state.seen)) state.seen = "";
  // What a select does not offer is not in this run.
  for (const [key, {options}] of Object.entries(selects))
    if (!options().some(([value]) => value === state[key])) state[key] = DEFAULTS[key];
}
function writeAddress() {
  const given = Object.entries(state).filter(([key, value]) => value !== DEFAULTS[key]);
  history.replaceState(null, "", `#samples?${new URLSearchParams(given)}`);
}

/** Which scenarios the filters allow, as [corruption, severity]. */
function allowed() {
  return corruptions.filter(each => !state.corruption || each.id === state.corruption).flatMap(each =>
    severities.filter(level => !state.severity || level === Number(state.severity)).map(level => [each.id, level]));
}
const model = () => models[state.model];
const other = () => state.other === "" ? null : models[state.other];
const right = (run, grade) => grade >= run.index.threshold;

/** What a model did with a sample in a scenario: grades, the kind of change, and how large it is. */
function outcome(one, place, corruption, severity) {
  const run = one.run, sample = samples[place][runs.indexOf(run)];
  const scenario = run.scenario(corruption, severity);
  const clean = run.grade(sample, one.number, CLEAN), grade = run.grade(sample, one.number, scenario);
  if (clean === null || grade === null) return null;
  const changes = run.index.measures.findIndex(each => each.change);
  const measured = changes < 0 ? 0 : run.measure(changes, sample, one.number, scenario) ?? 0;
  return {clean, grade, kind: (right(run, clean) ? "r" : "w") + (right(run, grade) ? "r" : "w"),
    state: run.state(sample, one.number, scenario), 
    // Of equal changes, losses come first.
    change: Math.abs(clean - grade) + (grade < clean ? 0.005 : 0) + Math.abs(measured) / 1000, measured, scenario, sample};
}
function fits(found, against) {
  if (!state.outcome) return true;
  if (state.outcome === "differ") return against !== null && found.grade !== against.grade;
  if (state.outcome === "first") return against !== null && found.grade > against.grade;
  if (state.outcome === "second") return against !== null && found.grade < against.grade;
  if (state.outcome.startsWith("state-")) return found.state === Number(state.outcome.slice(6));
  return found.kind === state.outcome;
}

const isOf = (key, place) => state[key] === "" || String(shared[`${key}Of`][samples[place][0]]) === state[key];
function textFits(place) {
  const text = state.text.trim().toLowerCase(), at = samples[place][0];
  return !text || shared.texts[at].toLowerCase().includes(text) || shared.ids[at].toLowerCase().includes(text);
}

/** The samples that fit the filters, each with the scenario that changed it most. */
let rows = [];
function filter() {
  const scenarios = allowed();
  rows = [];
  for (let place = 0; place < samples.length; place++) {
    if (!isOf("source", place) || !isOf("task", place) || !textFits(place)) continue;
    let best = null;
    for (const [corruption, severity] of scenarios) {
      const found = outcome(model(), place, corruption, severity);
      if (!found) continue;
      const against = other() && outcome(other(), place, corruption, severity);
      if (!fits(found, against)) continue;
      const difference = against ? Math.max(Math.abs(found.grade - against.grade), Math.abs(found.clean - against.clean))
        + Math.abs(found.measured - against.measured) / 100 : 0;
      const merit = state.sort === "differ" ? difference + found.change / 1000 : found.change;
      if (!best || merit > best.merit) best = {place, corruption, severity, merit, found, against};
    }
    if (best) rows.push(best);
    else if (!state.corruption && !state.severity && !scenarios.some(([name, level]) => outcome(model(), place, name, level))) {
      // Without an answer under any corruption, the clean one is shown.
      const grade = model().run.grade(samples[place][runs.indexOf(model().run)], model().number, CLEAN);
      const found = {clean: grade, grade, kind: right(model().run, grade) ? "rr" : "ww", state: null, change: 0};
      const base = other() && other().run.grade(samples[place][runs.indexOf(other().run)], other().number, CLEAN);
      const against = other() ? {grade: base, clean: base} : null;
      if (grade !== null && fits(found, against))
        rows.push({place, corruption: "", severity: 0, found, against, merit: against ? Math.abs(grade - base) : 1 - grade});
    }
  }
  if (state.sort === "order") return;
  if (state.sort.startsWith("fact-")) {
    const values = shared.facts[Number(state.sort.slice(5))].values;
    rows.sort((one, two) => (values[samples[two.place][0]] ?? -Infinity) - (values[samples[one.place][0]] ?? -Infinity));
  } else rows.sort((one, two) => two.merit - one.merit);
}

/** Means and counts of the filtered samples of the model, for the charts. Filters of the chart itself do not apply. */
function charts() {
  const one = model(), run = one.run;
  const kept = place => isOf("source", place) && isOf("task", place) && textFits(place);
  const chosen = [...samples.keys()].filter(kept);
  const levels = severities.filter(level => !state.severity || level === Number(state.severity));
  // The mean grade, that of the same samples on clean images, and the number of answers.
  const bar = (value, label, places, names) => {
    const grades = [], clean = [];
    for (const place of places) for (const [name, level] of names) {
      const sample = samples[place][runs.indexOf(run)], found = run.grade(sample, one.number, run.scenario(name, level));
      if (found === null) continue;
      grades.push(found);
      const base = run.grade(sample, one.number, CLEAN);
      if (base !== null) clean.push(base);
    }
    return {value, label, mean: mean(grades), clean: corruptions.length ? mean(clean) : null, answers: grades.length};
  };
  const what = run.index.threshold === 1 ? "Accuracy" : "Mean grade";
  const parts = [];
  if (corruptions.length) {
    parts.push({key: "corruption", title: `${what} by corruption, %`, bars: corruptions
      .map(each => bar(each.id, words(each.id), chosen, levels.map(level => [each.id, level])))
      .sort((one, two) => one.mean - one.clean - two.mean + two.clean)});
    const kept = corruptions.filter(each => !state.corruption || each.id === state.corruption);
    parts.push({key: "severity", title: `${what} by severity, %`, bars: severities
      .map(level => bar(String(level), String(level), chosen, kept.map(each => [each.id, level])))});
  }
  const scenarios = corruptions.length ? allowed() : [["", 0]];
  for (const [key, title, names] of [["source", `${what} by source, %`, shared.sources], ["task", `${what} by task type, %`, shared.tasks]]) {
    if (names.length < 2) continue;
    const places = [...samples.keys()].filter(place => textFits(place) && isOf(key === "source" ? "task" : "source", place));
    parts.push({key, title, bars: names.map((name, at) => bar(String(at), name,
      places.filter(place => shared[`${key}Of`][samples[place][0]] === at), scenarios)).sort((one, two) => one.mean - two.mean)});
  }
  const counts = new Map();
  let total = 0;
  if (corruptions.length) for (const place of chosen) for (const [corruption, severity] of scenarios) {
    const found = outcome(one, place, corruption, severity);
    if (!found) continue;
    total += 1;
    for (const key of [found.kind, found.state === null ? "" : `state-${found.state}`]) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  if (total) {
    const states = run.index.states.map((name, at) => [`state-${at}`, name]);
    for (const [title, named] of [["Clean → corrupted", OUTCOMES], [run.index.stateLabel, states]])
      if (named.length) parts.push({key: "outcome", title: `${title}, % of ${total.toLocaleString("en")} answers`, share: true,
        bars: named.map(([value, label]) => ({value, label, mean: (counts.get(value) ?? 0) / total, clean: null, answers: counts.get(value) ?? 0}))});
  }
  return parts.map(part => ({...part, bars: part.bars.filter(each => each.mean !== null)})).filter(part => part.bars.length);
}

function renderCharts() {
  const tick = corruptions.length ? "; ticks: the same samples on clean images" : "";
  document.querySelector("#chart-box summary").textContent = `Charts of ${model().label}: a click on a bar filters${tick}`;
  get("charts").replaceChildren(...charts().map(part => {
    const box = element("div", undefined, "chart"), title = element("h4", part.title);
    box.dataset.key = part.key;
    const list = element("div", undefined, "bars");
    list.append(...part.bars.map(bar => {
      const button = element("button", undefined, "bar");
      button.type = "button";
      button.setAttribute("aria-pressed", String(state[part.key] === bar.value));
      button.dataset.focus = `${part.key} ${bar.value}`;
      button.title = `${bar.label}: ${number(100 * bar.mean, 1)} %, ${bar.answers.toLocaleString("en")} answers`
        + (bar.clean === null ? "" : `; clean ${number(100 * bar.clean, 1)} %`);
      const track = element("span", undefined, "track"), fill = element("span", undefined, part.share ? "fill share" : "fill");
      fill.style.width = `${100 * bar.mean}%`;
      track.append(fill);
      if (bar.clean !== null) {
        const mark = element("span", undefined, "clean");
        mark.style.left = `${100 * bar.clean}%`;
        track.append(mark);
      }
      const label = element("span", bar.label, "label");
      label.dir = "auto";
      button.append(label, track, element("span", number(100 * bar.mean, 0), "value"));
      button.addEventListener("click", () => change({[part.key]: state[part.key] === bar.value ? "" : bar.value, sample: ""}));
      return button;
    }));
    box.append(title, list);
    return box;
  }));
}

/** The list has only the rows that are seen. */
function renderList() {
  const list = get("list"), inner = get("rows");
  inner.style.height = `${rows.length * ROW}px`;
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 3), last = Math.min(rows.length, first + Math.ceil(list.clientHeight / ROW) + 8);
  inner.replaceChildren(...rows.slice(first, last).map((row, place) => {
    const button = element("button", undefined, "row"), at = samples[row.place][0];
    button.type = "button";
    button.style.top = `${(first + place) * ROW}px`;
    const current = String(shared.ids[at]) === state.sample;
    button.setAttribute("aria-current", String(current));
    button.dataset.focus = `row ${shared.ids[at]}`;
    button.title = `${shared.ids[at]}: ${shared.texts[at]}`;
    const text = element("span", shared.texts[at], "text");
    text.dir = "auto";
    const label = row.corruption ? `${words(row.corruption)} ${row.severity}` : "clean";
    const facts = element("span", undefined, "facts");
    facts.append(mark(row.found, model().run), element("span", label, "scenario"),
      element("span", row.found.state === null ? "" : model().run.index.states[row.found.state], "state"));
    if (row.against) facts.append(mark(row.against, other().run));
    button.append(text, facts);
    button.addEventListener("click", () => {
      change({sample: shared.ids[at], seen: row.corruption, level: String(row.severity || "")});
      if (matchMedia("(max-width: 50rem)").matches) get("detail").scrollIntoView({behavior: "smooth"});
    });
    return button;
  }));
  get("count").textContent = `${rows.length.toLocaleString("en")} of ${samples.length.toLocaleString("en")} samples`;
}
function mark(found, run) {
  const shown = value => run.index.threshold === 1 ? (value >= 1 ? "✓" : value > 0 ? number(value, 2) : "✗") : number(value, 2);
  const made = element("span", undefined, "mark");
  made.append(element("b", shown(found.clean), right(run, found.clean) ? "right" : "wrong"), "→",
    element("b", shown(found.grade), right(run, found.grade) ? "right" : "wrong"));
  return made;
}

const current = () => samples.findIndex(place => String(shared.ids[place[0]]) === state.sample);
/** The scenario of the sample that is shown: as chosen, or the first that its images or answers have. */
function seen(place) {
  const row = rows.find(each => each.place === place);
  const corruption = state.seen || state.corruption || row?.corruption || corruptions[0]?.id || "";
  const level = Number(state.level || state.severity || row?.severity || severities.at(-1) || 0);
  return [corruption, level];
}

let shownVersion = 0;
async function renderDetail() {
  const box = get("detail"), place = current(), version = ++shownVersion;
  if (place < 0) {
    box.replaceChildren(element("p", rows.length ? "Choose a sample." : "No sample fits these filters.", "note"));
    return;
  }
  const items = [];
  try {
    for (const run of runs) items.push(await run.item(samples[place][runs.indexOf(run)]));
  } catch (error) {
    box.replaceChildren(element("p", `This sample cannot be shown: ${error.message}.`, "note"));
    return;
  }
  if (version !== shownVersion) return;
  const [corruption, level] = seen(place), item = items[0];
  const scenario = runs.map(run => run.scenario(corruption, level));
  const parts = [head(place, item), controls(place, corruption, level)];
  const several = item.questions.length > 1;
  if (several) parts.push(groupImages(item, corruption, level), groupTable(items, place, scenario));
  for (const [number, question] of item.questions.entries()) {
    const block = element("section", undefined, "question");
    if (!several) block.append(images(question.pictures, corruption, level));
    block.append(questionText(question, several));
    const scored = items.some(each => each.questions[number]?.probabilities);
    if (question.options.length && !scored) block.append(optionList(question));
    block.append(scored ? optionTable(items, number, place, scenario) : replyTable(items, number, place, scenario));
    parts.push(block);
  }
  parts.push(grid(place, corruption, level));
  box.replaceChildren(...parts.filter(Boolean));
}

function head(place, item) {
  const made = element("div", undefined, "head"), at = samples[place][0];
  const title = element("h3", shared.ids[at]);
  title.dir = "auto";
  const facts = element("p", undefined, "note");
  const values = [`${shared.sources[shared.sourceOf[at]]}, ${shared.tasks[shared.taskOf[at]]}`,
    ...shared.facts.filter(fact => fact.values[at] !== null).map(fact =>
      `${fact.label} ${typeof fact.values[at] === "number" ? number(fact.values[at]) : fact.values[at]}`)];
  facts.textContent = values.join(" · ");
  const steps = element("span", undefined, "steps");
  for (const [text, step, title] of [["↑", -1, "previous sample (↑ or k)"], ["↓", 1, "next sample (↓ or j)"]]) {
    const button = element("button", text);
    button.type = "button";
    button.title = title;
    button.ariaLabel = title;
    button.addEventListener("click", () => stepSample(step));
    steps.append(button);
  }
  made.append(steps, title, facts);
  return made;
}

function controls(place, corruption, level) {
  if (!corruptions.length) return null;
  const made = element("div", undefined, "controls");
  const select = element("select");
  select.ariaLabel = "corruption that is shown";
  for (const each of answered(place)) select.append(Object.assign(element("option", words(each)), {value: each, selected: each === corruption}));
  select.addEventListener("change", () => change({seen: select.value}));
  const levels = element("span", undefined, "levels");
  levels.append(element("span", "severity", "note"), ...severities.map(each => {
    const button = element("button", String(each));
    button.type = "button";
    button.setAttribute("aria-pressed", String(each === level));
    button.dataset.focus = `level ${each}`;
    button.disabled = !hasAnswer(place, corruption, each);
    button.addEventListener("click", () => change({level: String(each)}));
    return button;
  }));
  made.append(select, levels, element("span", "← → severity, ↑ ↓ sample, c corruption", "note keys"));
  return made;
}
function hasAnswer(place, corruption, level) {
  return models.some(each => each.run.grade(samples[place][runs.indexOf(each.run)], each.number, each.run.scenario(corruption, level)) !== null);
}
function answered(place) {
  const found = corruptions.map(each => each.id).filter(name => severities.some(level => hasAnswer(place, name, level)));
  return found.length ? found : corruptions.map(each => each.id);
}

/** One frame of a strip: images at the same place, whatever the severity. */
function frame(name, corruption, level, caption) {
  const figure = element("figure"), pictures = runs[0].pictures, strips = pictures.strips[name];
  figure.append(element("figcaption", caption));
  const box = element("div", undefined, "frame");
  const of = strips && (corruption && strips[corruption] ? corruption : Object.keys(strips)[0]);
  const isClean = level === 0;
  const place = isClean ? 0 : (strips?.[corruption] ?? []).indexOf(level) + 1;
  if (!strips || !of || (!isClean && !place)) {
    box.classList.add("absent");
    box.textContent = !strips ? "This image is not in the page (results_page.images)." :
      `The page has no images under ${words(corruption)}.`;
  } else {
    const image = element("img"), frames = strips[of].length + 1;
    image.alt = caption;
    image.decoding = "async";
    image.addEventListener("load", () => {
      box.style.aspectRatio = `${image.naturalWidth} / ${image.naturalHeight / frames}`;
      box.classList.toggle("small", image.naturalWidth < 240);
    });
    image.style.transform = `translateY(${-100 * place / frames}%)`;
    image.src = `${runs[0].base}page/images/${name}_${of}.webp`;
    box.append(image);
  }
  figure.append(box);
  return figure;
}
function images(names, corruption, level, labels = names.map((_, at) => `image ${at + 1}`)) {
  const made = element("div", undefined, "images");
  for (const [at, name] of names.entries()) {
    const which = names.length > 1 ? `${labels[at]}: ` : "";
    made.append(frame(name, corruption, 0, `${which}clean`));
    if (corruptions.length) made.append(frame(name, corruption, level, `${which}${words(corruption)}, severity ${level}`));
  }
  return made;
}
function groupImages(item, corruption, level) {
  const names = [...new Set(item.questions.flatMap(question => question.pictures))];
  // An image may be stored, and corrupted, for each question anew.
  return images(names, corruption, level, names.length === item.questions.length ? item.questions.map(question => question.name) : undefined);
}

/** All answers of a group: models as rows, questions as columns. */
function groupTable(items, place, scenario) {
  const wrap = element("div", undefined, "scroll"), table = element("table", undefined, "answers group"), header = element("tr");
  header.append(element("th", "model"), ...items[0].questions.map(question => element("th", question.name)));
  table.append(header, ...listed().map(one => {
    const row = element("tr");
    row.append(element("th", one.label), ...items[0].questions.map((_, number) => {
      const value = element("td"), cell = cellOf(items, number, one, place, scenario);
      if (cell && cell.clean.grade !== null && cell.now.grade !== null) value.append(mark({clean: cell.clean.grade, grade: cell.now.grade}, one.run));
      return value;
    }));
    return row;
  }));
  wrap.append(table);
  return wrap;
}

function questionText(question, several) {
  const made = element("div");
  const text = element("p", (several && question.name ? `${question.name}: ` : "") + question.question, "ask");
  text.dir = "auto";
  made.append(text);
  if (question.hint) made.append(Object.assign(element("p", question.hint, "note"), {dir: "auto"}));
  if (question.truths.length) {
    const truth = element("p", undefined, "note");
    truth.dir = "auto";
    truth.append(question.truths.length > 1 ? "reference answers: " : "reference answer: ", element("b", question.truths.join(" | ")));
    made.append(truth);
  }
  return made;
}

/** The models to list: both that are compared first. */
function listed() {
  const first = [model(), other()].filter(Boolean);
  return state.other ? first : [...first, ...models.filter(each => !first.includes(each))];
}
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

function cellOf(items, number, one, place, scenario) {
  const at = runs.indexOf(one.run), question = items[at].questions[number];
  if (!question) return null;
  const offset = one.number * one.run.scenarios + scenario[at], clean = one.number * one.run.scenarios;
  const probabilities = where => question.probabilities && [...question.probabilities.subarray(where * question.options.length,
    (where + 1) * question.options.length)].map(value => value === 65535 ? null : value / one.run.index.unit);
  const grade = where => question.grades[where] === MISSING ? null : question.grades[where] / one.run.index.full;
  const text = (values, where) => values && values[where] >= 0 ? question.texts[values[where]] : null;
  const of = where => ({grade: grade(where), probabilities: probabilities(where), reply: text(question.replies, where),
    note: text(question.notes, where)});
  return {clean: of(clean), now: of(offset), sample: samples[place][at], scenario: scenario[at]};
}
function measures(one, cell) {
  const run = one.run;
  return run.index.measures.map((each, at) => `${each.label} ${number(run.measure(at, cell.sample, one.number, cell.scenario))}`)
    .concat(run.state(cell.sample, one.number, cell.scenario) === null ? [] :
      [run.index.states[run.state(cell.sample, one.number, cell.scenario)]]);
}

function optionList(question) {
  const made = element("ul", undefined, "options");
  made.append(...question.options.map((text, at) => Object.assign(
    element("li", `${LETTERS[at]}. ${text}`, at === question.answer ? "answer" : ""), {dir: "auto"})));
  return made;
}

/** Options as rows, models as columns: bars of the probabilities, clean as an outline. */
function optionTable(items, number_, place, scenario) {
  const question = items[0].questions[number_], wrap = element("div", undefined, "scroll"), table = element("table", undefined, "answers");
  const header = element("tr");
  header.append(element("th", "option"));
  const shown = listed().map(one => [one, cellOf(items, number_, one, place, scenario)]).filter(([, cell]) => cell);
  for (const [one] of shown) header.append(element("th", one.label));
  table.append(header);
  const best = values => values && values.some(value => value !== null) ? values.indexOf(Math.max(...values)) : -1;
  for (const [at, text] of question.options.entries()) {
    const row = element("tr", undefined, at === question.answer ? "answer" : ""), name = element("th");
    const label = element("span", `${LETTERS[at]}. ${text}`);
    label.dir = "auto";
    name.append(label);
    row.append(name);
    for (const [, cell] of shown) {
      const value = element("td"), now = cell.now.probabilities?.[at], clean = cell.clean.probabilities?.[at];
      if (now !== undefined && now !== null) {
        const track = element("span", undefined, "track"), fill = element("span", undefined, "fill"), outline = element("span", undefined, "outline");
        fill.style.width = `${100 * now}%`;
        outline.style.width = `${100 * (clean ?? 0)}%`;
        track.append(fill, outline);
        const picked = best(cell.now.probabilities) === at;
        const before = corruptions.length && clean !== undefined ? `${number(clean, 2)} → ` : "";
        value.append(track, before, element("span", `${number(now, 2)}${picked ? " ◄" : ""}`, picked ? "picked" : ""));
      }
      row.append(value);
    }
    table.append(row);
  }
  table.append(lastRows(shown));
  wrap.append(table);
  return wrap;
}
function lastRows(shown) {
  const made = document.createDocumentFragment();
  const grades = element("tr");
  grades.append(element("th", "clean → now"));
  for (const [one, cell] of shown) {
    const value = element("td");
    if (cell.clean.grade !== null && cell.now.grade !== null) value.append(mark({clean: cell.clean.grade, grade: cell.now.grade}, one.run));
    else if (cell.clean.grade !== null) value.textContent = right(one.run, cell.clean.grade) ? "clean ✓" : "clean ✗";
    grades.append(value);
  }
  made.append(grades);
  if (shown.some(([, cell]) => cell.now.reply !== null)) for (const [label, key] of [["clean", "clean"], ["now", "now"]]) {
    const row = element("tr");
    row.append(element("th", `reply, ${label}`), ...shown.map(([, cell]) => reply(cell[key])));
    made.append(row);
  }
  if (shown.some(([one, cell]) => cell.scenario !== CLEAN && measures(one, cell).length)) {
    const row = element("tr", undefined, "measures");
    row.append(element("th", ""), ...shown.map(([one, cell]) => {
      const value = element("td");
      value.append(...measures(one, cell).map(text => element("div", text)));
      return value;
    }));
    made.append(row);
  }
  return made;
}
function reply(found) {
  const made = element("td", undefined, "reply");
  const text = element("span", found.reply === null ? "–" : found.reply === "" ? "(empty)" : found.reply);
  text.dir = "auto";
  made.append(text);
  if (found.note) made.append(Object.assign(element("small", found.note), {dir: "auto"}));
  return made;
}
function replyTable(items, number_, place, scenario) {
  const wrap = element("div", undefined, "scroll"), table = element("table", undefined, "answers replies"), header = element("tr");
  const shown = listed().map(one => [one, cellOf(items, number_, one, place, scenario)]).filter(([, cell]) => cell);
  const corrupted = corruptions.length > 0;
  header.append(element("th", "model"), element("th", "reply to the clean image"), ...(corrupted ? [element("th", "reply now"), element("th", "clean → now")] : [element("th", "")]));
  table.append(header, ...shown.map(([one, cell]) => {
    const row = element("tr"), grade = element("td");
    if (cell.clean.grade !== null && cell.now.grade !== null) grade.append(mark({clean: cell.clean.grade, grade: cell.now.grade}, one.run));
    if (cell.scenario !== CLEAN) grade.append(...measures(one, cell).map(text => element("small", text)));
    row.append(element("th", one.label), reply(cell.clean), ...(corrupted ? [reply(cell.now)] : []), grade);
    return row;
  }));
  wrap.append(table);
  return wrap;
}

/** Grades of the sample under every corruption and severity, for the chosen model. */
function grid(place, corruption, level) {
  if (!corruptions.length) return null;
  const made = element("details", undefined, "grid"), one = model(), run = one.run, sample = samples[place][runs.indexOf(run)];
  made.open = gridOpen;
  made.addEventListener("toggle", () => gridOpen = made.open);
  made.append(element("summary", `${one.label}: all corruptions and severities of this sample`));
  const table = element("table"), header = element("tr");
  header.append(element("th"), ...severities.map(each => element("th", String(each))));
  table.append(header, ...answered(place).map(name => {
    const row = element("tr");
    row.append(element("th", words(name)), ...severities.map(each => {
      const cell = element("td"), grade = run.grade(sample, one.number, run.scenario(name, each));
      if (grade === null) return cell;
      const button = element("button", run.index.threshold === 1 && grade in {0: 0, 1: 1} ? (grade ? "✓" : "✗") : number(grade, 2),
        right(run, grade) ? "right" : "wrong");
      button.type = "button";
      button.ariaLabel = `${words(name)}, severity ${each}: ${number(grade, 2)}`;
      button.setAttribute("aria-pressed", String(name === corruption && each === level));
      button.dataset.focus = `cell ${name} ${each}`;
      button.addEventListener("click", () => change({seen: name, level: String(each)}));
      cell.append(button);
      return cell;
    }));
    return row;
  }));
  made.append(table);
  return made;
}
let gridOpen = false;

/** Models and corruptions: the mean change of the grade. */
function renderMap() {
  const box = get("map");
  if (!box || !corruptions.length) { box?.closest("section")?.remove(); return; }
  const table = element("table"), header = element("tr");
  header.append(element("th"), ...corruptions.map(each => {
    const made = element("th", undefined, "long");
    made.append(element("span", words(each.id)));
    return made;
  }));
  const values = models.map(one => corruptions.map(each => {
    const changes = [];
    for (let place = 0; place < samples.length; place++) for (const level of severities) {
      const found = outcome(one, place, each.id, level);
      if (found) changes.push(found.grade - found.clean);
    }
    return mean(changes);
  }));
  const most = Math.max(0.001, ...values.flat().map(value => Math.abs(value ?? 0)));
  table.append(header, ...models.map((one, row) => {
    const made = element("tr");
    made.append(element("th", one.label), ...corruptions.map((each, column) => {
      const cell = element("td"), value = values[row][column];
      if (value === null) return cell;
      const text = signed(100 * value), button = element("button", text);
      button.type = "button";
      button.ariaLabel = `${one.label}, ${words(each.id)}: ${text} points. Click for samples.`;
      button.title = button.ariaLabel;
      button.style.setProperty("--share", `${Math.round(90 * Math.abs(value) / most)}%`);
      button.className = value < 0 ? "loss" : "gain";
      button.addEventListener("click", () => {
        change({...DEFAULTS, model: String(row), corruption: each.id});
        get("samples").scrollIntoView();
      });
      cell.append(button);
      return cell;
    }));
    return made;
  }));
  box.replaceChildren(table);
}

/** Render, and leave the focus where it is: its element may be made again. */
async function change(given) {
  const focus = document.activeElement?.dataset?.focus;
  await render(given);
  if (focus && document.activeElement === document.body)
    document.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus({preventScroll: true});
}
function render(given) {
  Object.assign(state, given);
  if (state.other === state.model) state.other = "";
  if (!state.other && ["differ", "first", "second"].includes(state.outcome)) state.outcome = "";
  if (!state.other && state.sort === "differ") state.sort = "change";
  const filters = ["model", "other", "corruption", "severity", "outcome", "source", "task", "sort", "text"];
  const keys = Object.keys(given);
  if (keys.some(key => filters.includes(key))) {
    filter();
    get("list").scrollTop = 0;
    if (keys.some(key => !["sort", "outcome"].includes(key)) || keys.includes("outcome")) renderCharts();
  }
  if (current() < 0 && rows.length) Object.assign(state, {sample: String(shared.ids[samples[rows[0].place][0]]), seen: "", level: ""});
  if (keys.length) writeAddress();
  renderSelects();
  renderList();
  return renderDetail();
}
function stepSample(step) {
  const at = rows.findIndex(row => row.place === current()), next = rows[Math.min(rows.length - 1, Math.max(0, at + step))];
  if (!next) return;
  const row = rows.indexOf(next), list = get("list");
  if (row * ROW < list.scrollTop || (row + 1) * ROW > list.scrollTop + list.clientHeight) list.scrollTop = Math.max(0, row * ROW - list.clientHeight / 2);
  change({sample: String(shared.ids[samples[next.place][0]]), seen: state.seen && state.corruption ? state.seen : "", level: state.level && state.severity ? state.level : ""});
}
function stepLevel(step) {
  const place = current();
  if (place < 0 || !severities.length) return;
  const [corruption, level] = seen(place), levels = severities.filter(each => hasAnswer(place, corruption, each));
  const next = levels[Math.min(levels.length - 1, Math.max(0, levels.indexOf(level) + step))];
  if (next) change({seen: corruption, level: String(next)});
}
function stepCorruption(step) {
  const place = current(), names = answered(place), [corruption, level] = seen(place);
  if (names.length) change({seen: names[(names.indexOf(corruption) + step + names.length) % names.length], level: String(level || "")});
}

const selects = {};
function addSelect(key, title, options) {
  const label = element("label", title), made = element("select");
  made.id = `filter-${key}`;
  made.addEventListener("change", () => change({[key]: made.value, ...(key === "sort" ? {} : {sample: ""})}));
  label.append(made);
  get("filters").append(label);
  selects[key] = {made, options, label};
}
function renderSelects() {
  for (const [key, {made, options, label}] of Object.entries(selects)) {
    const found = options();
    made.replaceChildren(...found.map(([value, text]) => Object.assign(element("option", text), {value})));
    made.value = state[key];
    label.hidden = found.length < 2;
  }
}
function addFilters() {
  const numbered = names => names.map((name, at) => [String(at), name]);
  const labels = models.map((each, at) => [String(at), each.label]);
  addSelect("model", "model", () => labels);
  addSelect("other", "compare with", () => [["", "no other model"], ...labels.filter(([value]) => value !== state.model)]);
  addSelect("corruption", "corruption", () => corruptions.length ? [["", "all"], ...corruptions.map(each => [each.id, words(each.id)])] : []);
  addSelect("severity", "severity", () => severities.length ? [["", "all"], ...severities.map(each => [String(each), String(each)])] : []);
  addSelect("outcome", "outcome", () => [["", "all"], ...(corruptions.length ? OUTCOMES : [["rr", "right"], ["ww", "wrong"]]),
    ...numbered(model().run.index.states).map(([value, text]) => [`state-${value}`, text]),
    ...(state.other ? [["differ", "the two models differ"], ["first", "better than the other"], ["second", "worse than the other"]] : [])]);
  addSelect("source", "source", () => shared.sources.length > 1 ? [["", "all"], ...numbered(shared.sources)] : []);
  addSelect("task", "task type", () => shared.tasks.length > 1 ? [["", "all"], ...numbered(shared.tasks)] : []);
  addSelect("sort", "sort by", () => [["change", corruptions.length ? "largest change" : "wrong first"], ...(state.other ? [["differ", "largest difference of the two"]] : []),
    ...shared.facts.flatMap((fact, at) => fact.values.some(value => typeof value === "number") ? [[`fact-${at}`, fact.label]] : []),
    ["order", "order of the benchmark"]]);
  const label = element("label", "search"), search = element("input");
  search.type = "search";
  search.id = "filter-text";
  search.placeholder = "question, option or id";
  search.addEventListener("input", () => change({text: search.value, sample: ""}));
  label.append(search);
  get("filters").append(label);
  const clear = element("button", "Clear filters");
  clear.type = "button";
  clear.id = "clear";
  clear.addEventListener("click", () => { search.value = ""; change({...DEFAULTS, model: state.model}); });
  get("filters").append(clear);
}

/** What two runs share: samples by id and text, corruptions and severities; models of both. */
function merge() {
  const [first, ...rest] = runs;
  shared = first.index;
  // Sources of one id may be other files.
  const keys = ({index}) => index.ids.map((id, at) => JSON.stringify([id, index.texts[at]]));
  const places = rest.map(run => new Map(keys(run).map((key, at) => [key, at])));
  samples = keys(first).map((key, at) => [at, ...places.map(place => place.get(key))]).filter(found => !found.includes(undefined));
  const everywhere = of => of(first).filter(each => rest.every(run => of(run).some(one => (one.id ?? one) === (each.id ?? each))));
  corruptions = everywhere(run => run.index.corruptions);
  severities = everywhere(run => run.index.severities);
  models = runs.flatMap(run => run.index.models.map((each, at) => ({run, number: at, id: each.id,
    label: rest.length ? `${each.label} (${run.name})` : each.label})));
  if (rest.length) {
    // The first model beside one that only the second run has, or a model of both, by what differs.
    const added = models.findIndex(one => one.run === runs[1] && !runs[0].index.models.some(each => each.id === one.id));
    const pairs = added > 0 ? [[0, added]] : models.flatMap((one, at) => models.flatMap((two, other) => one.run === runs[0] && two.run === runs[1] && one.id === two.id ? [[at, other]] : []));
    if (pairs.length) Object.assign(DEFAULTS, {model: String(pairs[0][0]), other: String(pairs[0][1]), sort: "differ"});
  }
}

async function startViewer(given) {
  try {
    for (const {base, name} of given) runs.push(await Run.read(base, name));
  } catch (error) {
    get("viewer").replaceChildren(element("p", `The samples cannot be shown: ${error.message}.`, "note"));
    return;
  }
  merge();
  if (!samples.length) {
    get("viewer").replaceChildren(element("p", "There are no samples that can be shown.", "note"));
    return;
  }
  Object.assign(state, DEFAULTS);
  addFilters();
  readAddress();
  get("filter-text").value = state.text;
  renderMap();
  const hidden = shared.candidates - shared.ids.length;
  get("sample-note").textContent = [
    corruptions.length ? "Each sample with all answers, on its clean and its corrupted images." : "Each sample with all answers.",
    hidden > 0 ? `${shared.ids.length.toLocaleString("en")} of ${shared.candidates.toLocaleString("en")} samples, the first in the order of a hash (results_page.samples).` : "",
    given.length > 1 ? `${samples.length.toLocaleString("en")} samples are in both runs.` : "",
    shared.right === "right" ? "" : `Right is ${shared.right}.`,
    shared.note,
    runs[0].pictures.shown === "none" ? "Without images (results_page.images)." : runs[0].pictures.withheld.length
      ? `Without images of ${runs[0].pictures.withheld.join(", ")}, whose licence does not let them be passed on (results_page.images).` : "",
    corruptions.length > runs[0].pictures.corruptions.length ? `Images under ${runs[0].pictures.corruptions.length} of ${corruptions.length} corruptions (results_page.corruptions).` : "",
  ].filter(Boolean).join(" ");
  filter();
  renderCharts();
  get("list").addEventListener("scroll", () => renderList(), {passive: true});
  new ResizeObserver(() => renderList()).observe(get("list"));
  if (matchMedia("(max-width: 50rem)").matches) get("chart-box").open = false;
  await change({});
  if (location.hash.startsWith("#samples?")) get("samples").scrollIntoView();
  addEventListener("hashchange", () => {
    if (!location.hash.startsWith("#samples?")) return;
    readAddress();
    get("filter-text").value = state.text;
    filter();
    renderCharts();
    change({});
  });
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.altKey || event.metaKey || /^(SELECT|INPUT|TEXTAREA|SUMMARY)$/.test(event.target.tagName)) return;
    const viewer = get("samples").getBoundingClientRect();
    if (viewer.top > innerHeight || viewer.bottom < 0) return;
    const steps = {ArrowRight: () => stepLevel(1), ArrowLeft: () => stepLevel(-1), ArrowDown: () => stepSample(1), ArrowUp: () => stepSample(-1),
      j: () => stepSample(1), k: () => stepSample(-1), c: () => stepCorruption(1), C: () => stepCorruption(-1)};
    if (!steps[event.key]) return;
    event.preventDefault();
    steps[event.key]();
  });
  get("viewer").dataset.ready = "true";
}
