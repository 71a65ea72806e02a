// What the page asks the server. All addresses are below the one of the page, which holds the token.

/** This tab, for the server: a run of it ends an older one of it, and of no other. */
export const TAB = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

function post(path, values, signal) {
  return fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ tab: TAB, ...values }),
    signal,
  });
}

/** An answer to a question; throws where the server is gone. */
export async function ask(path, values) {
  const answer = values === undefined ? await fetch(path) : await post(path, values);
  return answer.json();
}

/** The events of a run, one after the other. */
export async function* events(path, values, signal) {
  const answer = await post(path, values, signal);
  if (!answer.ok) {
    yield { event: "failed", ...(await answer.json().catch(() => ({ problem: "The studio refused this.", cure: "", place: null }))) };
    return;
  }
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const lines = rest.split("\n");
    rest = lines.pop();
    for (const line of lines) if (line) yield JSON.parse(line);
  }
}
