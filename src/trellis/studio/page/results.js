// What a run told: the picture, the table, the plan.

const BLOCK = 200;

export function node(kind, className, text) {
  const made = document.createElement(kind);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

export function counted(number, thing = "row") {
  return `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;
}

/** The rows as a table; long ones grow as they are scrolled. */
export function showTable(root, { columns, rows, total }) {
  if (!columns.length) return root.replaceChildren(node("p", "empty", "The result has no columns."));
  const table = node("table");
  const head = table.createTHead().insertRow();
  columns.forEach((column) => {
    const cell = node("th", column.number ? "number" : "", column.name);
    cell.title = column.type;
    cell.scope = "col";
    head.append(cell);
  });
  const body = table.createTBody();
  let shown = 0;
  const more = () => {
    for (const row of rows.slice(shown, shown + BLOCK)) {
      const line = body.insertRow();
      row.forEach((value, at) => {
        const cell = line.insertCell();
        if (value === null) { cell.className = "null"; cell.textContent = "NULL"; }
        else {
          cell.textContent = value;
          if (columns[at].number) cell.className = "number";
          if (value.length > 40) cell.title = value;
        }
      });
    }
    shown = Math.min(rows.length, shown + BLOCK);
  };
  more();
  root.onscroll = () => { if (shown < rows.length && root.scrollTop + root.clientHeight > root.scrollHeight - 400) more(); };
  const parts = [table];
  if (!rows.length) parts.push(node("p", "empty", "No rows. The query is right, and nothing matched."));
  if (rows.length < total) parts.push(node("p", "note", `The first ${counted(rows.length)} of ${total.toLocaleString("en")}.`));
  root.replaceChildren(...parts);
  root.scrollTop = 0;
}

let library = null;

/** Vega is large: it comes when there is a first picture. */
export function loadLibrary() {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = "vega.js";
    script.onload = () => resolve(window.vegaEmbed);
    script.onerror = () => { library = null; reject(new Error("The drawing library cannot be loaded.")); };
    document.head.append(script);
  });
  return library;
}

let drawn = null;
const widths = new Map();

/** The picture, in the colours of the page and as wide as there is room. */
export async function showPicture(root, told, dark) {
  if (told.none) {
    drawn?.view?.finalize();
    drawn = null;
    root.replaceChildren(node("p", "empty", told.none));
    return;
  }
  const embed = await loadLibrary();
  const kind = `${told.y}:${told.spec.columns ?? 1}`;
  const room = root.clientWidth - 8;
  // How wide axes and titles are is known when they are drawn: then once more, and the next time at once.
  for (let tries = 0; tries < 2; tries += 1) {
    const box = node("div", "chart");
    const beside = widths.get(kind) ?? 62;
    const result = await embed(box, fitted(structuredClone(told.spec), room, beside, dark), {
      mode: "vega-lite", renderer: "canvas", actions: false, logLevel: 1, ast: true, defaultStyle: false,
      tooltip: { disableDefaultStyle: true, theme: "studio" },
    });
    drawn?.view?.finalize();
    drawn = result;
    root.replaceChildren(box);
    const over = (box.querySelector("canvas")?.offsetWidth ?? room) - room;
    if (root.clientWidth === 0 || (over <= 0 && over > -40)) break;
    widths.set(kind, Math.min(400, Math.max(30, beside + (over + 4) / (told.spec.columns ?? 1))));
  }
  root.scrollTop = 0;
}

/** The specification in the width of the pane, and in light or dark. */
function fitted(spec, width, beside, dark) {
  const columns = spec.columns ?? 1;
  const room = Math.floor(width / columns - beside);
  for (const view of spec.concat ?? []) if (typeof view.width === "number" && room > 150) rescale(view, room);
  interpret(spec);
  spec.background = "transparent";
  spec.padding = { left: 14, right: 18, top: 12, bottom: 12 };
  if (dark) {
    const ink = "#d9dfe5", muted = "#93a0ac", grid = "#2b333b";
    const config = spec.config ??= {};
    config.title = { ...config.title, color: ink, subtitleColor: muted };
    config.axis = { ...config.axis, labelColor: muted, titleColor: muted, domainColor: "#47525d", tickColor: "#47525d", gridColor: grid };
    config.legend = { ...config.legend, labelColor: ink, titleColor: muted };
    if (spec.title) spec.title.subtitleColor = muted;
    recolour(spec, { "#1f2933": ink, "#66727f": muted, "#e6e9ed": grid, "#000000": "#ffffff", "#445263": "#a9b6c3", "#0b4a9e": "#5b9bf0" });
  }
  return spec;
}

/** The policy of the page forbids compiled expressions, and the interpreter of them does not know dates in domains. */
function interpret(part) {
  if (!part || typeof part !== "object") return;
  if (part.type === "utc" && Array.isArray(part.domain)) part.domain = { expr: JSON.stringify(part.domain) };
  for (const [name, value] of Object.entries(part)) if (name !== "values") interpret(value);
}

function rescale(view, room) {
  const before = view.width;
  view.width = room;
  for (const layer of view.layer ?? []) {
    const x = layer.encoding?.x;
    if (x?.value === before) x.value = room; // what is written at the right end of a panel
    if (x?.value === before / 2) x.value = room / 2; // and in the middle of one without rows
  }
  const ticks = (part) => {
    if (part && typeof part === "object") {
      if (part.axis && typeof part.axis.tickCount === "number" && part.type !== "quantitative") part.axis.tickCount = Math.max(2, Math.floor(room / 90));
      Object.values(part).forEach(ticks);
    }
  };
  if (Math.abs(before - room) > 60) (view.layer ?? []).forEach((layer) => ticks(layer.encoding?.x ? { x: layer.encoding.x } : null));
}

function recolour(part, colours) {
  if (!part || typeof part !== "object") return;
  for (const [name, value] of Object.entries(part)) {
    if (name === "values" && Array.isArray(value) && value.length && typeof value[0] === "object") continue;
    if (typeof value === "string" && colours[value]) part[name] = colours[value];
    else if (typeof value === "object") recolour(value, colours);
  }
}

/** The plan in its sections; counts stand out. */
export function showPlan(root, text) {
  const parts = text.split(/^== (.+?) ==$/m);
  const made = [];
  if (parts[0].trim()) made.push(node("p", "empty", parts[0].trim()));
  const sections = [];
  for (let at = 1; at < parts.length; at += 2) sections.push([parts[at], parts[at + 1].replace(/^\n+|\s+$/g, "")]);
  const order = ["Counts", "Plan", "Chosen tree", "Logical tree"];
  sections.sort((a, b) => rank(a[0]) - rank(b[0]));
  function rank(name) { const at = order.indexOf(name); return at < 0 ? order.length : at; }
  for (const [name, body] of sections) {
    const box = node("details", "plan");
    box.open = true;
    box.append(node("summary", "", name));
    if (name === "Counts") {
      const counts = node("div", "counts");
      for (const line of body.split("\n")) {
        const found = /^(.*?)\s{2,}([\d,]+)$/.exec(line);
        if (!found) continue;
        const one = node("div", "one");
        one.append(node("b", "", found[2]), node("span", "", found[1]));
        counts.append(one);
      }
      box.append(counts);
    } else box.append(node("pre", "", body));
    made.push(box);
  }
  root.replaceChildren(...made);
}
