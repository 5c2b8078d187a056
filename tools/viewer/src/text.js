// @ts-check
/** Texts of models and data, as text: hidden characters by name, no links, in a direction of their own. */

import { useState } from "preact/hooks";

import { count } from "./format.js";
import { brief, pieces, whole } from "./glyphs.js";
import { Scroller } from "./fold.js";
import { html } from "./html.js";
import { differences } from "./words.js";

/** Characters shown at first; the rest on demand, so that one reply cannot fill the page. */
const MAX_SHOWN = 20_000;
/** Characters of a name or a sentence, as in the summary. */
const MAX_NAME = 5000;
const TAGS = { same: null, shared: "span", added: "ins", removed: "del" };

/** @typedef {{ text: string, kind: import("./words").Stretch["kind"] | "shared" }} Stretch `shared`: the same in all prompts of a cell */

/** A name or a sentence. @param {{ text: string }} props */
export function Text({ text }) {
  return html`<bdi dir="auto">${glyphs(named(text))}</bdi>`;
}

/** A command in pieces that a narrow screen does not break, if a line can hold them. @param {{ text: string }} props */
export function Command({ text }) {
  const words = named(text).split(" ").map((word) => word.split(/(?=::|\[)/));
  return html`<bdi dir="auto">${words.map((word, index) => html`${index > 0 && " "}${word.map((piece) => html`<span>${glyphs(piece)}</span>`)}`)}</bdi>`;
}

/** @param {string} text */
function named(text) {
  return text.length > MAX_NAME ? `${whole(text.slice(0, MAX_NAME))}\u2026` : text;
}

/** One line of a text. @param {{ text: string, maximum?: number }} props */
export function Brief({ text, maximum }) {
  return html`<${Text} text=${brief(text, maximum)} />`;
}

/** A text of many lines. @param {{ text: string }} props */
export function Long({ text }) {
  return html`<${Stretches} stretches=${[{ text, kind: "same" }]} />`;
}

/** A text with its word differences to another. @param {{ base: string, text: string }} props */
export function Difference({ base, text }) {
  const stretches = base === text ? null : differences(base, text);
  if (base === text) return html`<p class="note">the same text</p><${Long} text=${text} />`;
  if (!stretches) return html`<${Long} text=${text} />`;
  return html`<${Stretches} stretches=${stretches} />`;
}

/** A text of many lines, in stretches of several kinds. @param {{ stretches: Stretch[] }} props */
export function Stretches({ stretches }) {
  const [all, showAll] = useState(false);
  const length = stretches.reduce((sum, { text }) => sum + text.length, 0);
  const shown = all || length <= MAX_SHOWN ? stretches : cut(stretches);
  return html`
    <${Scroller} tag="pre" class="text"><bdi dir="auto">${shown.map(({ text, kind }) => {
      const tag = TAGS[kind];
      return tag ? html`<${tag} class=${kind}>${glyphs(text)}</${tag}>` : glyphs(text);
    })}</bdi><//>
    ${shown !== stretches &&
    html`<button type="button" onClick=${() => showAll(true)}>show all ${count(length)} characters</button>`}
  `;
}

/** @param {Stretch[]} stretches @returns {Stretch[]} */
function cut(stretches) {
  let left = MAX_SHOWN;
  return stretches.flatMap(({ text, kind }) => {
    const part = whole(text.slice(0, Math.max(0, left)));
    left -= text.length;
    return part ? [{ text: part, kind }] : [];
  });
}

/** @param {string} text */
function glyphs(text) {
  return pieces(text).map((piece) =>
    piece.hidden ? html`<span class="glyph" title="characters without a picture of their own">${piece.text}</span>` : piece.text,
  );
}
