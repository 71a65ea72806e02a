// The editor: a textarea, and below it the same text with its colours, line numbers, and where it is wrong.

import { coloured } from "./words.js";

export class Editor {
  constructor(root, changed) {
    this.root = root;
    this.area = root.querySelector("textarea");
    this.under = root.querySelector(".under");
    this.gutter = root.querySelector(".gutter");
    this.changed = changed;
    this.place = null;
    this.area.addEventListener("input", () => this.#typed());
    this.area.addEventListener("scroll", () => this.#scrolled());
    this.area.addEventListener("keydown", (event) => this.#key(event));
  }

  get text() {
    return this.area.value;
  }

  /** Replace the whole text; the browser can undo that. */
  set text(text) {
    this.area.focus({ preventScroll: true });
    this.area.select();
    if (text === "" || !document.execCommand("insertText", false, text)) this.area.value = text;
    this.area.setSelectionRange(0, 0);
    this.area.scrollTop = 0;
    this.#typed();
  }

  insert(text) {
    this.area.focus();
    if (!document.execCommand("insertText", false, text)) this.area.setRangeText(text);
    this.#typed();
  }

  /** Show where the text is wrong and what is wrong there; null where nothing is. */
  mark(problem) {
    this.problem = problem;
    this.#draw();
  }

  goTo(place) {
    this.area.focus();
    this.area.setSelectionRange(place.start, Math.max(place.end, place.start));
    const line = parseFloat(getComputedStyle(this.area).lineHeight);
    const top = (place.line - 1) * line;
    if (top < this.area.scrollTop || top > this.area.scrollTop + this.area.clientHeight - 2 * line) this.area.scrollTop = top - 3 * line;
  }

  #typed() {
    // A mark moves along with the text until the server has spoken again.
    this.#draw();
    this.changed(this.text);
  }

  #draw() {
    const text = this.text;
    const place = this.problem?.place ?? null;
    const marks = coloured(text);
    const cuts = new Set([0, text.length]);
    for (const [start, end] of marks) cuts.add(start).add(end);
    let from = -1, to = -1;
    if (place) {
      from = Math.min(place.start, text.length);
      to = Math.min(Math.max(place.end, from + 1), text.length);
      if (from === to && from > 0) from -= 1; // at the end of the text
      const lineEnd = text.indexOf("\n", from);
      if (lineEnd >= 0 && lineEnd < to && lineEnd > from) to = lineEnd;
      cuts.add(from).add(to);
    }
    const places = [...cuts].sort((a, b) => a - b);
    const nodes = [];
    let mark = 0;
    const endOfLine = place ? (text.indexOf("\n", from) < 0 ? text.length : text.indexOf("\n", from)) : -1;
    const lens = place ? this.#lens() : null;
    const put = (start, end, kind) => {
      if (start >= end) return;
      const node = document.createElement("span");
      node.textContent = text.slice(start, end);
      node.className = [kind, start >= from && end <= to ? "wrong" : ""].join(" ").trim();
      nodes.push(node);
    };
    for (let at = 0; at + 1 < places.length; at += 1) {
      const [start, end] = [places[at], places[at + 1]];
      while (mark < marks.length && marks[mark][1] <= start) mark += 1;
      const kind = mark < marks.length && marks[mark][0] <= start ? marks[mark][2] : "";
      if (lens && endOfLine >= start && endOfLine < end) {
        put(start, endOfLine, kind);
        nodes.push(lens);
        put(endOfLine, end, kind);
      } else put(start, end, kind);
    }
    if (lens && !nodes.includes(lens)) nodes.push(lens);
    nodes.push(document.createTextNode("\n"));
    this.under.replaceChildren(...nodes);
    const lines = text.split("\n").length;
    const wrong = place ? place.line : 0;
    if (this.drawn !== `${lines}:${wrong}`) {
      this.drawn = `${lines}:${wrong}`;
      this.gutter.replaceChildren(...Array.from({ length: lines }, (_, number) => {
        const node = document.createElement("div");
        node.textContent = number + 1;
        if (number + 1 === wrong) node.className = "wrong-line";
        return node;
      }));
    }
    this.#scrolled();
  }

  /** What is wrong, behind the end of its line: it covers nothing. */
  #lens() {
    const lens = document.createElement("span");
    lens.className = "lens";
    lens.textContent = this.problem.problem.split("\n")[0];
    return lens;
  }

  #scrolled() {
    const { scrollTop, scrollLeft } = this.area;
    this.under.style.transform = `translate(${-scrollLeft}px, ${-scrollTop}px)`;
    this.gutter.style.transform = `translateY(${-scrollTop}px)`;
  }

  #key(event) {
    const area = this.area;
    if (event.key === "Escape") this.leaving = true; // then Tab leaves the editor
    else if (event.key === "Tab" && !this.leaving && !event.ctrlKey && !event.altKey) {
      event.preventDefault();
      if (!event.shiftKey) {
        document.execCommand("insertText", false, "    ");
      } else {
        const start = area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;
        const blanks = /^ {0,4}/.exec(area.value.slice(start))[0].length;
        if (blanks) {
          const at = area.selectionStart;
          area.setSelectionRange(start, start + blanks);
          document.execCommand("delete");
          area.setSelectionRange(Math.max(start, at - blanks), Math.max(start, at - blanks));
        }
      }
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      const start = area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;
      const blanks = /^ */.exec(area.value.slice(start, area.selectionStart))[0];
      event.preventDefault();
      document.execCommand("insertText", false, `\n${blanks}`);
    } else if (event.key !== "Shift") this.leaving = false;
  }
}
