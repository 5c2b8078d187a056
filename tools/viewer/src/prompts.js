// @ts-check
/** The prompts of a reply, joined from the parts that all prompts of the cell share and its own pieces. */

/** @typedef {import("./contract").Shared} Shared */
/** @typedef {import("./contract").Part} Part */

/**
 * A part of a message: `own` is text of this sample alone.
 * @typedef {{ text: string, own: boolean }} Stretch
 * @typedef {{ role: string, stretches: Stretch[] }} Message
 */

/**
 * The messages of each turn; null for a turn with the same prompt as the turn before.
 * @param {(Part[] | null)[]} prompts @param {Shared} shared @param {string[]} pieces
 * @returns {(Message[] | null)[]}
 */
export function turns(prompts, shared, pieces) {
  let turn = -1; // a repeated prompt is no turn of its own
  return prompts.map((parts) =>
    parts === null ? null : joined(parts, shared.start[++turn] ?? [], shared.end[turn] ?? "", pieces),
  );
}

/** The text of this sample alone. @param {(Part[] | null)[]} prompts @param {string[]} pieces */
export function ownText(prompts, pieces) {
  return prompts
    .flatMap((parts) => parts ?? [])
    .map(([, piece]) => pieces[piece] ?? "")
    .join("\n");
}

/** The whole text of all prompts. @param {(Part[] | null)[]} prompts @param {Shared} shared @param {string[]} pieces */
export function wholeText(prompts, shared, pieces) {
  return turns(prompts, shared, pieces)
    .flatMap((messages) => messages ?? [])
    .map(({ role, stretches }) => `${role}: ${stretches.map(({ text }) => text).join("")}`)
    .join("\n\n");
}

/** @param {Part[]} parts @param {[string, string][]} start @param {string} end @param {string[]} pieces @returns {Message[]} */
function joined(parts, start, end, pieces) {
  const messages = start.map(([role, text]) => ({ role, stretches: [{ text, own: false }] }));
  for (const [role, piece] of parts) {
    const stretch = { text: pieces[piece] ?? "", own: true };
    const last = messages.at(-1);
    if (role === null && last) last.stretches.push(stretch);
    else messages.push({ role: role ?? "", stretches: [stretch] });
  }
  messages.at(-1)?.stretches.push({ text: end, own: false });
  return messages.map(({ role, stretches }) => ({ role, stretches: stretches.filter(({ text }) => text) }));
}
