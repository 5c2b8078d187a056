// @ts-check
/** The answer of a cell to a sample: sign and colour, its probability, and a mark where it was changed. */

import { answerOf, isTurned } from "./filter.js";
import * as flags from "./flags.js";
import { number, probability } from "./format.js";
import { html } from "./html.js";
import { Brief } from "./text.js";

const SIGNS = { right: "\u2713", wrong: "\u2717", off: "\u2260", failed: "?", unscored: "\u2013", absent: "" };
const WORDS = { right: "right", wrong: "wrong", off: "not exact", failed: "parse failure", unscored: "not scored", absent: "absent" };

/** @typedef {import("./filter").Column & { scenario: import("./contract").Scenario }} Column */

/** @param {{ column: Column, row: number, gold: string, maximum?: number }} props */
export function Answer({ column, row, gold, maximum = 60 }) {
  const flag = column.flags[row];
  const kind = flags.standing(flag);
  if (kind === "absent") return html`<span class="note">absent</span>`;
  const answer = answerOf(column.answers, row);
  const top = column.answers.top?.[row];
  const difference = kind === "wrong" ? off(column, answer, gold) : "";
  return html`
    <span class="answer">
      <${Mark} kind=${difference ? "off" : kind} />
      ${answer === null ? html`<i>no answer</i>` : html`<${Brief} text=${answer} maximum=${maximum} />`}
      ${difference && html`<small title="answer minus gold">${difference}</small>`}
      ${typeof top === "number" && html`<small title="probability">${probability(top)}</small>`}
      <${Score} column=${column} row=${row} />
      <${Changed} column=${column} row=${row} />
    </span>
  `;
}

/** The sign of a standing; `off`: a number that is not exact. @param {{ kind: flags.Standing | "off" }} props */
export function Mark({ kind }) {
  return html`<span class=${`mark ${kind}`} role="img" aria-label=${WORDS[kind]} title=${WORDS[kind]}>${SIGNS[kind]}</span>`;
}

/** Changes by the perturbation and since the earlier run, with the answer before. @param {{ column: Column, row: number }} props */
function Changed({ column, row }) {
  const flag = column.flags[row];
  const changes = [];
  if (column.before && isTurned(column, row)) {
    changes.push({ sign: "~", words: "changed by the perturbation", old: answerOf(column.before.answers, row) });
  }
  const earlier = column.answers.old[row];
  const old = earlier === null || earlier === undefined ? null : column.answers.table[earlier];
  if (flag & flags.WORSE) changes.push({ sign: "\u25bc", words: "flip for the worse", old });
  if (flag & flags.BETTER) changes.push({ sign: "\u25b2", words: "flip for the better", old });
  return changes.map(({ sign, words, old: was }) => {
    const label = `${words}, was ${was ?? "no answer"}`;
    return html`<span class="flip" role="img" aria-label=${label} title=${label}>${sign}</span>`;
  });
}

/** The score of a free text. @param {{ column: Column, row: number }} props */
function Score({ column: { answers, scenario }, row }) {
  const score = answers.scores[scenario.primary]?.[row];
  return scenario.task === "completion" && typeof score === "number" ? html`<small title=${scenario.primary}>${number(score)}</small>` : null;
}

/** Answer minus gold, empty if one is no number. @param {Column} column @param {string | null} answer @param {string} gold */
function off({ scenario }, answer, gold) {
  const difference = scenario.task === "regression" && answer !== null ? Number(answer) - Number(gold) : Number.NaN;
  if (Number.isNaN(difference)) return "";
  return `${difference > 0 ? "+" : "\u2212"}${Number(Math.abs(difference).toPrecision(6))}`;
}
