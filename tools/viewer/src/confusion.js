// @ts-check
/** The confusion matrix, gold by answer. A click filters the samples. */

import { Fold, Scroller, Table } from "./fold.js";
import { count, percent } from "./format.js";
import { html } from "./html.js";
import { Brief } from "./text.js";

/** Labels beyond which the matrix is a list of its largest entries. */
const MAX_LABELS = 16;
const MAX_PAIRS = 30;
const SHADES = 10;

/** @typedef {{ confusion: import("./contract").Confusion, state: import("./fragment").State, go: import("./hooks").Go }} Props */

/** @param {Props} props */
export function Confusion(props) {
  const large = Math.max(props.confusion.gold.length, props.confusion.answers.length) > MAX_LABELS;
  return html`
    <section class="figure">
      <h3>Confusion matrix</h3>
      <p class="note">Rows are gold labels; a shade is the share of its row. A number filters the samples.</p>
      ${large ? html`<${Pairs} ...${props} />` : html`<${Matrix} ...${props} />`}
    </section>
  `;
}

/** @param {Props} props */
function Matrix({ confusion, state, go }) {
  return html`
    <${Scroller} class="wide"><table class="confusion">
      <thead>
        <tr>
          <th scope="col">gold</th>
          ${confusion.answers.map((answer) => html`<th scope="col"><${Brief} text=${answer} maximum=${24} /></th>`)}
          <th scope="col">n</th>
        </tr>
      </thead>
      <tbody>
        ${confusion.gold.map((gold, row) => {
          const total = sum(confusion.counts[row]);
          return html`
            <tr>
              <th scope="row"><${Brief} text=${gold} maximum=${24} /></th>
              ${confusion.counts[row].map((n, column) => html`
                <td class=${n ? `shade-${shade(n, total)}` : ""}><${Entry} ...${{ confusion, state, go, row, column, n, total }} /></td>
              `)}
              <td class="total">${count(total)}</td>
            </tr>
          `;
        })}
      </tbody>
    </table><//>
  `;
}

/** @param {Props & { row: number, column: number, n: number, total: number }} props */
function Entry({ confusion, state, go, row, column, n, total }) {
  if (!n) return html`<span class="none">0</span>`;
  const filter = { gold: confusion.gold[row], answer: answerAt(confusion, column) };
  const pressed = state.gold === filter.gold && state.answer === filter.answer;
  const label = `gold ${confusion.gold[row]}, answer ${confusion.answers[column]}: ${n}, ${percent(n / total)} of ${total}`;
  const onClick = () => go(pressed ? { gold: undefined, answer: undefined } : filter);
  const right = confusion.gold[row] === filter.answer;
  return html`
    <button type="button" class=${right ? "entry right" : "entry"} aria-pressed=${pressed} aria-label=${label} onClick=${onClick}>
      ${count(n)} <small>${percent(n / total)}</small>
    </button>
  `;
}

/** The most frequent pairs of different labels. @param {Props} props */
function Pairs({ confusion, state, go }) {
  const pairs = confusion.counts.flatMap((counts, row) =>
    counts.map((n, column) => ({ row, column, n, total: sum(counts) })).filter(({ n, column }) => n && confusion.gold[row] !== answerAt(confusion, column)),
  );
  const largest = pairs.sort((one, other) => other.n - one.n).slice(0, MAX_PAIRS);
  const rows = largest.map((pair) => [
    html`<${Brief} text=${confusion.gold[pair.row]} maximum=${40} />`,
    html`<${Brief} text=${confusion.answers[pair.column]} maximum=${40} />`,
    html`<${Entry} ...${{ confusion, state, go, ...pair }} />`,
  ]);
  const title = `the ${largest.length} most frequent of ${pairs.length} confusions`;
  return html`<${Fold} title=${title} open=${true}>${() => html`<${Table} head=${["gold", "answer", "n"]} rows=${rows} />`}<//>`;
}

/** The answer that filters: "" for none. @param {import("./contract").Confusion} confusion @param {number} column */
function answerAt(confusion, column) {
  return column === confusion.answers.length - 1 ? "" : confusion.answers[column];
}

/** @param {number} n @param {number} total */
function shade(n, total) {
  return Math.min(SHADES - 1, Math.floor((SHADES * n) / total));
}

/** @param {number[]} counts */
function sum(counts) {
  return counts.reduce((total, n) => total + n, 0);
}
