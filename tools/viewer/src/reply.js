// @ts-check
/** The reply of one cell to the opened sample. */

import { Answer } from "./answer.js";
import { answerOf, isTurned } from "./filter.js";
import { LEFT_OUT, PRESENT, SHORTENED } from "./flags.js";
import { Fold, Table } from "./fold.js";
import { number, probability } from "./format.js";
import { html } from "./html.js";
import { Prompt } from "./prompt.js";
import { Brief, Difference, Long, Text } from "./text.js";

/** @typedef {import("./contract").Reply} ReplyOf */

/**
 * @typedef {{
 *   report: import("./report").Report, place: number, row: number, rows: import("./contract").Rows, reply: ReplyOf | null,
 *   base: ReplyOf | null, column: import("./answer").Column, name: string, ownPrompt: boolean,
 * }} Props `base`: the reply that this one is compared with, or null
 */

/** @param {Props} props */
export function Reply({ report, place, row, rows, reply, base, column, name, ownPrompt }) {
  const flag = column.flags[row];
  return html`
    <article class="reply">
      <h4><${Text} text=${name} /></h4>
      <p><${Answer} column=${column} row=${row} gold=${rows.gold[row]} maximum=${200} /></p>
      <${Was} column=${column} row=${row} />
      ${(flag & LEFT_OUT) !== 0 && html`<p class="note">The text is left out: the report has a limit of size.</p>`}
      ${(flag & SHORTENED) !== 0 && html`<p class="note">The text is shortened: the report has a limit of size.</p>`}
      ${reply && (flag & PRESENT) !== 0 && html`
        <${Replies} reply=${reply} base=${base} />
        <${Facts} reply=${reply} />
        ${reply.likelihoods && html`<${Likelihoods} reply=${reply} choices=${rows.choices?.[row] ?? rows.references?.[row] ?? []} gold=${rows.gold[row]} />`}
        ${reply.probabilities && html`<${Probabilities} probabilities=${reply.probabilities} />`}
        ${reply.findings && html`<${Findings} findings=${reply.findings} />`}
        ${ownPrompt && html`<${Fold} title="prompt">${() => html`<${Prompt} report=${report} place=${place} reply=${reply} level="h5" />`}<//>`}
      `}
      <${Scores} column=${column} row=${row} />
    </article>
  `;
}

/** The text of each turn. @param {{ reply: ReplyOf, base: ReplyOf | null }} props */
function Replies({ reply, base }) {
  // Scored labels are answers without a text.
  const written = reply.finish === "scored" && reply.replies.every((text) => text === "") ? [] : reply.replies;
  const several = written.length > 1;
  return html`
    ${written.map((text, turn) => html`
      ${several && html`<p class="role">turn ${turn + 1}</p>`}
      ${base?.replies[turn] === undefined ? html`<${Long} text=${text} />` : html`<${Difference} base=${base.replies[turn]} text=${text} />`}
    `)}
    ${reply.reply !== undefined && reply.reply !== reply.replies.at(-1) && html`<p class="role">read as</p><${Long} text=${reply.reply} />`}
  `;
}

/** @param {{ reply: ReplyOf }} props */
function Facts({ reply: { finish, failure, parsed, units } }) {
  const facts = [
    failure && ["parse failure", failure],
    typeof parsed === "string" && ["parsed text", parsed],
    finish && finish !== "stop" && ["finished by", finish],
    units?.length && ["units", units.join(", ")],
  ].filter((fact) => Array.isArray(fact));
  return facts.length > 0 && html`<dl>${facts.map(([name, value]) => html`<dt>${name}</dt><dd><${Brief} text=${value} maximum=${300} /></dd>`)}</dl>`;
}

/** Choices in the order shown, with the log-likelihood of each. @param {{ reply: ReplyOf, choices: string[], gold: string }} props */
function Likelihoods({ reply: { likelihoods = [], unconditional, order }, choices, gold }) {
  const shown = order?.length ? order : likelihoods.map((_, place) => place);
  const best = Math.max(...likelihoods.map(([total]) => total ?? Number.NEGATIVE_INFINITY));
  const rows = shown.map((place) => {
    const [total, tokens] = likelihoods[place] ?? [null, 0];
    const [prior] = unconditional?.[place] ?? [null];
    return [
      html`<${Brief} text=${choices[place] ?? `#${place + 1}`} maximum=${120} />${choices[place] === gold && html` <small class="good">gold</small>`}`,
      html`${number(total)}${total === best && html` <small>max</small>`}`,
      tokens,
      number(total === null ? null : total / Math.max(1, tokens)),
      ...(unconditional ? [number(total === null || prior === null ? null : total - prior)] : []),
    ];
  });
  const head = ["choice", "log-likelihood", "tokens", "per token", ...(unconditional ? ["minus unconditional"] : [])];
  return html`<${Table} head=${head} rows=${rows} class="numbers" />`;
}

/** @param {{ findings: import("./contract").Finding[] }} props */
function Findings({ findings }) {
  return findings.map(({ role, metric, text, verdicts, program }, place) => html`
    ${(place === 0 || metric !== findings[place - 1].metric) && html`<p class="role">${role === "judge" ? "the judge" : "run"}${metric && html`: <${Text} text=${metric} />`}</p>`}
    ${program !== undefined && html`<${Fold} title="program">${() => html`<${Long} text=${program} />`}<//>`}
    ${text && html`<${Long} text=${text} />`}
    ${verdicts && html`<${Probabilities} head="verdict" probabilities=${verdicts} />`}
  `);
}

/** @param {{ probabilities: Record<string, number> | [string, import("./contract").Value][], head?: string }} props */
function Probabilities({ probabilities, head = "label" }) {
  const entries = Array.isArray(probabilities) ? probabilities : Object.entries(probabilities);
  const ranked = [...entries].sort(([, one], [, other]) => (other ?? 0) - (one ?? 0));
  return html`
    <table class="numbers probabilities">
      <thead><tr><th scope="col">${head}</th><th scope="col">probability</th></tr></thead>
      <tbody>
        ${ranked.map(([label, p]) => html`
          <tr>
            <th scope="row"><${Brief} text=${label} /></th>
            <td>${probability(p)} <svg class="bar" width="60" height="8" aria-hidden="true"><rect width=${60 * (p ?? 0)} height="8"></rect></svg></td>
          </tr>
        `)}
      </tbody>
    </table>
  `;
}

/** The answers that a flip and a perturbation changed, in words. @param {{ column: Props["column"], row: number }} props */
function Was({ column, row }) {
  const { answers, before } = column;
  const earlier = answers.old[row];
  const old = earlier === undefined ? undefined : earlier === null ? "no answer" : answers.table[earlier];
  return html`
    ${old !== undefined && html`<p class="note">before: <${Brief} text=${old} maximum=${200} /></p>`}
    ${before && isTurned(column, row) && html`<p class="note">without the perturbation: <${Brief} text=${answerOf(before.answers, row) ?? "no answer"} maximum=${200} /></p>`}
  `;
}

/** @param {{ column: Props["column"], row: number }} props */
function Scores({ column: { answers }, row }) {
  const scores = Object.entries(answers.scores).filter(([, values]) => typeof values[row] === "number");
  return scores.length > 0 && html`<${Table} head=${["score", "value"]} rows=${scores.map(([name, values]) => [html`<${Text} text=${name} />`, number(values[row])])} class="numbers" />`;
}
