// Words that the editor colours. They mean nothing to the server.

const KEYWORDS = new Set(`
select from where group by order having limit as and or not in is null between like case when then else end distinct
with union all except intersect join left right inner outer on using cross values over window asc desc nulls first last
match_recognize partition measures pattern define subset after match skip past next row rows to per one show empty
matches omit unmatched within running final permute segment each timeout cluster sequence
seq skip_till_next_match skip_till_any_match partition_contiguity strict_contiguity return output interval
true false`.trim().split(/\s+/));

const TOKEN = /(--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|('(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?)|(`[^`]*`?)|(\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)|(:[A-Za-z_]\w*|\{\w+\})|([A-Za-z_]\w*)/g;

/** The stretches of a text that have a colour: [start, end, class]. */
export function coloured(text) {
  const found = [];
  for (const match of text.matchAll(TOKEN)) {
    const [whole, comment, string, name, number, parameter, word] = match;
    let kind = null;
    if (comment !== undefined) kind = "comment";
    else if (string !== undefined) kind = "string";
    else if (number !== undefined) kind = "number";
    else if (parameter !== undefined) kind = "parameter";
    else if (word !== undefined && KEYWORDS.has(word.toLowerCase()) && !isName(text, match.index, word)) kind = "keyword";
    else if (word !== undefined && /^\s*\(/.test(text.slice(match.index + word.length, match.index + word.length + 9))) kind = "call";
    else if (word !== undefined && word.length > 1 && word === word.toUpperCase()) kind = "variable";
    else if (name !== undefined) kind = null;
    if (kind) found.push([match.index, match.index + whole.length, kind]);
  }
  return found;
}

/** Whether a word that could be a keyword names something here: `AS end`, `first(x)`, `A.value`. */
function isName(text, at, word) {
  const before = text.slice(Math.max(0, at - 12), at);
  if (/\.\s*$/.test(before)) return true;
  if (/\bas\s+$/i.test(before)) return !/^(true|false|case|not|select|with|permute)$/i.test(word);
  return /^(first|last|left|right)$/i.test(word) && /^\s*\(/.test(text.slice(at + word.length, at + word.length + 9));
}
