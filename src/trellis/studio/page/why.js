// Why nothing matched, or what fails beside what is found.

import { counted, node } from "./results.js";

export function showWhy(root, why) {
  const made = [];
  const matches = why.matches === null ? "An unknown number of matches" : counted(why.matches, "match").replace(/matchs$/, "matches");
  const head = node("div", "why-head");
  head.append(node("h2", "", `${matches} of (${why.pattern})`));
  const where = why.partitions > 1 ? ` in ${counted(why.partitions, "partition")}` : "";
  head.append(node("p", "", `in ${counted(why.rows)}${where}`));
  made.push(head);
  if (why.findings?.length) {
    const list = node("ul", "findings");
    for (const finding of why.findings) list.append(node("li", "", finding));
    made.push(list);
  }
  for (const note of why.notes ?? []) made.push(node("p", "why-note", note));
  if (why.variables?.length) made.push(variables(why));
  if (why.funnel?.length && why.starts) made.push(funnel(why));
  if (why.ends?.length) made.push(ends(why));
  (why.nearest ?? []).forEach((miss, number) => made.push(nearest(why, miss, number)));
  root.replaceChildren(...made);
  root.scrollTop = 0;
}

function box(title, hint) {
  const made = node("section", "why-box");
  made.append(node("h3", "", title));
  if (hint) made.append(node("p", "", hint));
  return made;
}

function bar(count, whole) {
  const track = node("span", "bar-track");
  const fill = node("span", count ? "bar-fill" : "bar-fill none");
  fill.style.width = `${whole ? Math.max(count ? 0.6 : 0, (100 * count) / whole) : 0}%`;
  track.append(fill);
  return track;
}

function line(name, count, whole, text, unknown = "?") {
  const made = node("div", count === 0 ? "why-line none" : "why-line");
  made.append(node("code", "name", name), node("span", "amount", count === null ? unknown : count.toLocaleString("en")), bar(count ?? 0, whole), node("code", "text", text));
  return made;
}

function variables(why) {
  const made = box(why.words.alone);
  const segments = !why.words.shares;
  const most = segments ? Math.max(1, ...why.variables.flatMap((one) => [one.rows ?? 0, ...(one.parts ?? []).map((part) => part.rows ?? 0)])) : why.rows;
  for (const one of why.variables) {
    made.append(line(one.name, one.rows, most, one.condition || why.words.whole, segments ? "too many" : "?"));
    const parts = one.parts ?? [];
    if (parts.length > 1 && (segments || one.rows === 0 || parts.some((part) => part.rows === null)))
      parts.forEach((part, at) => made.append(line("", part.rows, most, `${segments ? "of " : at ? "and " : ""}${part.text}${part.rows === null && !segments ? "  (looks at the match)" : ""}`, segments ? "too many" : "?")));
  }
  return made;
}

function funnel(why) {
  const made = box(why.words.funnel.replace("{}", counted(why.starts)));
  const most = why.words.shares ? why.starts : Math.max(1, ...why.funnel.map((step) => step.count ?? 0));
  for (const step of [...why.funnel, { text: why.words.match, count: why.matched, runs: null }]) {
    const runs = step.runs && step.count ? `in ${step.runs.toLocaleString("en")} runs` : "";
    made.append(line(step.text, step.count, most, why.words.shares ? share(step.count, most) : runs, "too many"));
  }
  return made;
}

function share(count, whole) {
  return whole ? `${((100 * count) / whole).toFixed(1)} %` : "";
}

function words(end) {
  if (end.reason === "condition") return `${end.element}: not ${end.text.includes(" ") ? end.text : `(${end.text})`}`;
  if (end.reason === "within") return `${end.element}: the row lies beyond WITHIN`;
  if (end.reason === "rows") return `${end.element}: there is no more row`;
  return end.text;
}

function ends(why) {
  const made = box(why.words.ends);
  const whole = why.ends.reduce((sum, end) => sum + end.count, 0);
  for (const end of why.ends) made.append(line(end.element ?? "", end.count, whole, words(end)));
  if (why.within) made.append(node("p", "", `${why.cut.toLocaleString("en")} of all these would have gone on, had WITHIN ${why.within} not ended them.`));
  return made;
}

function nearest(why, miss, number) {
  const keys = miss.keys.map(([name, value]) => `${name} = ${value}`).join(", ");
  const made = box(`Nearest miss${why.nearest.length > 1 ? ` ${number + 1}` : ""}${keys ? `: ${keys}` : ""}`, `${counted(miss.missing)} short. ${words(miss.end)}`);
  const table = node("table");
  const head = table.createTHead().insertRow();
  for (const name of ["row", ...why.columns, "taken as"]) head.append(node("th", "", name));
  const body = table.createTBody();
  miss.rows.forEach((row, at) => {
    if (miss.gap && at === 3) {
      const gap = body.insertRow().insertCell();
      gap.colSpan = why.columns.length + 2;
      gap.className = "gap";
      gap.textContent = `${counted(miss.gap)} between`;
    }
    const made = body.insertRow();
    if (!row.element) made.className = "missed";
    for (const value of [row.number.toLocaleString("en"), ...row.values, row.element || `not ${miss.end.element}`]) made.insertCell().textContent = value;
  });
  made.append(table);
  return made;
}
