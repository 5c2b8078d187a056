// @ts-check
/** The prompt of a reply: what all prompts of the cell share is folded. */

import { Fold } from "./fold.js";
import { count } from "./format.js";
import { useBlocks } from "./hooks.js";
import { html } from "./html.js";
import { ownText, turns } from "./prompts.js";
import { Difference, Long, Stretches, Text } from "./text.js";

/** Characters of a shared part that is shown with the own text. */
const MAX_SHARED = 200;

/** @typedef {import("./report").Report} Report */
/** @typedef {import("./contract").Reply} ReplyOf */
/** @typedef {import("./prompts").Message} Message */

/** @param {{ report: Report, place: number, reply: ReplyOf, level?: string }} props */
export function Prompt({ report, place, reply, level = "h4" }) {
  const scenario = report.cell(place).scenario;
  const loaded = useBlocks(report.blocks, report.existing([`h${place}`, `s${scenario}`]));
  if (!loaded) return null;
  const shared = report.blocks.get(`h${place}`) ?? { start: [], end: [] };
  const messages = turns(reply.prompts, shared, report.blocks.get(`s${scenario}`)?.pieces ?? []);
  if (!messages.some((turn) => turn?.length)) return null;
  return html`
    <div class="prompt">
      ${messages.map((turn, place) => html`
        <${level}>Prompt${messages.length > 1 && ` of turn ${place + 1}`}<//>
        ${turn === null ? html`<p class="note">the same prompt as the turn before</p>` : grouped(turn).map((group) => html`<${Group} group=${group} />`)}
      `)}
    </div>
  `;
}

/** The word differences of a perturbed prompt. @param {{ report: Report, row: number, place: number, twin: number }} props */
export function PromptDifference({ report, row, place, twin }) {
  const scenario = report.cell(place).scenario;
  const names = [`s${scenario}`, `t${place}`, `t${twin}`];
  const loaded = useBlocks(report.blocks, report.existing(names));
  if (!loaded || loaded.length < names.length) return null;
  const [{ pieces }, texts, others] = /** @type {[import("./contract").Pieces, import("./contract").Texts, import("./contract").Texts]} */ (loaded);
  const [reply, other] = [texts.rows[row], others.rows[row]];
  if (!reply?.prompts.length || !other?.prompts.length) return null;
  return html`
    <h4>What the perturbation changed</h4>
    <${Difference} base=${ownText(other.prompts, pieces)} text=${ownText(reply.prompts, pieces)} />
  `;
}

/** Messages of the cell alone in one group, each message of the sample in one of its own. @param {Message[]} turn @returns {Message[][]} */
function grouped(turn) {
  const own = turn.findIndex(({ stretches }) => stretches.some((stretch) => stretch.own));
  const shared = own < 0 ? turn : turn.slice(0, own);
  return [...(shared.length ? [shared] : []), ...(own < 0 ? [] : turn.slice(own).map((message) => [message]))];
}

/** @param {{ group: Message[] }} props */
function Group({ group }) {
  const [message] = group;
  if (message.stretches.some(({ own }) => own)) return html`<${Own} message=${message} />`;
  const length = group.flatMap(({ stretches }) => stretches).reduce((sum, { text }) => sum + text.length, 0);
  const title = `${group.length > 1 ? `${group.length} messages` : message.role} shared by all prompts of the cell, ${count(length)} characters`;
  return html`
    <${Fold} title=${title}>${() => group.map(({ role, stretches }) => html`
      <p class="role"><${Text} text=${role} /></p>
      ${stretches.map(({ text }) => html`<${Long} text=${text} />`)}
    `)}<//>
  `;
}

/** A message of the sample; a long shared part of it is folded. @param {{ message: Message }} props */
function Own({ message: { role, stretches } }) {
  const [first, last] = [stretches[0], stretches[stretches.length - 1]];
  const shown = stretches.filter((stretch) => !isLong(stretch));
  return html`
    <p class="role"><${Text} text=${role} /></p>
    ${isLong(first) && html`<${Hidden} title="shared beginning" stretch=${first} />`}
    <${Stretches} stretches=${shown.map(({ text, own }) => ({ text, kind: own ? "same" : "shared" }))} />
    ${last !== first && isLong(last) && html`<${Hidden} title="shared end" stretch=${last} />`}
  `;
}

/** @param {{ title: string, stretch: import("./prompts").Stretch }} props */
function Hidden({ title, stretch: { text } }) {
  return html`<${Fold} title=${`${title}, ${count(text.length)} characters`}>${() => html`<${Long} text=${text} />`}<//>`;
}

/** @param {import("./prompts").Stretch} stretch */
function isLong({ text, own }) {
  return !own && text.length > MAX_SHARED;
}
