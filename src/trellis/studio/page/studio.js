// The page: what is typed is checked, what is run is shown.

import { Editor } from "./editor.js";
import { ask, events } from "./asking.js";
import { counted, loadLibrary, node, showPicture, showPlan, showTable } from "./results.js";
import { showWhy } from "./why.js";

const $ = (id) => document.getElementById(id);
const KEPT = "trellis-studio";

const page = { state: null, running: null, last: null, picture: null, told: {}, tab: "picture", y: "" };
const editor = new Editor($("editor"), typed);

// ---- what stays: the query in the address and in this browser, how the page looks in this browser ----

function kept() {
  try { return JSON.parse(localStorage.getItem(KEPT)) ?? {}; } catch { return {}; }
}

function keep(values) {
  try { localStorage.setItem(KEPT, JSON.stringify({ ...kept(), ...values })); } catch { /* a private window */ }
}

function inAddress() {
  const found = new URLSearchParams(location.hash.slice(1));
  return found.has("q") ? { text: found.get("q"), language: found.get("language") ?? "auto" } : null;
}

function toAddress() {
  const values = new URLSearchParams({ q: editor.text });
  if ($("language").value !== "auto") values.set("language", $("language").value);
  history.replaceState(null, "", `#${values}`);
  keep({ text: editor.text, language: $("language").value });
}

// ---- checking what is typed ----

let wanted = null, asking = false, timer = 0;

function typed() {
  clearTimeout(timer);
  timer = setTimeout(check, 40);
}

function question() {
  const forEvents = !$("event-options").hidden;
  return {
    text: editor.text,
    language: $("language").value,
    events: forEvents ? $("events").value : "",
    type: forEvents ? $("type").value : "",
    time: forEvents && chosenTime ? $("time").value : "",
    y: page.y,
    zoom: $("zoom").checked,
  };
}

/** One question at a time; of those that come meanwhile, the last. */
async function check() {
  toAddress();
  wanted = question();
  if (asking) return;
  asking = true;
  while (wanted) {
    const asked = wanted;
    wanted = null;
    try {
      const told = await ask("api/check", asked);
      if (asked.text === editor.text) checked(told, asked);
    } catch { gone(); }
  }
  asking = false;
}

function checked(told, asked) {
  showProblem(told.error);
  editor.mark(told.error);
  const names = { rows: "MATCH_RECOGNIZE", segments: "Segments", events: "SASE+", sequences: "SQL-TS", plain: "SQL" };
  if (!told.error) {
    $("found-language").textContent = asked.language === "auto" ? names[told.language] ?? "" : "";
    $("checked").textContent = page.state?.ready ? "✓ The query is right" : "✓ Can be read";
    showEvents(told.events ?? null);
  } else $("checked").textContent = "";
  document.body.dataset.checked = asked.text;
}

/** What is wrong, with its line and carets, as the command line shows it. */
function showProblem(problem) {
  const box = $("problem");
  box.hidden = !problem;
  if (!problem) return;
  const parts = [node("strong", "", problem.problem)];
  if (problem.place) {
    const { line, start, end } = problem.place;
    const text = editor.text;
    const from = text.lastIndexOf("\n", start - 1) + 1;
    const stop = text.indexOf("\n", start) < 0 ? text.length : text.indexOf("\n", start);
    const shown = text.slice(from, stop).replaceAll("\t", " ");
    const lead = `line ${line}: `;
    const carets = "^".repeat(Math.max(1, Math.min(end - start, shown.length - (start - from))));
    const where = node("button", "where");
    where.type = "button";
    where.title = "Go there";
    where.append(node("span", "", lead + shown), node("span", "carets", " ".repeat(lead.length + start - from) + carets));
    where.onclick = () => editor.goTo(problem.place);
    parts.push(where);
  }
  if (problem.cure) parts.push(node("span", "cure", problem.cure));
  box.replaceChildren(...parts);
}

// ---- events: their table and columns ----

let chosenTime = false;

function showEvents(told) {
  $("event-options").hidden = !told;
  if (!told || !page.state) return;
  fill($("events"), page.state.tables.map((table) => table.name), told.table);
  const columns = page.state.tables.find((table) => table.name === told.table)?.columns ?? [];
  fill($("type"), columns.map((column) => column.name), told.type);
  $("times").replaceChildren(...columns.map((column) => new Option(column.name, column.name)));
  if (document.activeElement !== $("time")) $("time").value = told.time.replaceAll("`", "");
}

function fill(select, names, chosen) {
  if ([...select.options].map((one) => one.value).join("\n") !== names.join("\n")) select.replaceChildren(...names.map((name) => new Option(name, name)));
  select.value = chosen;
}

// ---- running ----

async function run(everything, what = "run") {
  page.running?.abort.abort();
  const mine = { abort: new AbortController(), everything, what };
  page.running = mine;
  if (what === "run") page.told = {};
  progress("Sent", null);
  const asked = { ...question(), everything };
  let ended = null;
  try {
    for await (const event of events(`api/${what}`, asked, mine.abort.signal)) {
      if (page.running !== mine) return;
      if (["done", "failed", "cancelled"].includes(event.event)) ended = event;
      told(event, mine);
    }
  } catch (error) {
    if (page.running !== mine) return;
    if (error.name !== "AbortError") gone();
    ended = { event: "cancelled" };
    told(ended, mine);
  }
  if (page.running === mine) { page.running = null; progress(null); }
  document.body.dataset.ran = String(Number(document.body.dataset.ran ?? 0) + 1);
  document.body.dataset.outcome = ended?.event ?? "lost";
  if (ended?.event === "done" && what === "run" && ["explain", "why"].includes(page.tab)) return run(everything, page.tab);
  if (ended?.event === "done" && what === "run" && !everything && $("go-on").checked && !mine.whole) run(true);
}

function told(event, mine) {
  switch (event.event) {
    case "run": mine.id = event.run; break;
    case "sampling": progress("Drawing a sample", null); break;
    case "reading": progress("Counting the rows", null); break;
    case "begun":
      mine.whole = event.whole;
      mine.parts = event.parts;
      progress({ run: "Matching", explain: "Explaining", why: "Looking for what failed" }[mine.what], null);
      break;
    case "matching": mine.warnings = event.warnings; break;
    case "progress": progress(null, event); break;
    case "rows":
      page.last = { rows: event, mine };
      document.body.dataset.rowsSeconds = event.seconds;
      $("rows").textContent = event.total.toLocaleString("en");
      showTable($("table"), event);
      summary(mine, event);
      progress("Drawing", null);
      break;
    case "picture":
      document.body.dataset.pictureSeconds = event.seconds;
      pictured(event);
      break;
    case "explained": page.told.explain = true; showPlan($("explain"), event.text); break;
    case "why": page.told.why = true; showWhy($("why"), event.report); break;
    case "failed": failed(event); break;
    case "cancelled": note("Cancelled.", "muted"); break;
  }
}

/** On what this ran, said plainly, and what came of it. */
function summary(mine, rows) {
  const box = $("told");
  const what = node("span", "what");
  const sampled = !mine.whole;
  what.append(node("b", "", counted(rows.total)), ` in ${rows.seconds.toFixed(1)} s`);
  const parts = [what];
  for (const part of mine.parts) {
    const all = part.rows === part.total;
    parts.push(node("span", all ? "part" : "part sample", all
      ? `all ${counted(part.total)} of ${part.table}`
      : `a sample: ${part.rows.toLocaleString("en")} of ${counted(part.total)} of ${part.table}, ${part.how}`));
  }
  if (sampled) {
    const button = node("button", "link", "Run on all rows");
    button.type = "button";
    button.onclick = () => run(true);
    parts.push(button);
  }
  for (const warning of mine.warnings ?? []) parts.push(node("span", "warning", warning));
  box.className = "told";
  box.replaceChildren(...parts);
}

function note(text, kind) {
  $("told").className = `told ${kind}`;
  $("told").replaceChildren(node("span", "", text));
}

function failed(problem) {
  note(problem.problem, "failed");
  if (problem.cure) $("told").append(node("span", "cure", problem.cure));
  showProblem(problem);
  editor.mark(problem);
}

async function pictured(event) {
  const others = event.others ?? [];
  page.picture = event;
  pictureOptions();
  fill($("y"), others, event.y ?? "");
  await draw();
}

function pictureOptions() {
  const shown = page.tab === "picture" && page.picture;
  $("y-field").hidden = !shown || (page.picture.others ?? []).length < 2;
  $("zoom-field").hidden = !shown || !page.picture.zooms;
}

async function draw() {
  if (!page.picture) return;
  if (page.tab !== "picture") { page.undrawn = true; return; }
  page.undrawn = false;
  try {
    await showPicture($("picture"), page.picture, isDark());
    document.body.dataset.drawn = String(Number(document.body.dataset.drawn ?? 0) + 1);
  } catch (error) { $("picture").replaceChildren(node("p", "empty", error.message)); }
}

function progress(what, counts) {
  const box = $("progress");
  box.hidden = !page.running;
  if (what) box.querySelector(".what").textContent = `${what}${page.running?.everything ? ", all rows" : ""}`;
  const fill = box.querySelector(".fill");
  if (counts) {
    fill.classList.remove("unknown");
    fill.style.width = `${(100 * counts.done) / counts.total}%`;
    box.querySelector(".what").textContent = box.querySelector(".what").textContent.split(" · ")[0] + ` · ${counts.done} of ${counts.total} tasks`;
  } else if (what) { fill.classList.add("unknown"); fill.style.width = ""; }
}

async function cancel() {
  const mine = page.running;
  if (!mine) return;
  box("Cancelling");
  await ask("api/cancel", { run: mine.id }).catch(gone);
  function box(text) { $("progress").querySelector(".what").textContent = text; }
}

function gone() {
  phase("The studio has ended", "ended");
}

// ---- tabs, panes, looks ----

function choose(tab) {
  page.tab = tab;
  for (const button of document.querySelectorAll("[role=tab]")) {
    const on = button.dataset.tab === tab;
    button.setAttribute("aria-selected", on);
    button.tabIndex = on ? 0 : -1;
    $(button.dataset.tab).hidden = !on;
  }
  pictureOptions();
  if (tab === "picture" && page.undrawn) draw();
  if (["explain", "why"].includes(tab) && !page.told[tab] && page.last && !page.running) run(page.last.mine.everything, tab);
}

function isDark() {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function wear(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

function split(share) {
  const bounded = Math.min(0.75, Math.max(0.22, share));
  $("panes").style.setProperty("--left", `${(100 * bounded).toFixed(2)}%`);
  $("splitter").setAttribute("aria-valuenow", Math.round(100 * bounded));
  page.share = bounded;
}

function listen() {
  $("run").onclick = () => run(false);
  $("run-all").onclick = () => run(true);
  $("cancel").onclick = cancel;
  $("language").onchange = check;
  for (const id of ["events", "type"]) $(id).onchange = () => { if (id === "events") { $("type").value = ""; chosenTime = false; } check(); };
  $("time").onchange = () => { chosenTime = true; check(); };
  $("y").onchange = () => { page.y = $("y").value; run(page.last?.mine.everything ?? false); };
  $("zoom").onchange = () => run(page.last?.mine.everything ?? false);
  $("examples").onchange = () => {
    const example = page.state.examples[Number($("examples").value)];
    $("examples").value = "";
    if (example) start(example);
  };
  $("theme").onclick = () => { const theme = isDark() ? "light" : "dark"; wear(theme); keep({ theme }); draw(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  $("go-on").onchange = () => keep({ goOn: $("go-on").checked });
  const tabs = [...document.querySelectorAll("[role=tab]")];
  tabs.forEach((button, at) => {
    button.onclick = () => choose(button.dataset.tab);
    button.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) { const next = tabs[(at + step + tabs.length) % tabs.length]; next.focus(); choose(next.dataset.tab); }
    };
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(event.shiftKey); }
    else if (event.key === "Escape" && page.running) cancel();
  });
  addEventListener("hashchange", () => {
    const found = inAddress();
    if (found && found.text !== editor.text) { $("language").value = found.language; editor.text = found.text; }
  });
  const splitter = $("splitter");
  splitter.onpointerdown = (event) => {
    splitter.setPointerCapture(event.pointerId);
    const move = (now) => split(now.clientX / innerWidth);
    splitter.addEventListener("pointermove", move);
    splitter.addEventListener("pointerup", () => { splitter.removeEventListener("pointermove", move); keep({ share: page.share }); draw(); }, { once: true });
  };
  splitter.onkeydown = (event) => {
    const step = { ArrowLeft: -0.02, ArrowRight: 0.02 }[event.key];
    if (step) { split(page.share + step); keep({ share: page.share }); draw(); }
  };
  let resized = 0;
  addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(draw, 150); });
}

function start(example) {
  page.y = "";
  $("zoom").checked = false;
  $("language").value = "auto";
  $("event-options").hidden = true;
  chosenTime = false;
  editor.text = example.text.trimEnd() + "\n";
  if (page.state?.ready) run(false);
}

// ---- the tables ----

function showTables(tables) {
  const text = JSON.stringify(tables);
  if (text === showTables.shown) return;
  const open = new Set([...$("tables").querySelectorAll("details[open]")].map((one) => one.dataset.name));
  const first = showTables.shown === undefined;
  showTables.shown = text;
  $("tables").replaceChildren(...tables.map((table) => {
    const box = node("details", "one-table");
    box.dataset.name = table.name;
    box.open = first ? !table.shipped : open.has(table.name);
    const head = node("summary");
    head.append(node("code", "", table.name));
    if (table.shipped) head.append(node("span", "tag", "sample data"));
    head.append(node("span", "amount", table.rows === null ? "" : counted(table.rows)));
    const columns = node("div", "columns");
    for (const column of table.columns) {
      const button = node("button", "column");
      button.type = "button";
      button.title = `Insert ${column.name}`;
      button.append(node("code", "", column.name), node("span", "", column.type));
      button.onclick = () => editor.insert(/^[A-Za-z_]\w*$/.test(column.name) ? column.name : `\`${column.name.replaceAll("`", "``")}\``);
      columns.append(button);
    }
    box.append(head, columns);
    return box;
  }));
}

function phase(text, kind) {
  const box = $("phase");
  box.querySelector(".dot").className = `dot ${kind}`;
  box.lastElementChild.textContent = text;
}

// ---- the beginning ----

async function watch() {
  let state;
  try { state = await ask("api/state"); } catch { gone(); setTimeout(watch, 3000); return; }
  const before = page.state;
  page.state = state;
  phase(state.awake ? "Ready" : `${state.phase[0].toUpperCase()}${state.phase.slice(1)}…`, state.awake ? "ready" : "busy");
  $("run").disabled = $("run-all").disabled = !state.ready;
  showTables(state.tables);
  if (state.ready && !before?.ready) {
    $("examples").replaceChildren(new Option("Start from…", ""), ...groups(state.examples));
    if (!editor.text && state.examples.length) start(state.examples[0]);
    else check().then(() => { if (!editor.problem) run(false); });
    document.body.dataset.ready = "yes";
    loadLibrary().catch(() => {});
  }
  setTimeout(watch, state.awake ? 10000 : state.ready ? 1000 : 400);
}

function groups(examples) {
  const names = { rows: "MATCH_RECOGNIZE", segments: "Segments", events: "SASE+ events", sequences: "SQL-TS" };
  const made = {};
  examples.forEach((example, at) => {
    if (!made[example.language]) { made[example.language] = document.createElement("optgroup"); made[example.language].label = names[example.language]; }
    made[example.language].append(new Option(example.title, at));
  });
  return Object.values(made);
}

const before = kept();
wear(before.theme);
split(before.share ?? 0.42);
$("go-on").checked = Boolean(before.goOn);
listen();
const opened = inAddress() ?? (before.text ? { text: before.text, language: before.language ?? "auto" } : null);
if (opened) { $("language").value = opened.language; editor.text = opened.text; }
$("picture").append(node("p", "empty", "Write a query, or start from an example. Ctrl-Enter runs it."));
watch();
