// @ts-check
/** A cell: above its samples gates, flips and errors, below them further charts, and on demand its numbers and how it was measured. */

import { distribution, letter, named, regression, reliability, trend } from "./charts.js";
import { Confusion } from "./confusion.js";
import { Figure } from "./figure.js";
import { Flips } from "./flips.js";
import { Fold, Table } from "./fold.js";
import { count, interval, number, probability } from "./format.js";
import { html } from "./html.js";
import { ChangeSentence, Commands, Measures, Verdicts } from "./measures.js";
import { Gaps, Shifts } from "./robustness.js";
import { Text } from "./text.js";

/** @typedef {import("./contract").Cell} CellOf */
/** @typedef {import("./charts").Size} Size */

/** What failed in a cell, and where it is wrong. @param {{ report: import("./report").Report, place: number, state: import("./fragment").State, go: import("./hooks").Go }} props */
export function Cell({ report, place, state, go }) {
  const cell = report.cell(place);
  return html`
    <${Notices} cell=${cell} />
    <${Verdicts} cell=${cell} />
    ${cell.change && html`<${ChangeSentence} change=${cell.change} against=${report.index.against} />`}
    <${Flips} report=${report} place=${place} go=${go} />
    <div class="figures">
      ${cell.confusion && html`<${Confusion} confusion=${cell.confusion} state=${state} go=${go} />`}
      ${cell.points && html`<${Regression} points=${cell.points} />`}
      ${Object.keys(cell.failures).length > 0 && html`<${Failures} failures=${cell.failures} />`}
    </div>
  `;
}

/** What stands below the samples of a cell. @param {{ report: import("./report").Report, place: number, link: (place: number, text: string) => unknown }} props */
export function Background({ report, place, link }) {
  const cell = report.cell(place);
  return html`
    <div class="figures">
      ${cell.distributions.map((each) => html`<${Scores} key=${each.metric} each=${each} />`)}
      ${cell.calibration && html`<${Calibration} calibration=${cell.calibration} />`}
      ${cell.history.length > 1 && html`<${Trend} cell=${cell} metric=${report.scenario(place).primary} />`}
      ${cell.shifts.length > 0 && html`<${Shifts} cell=${cell} link=${link} />`}
      ${cell.gaps.length > 0 && html`<${Gaps} cell=${cell} />`}
    </div>
    <${Measures} cell=${cell} />
    <${Fold} title="Signature and command">${() => html`<${Origin} cell=${cell} />`}<//>
  `;
}

/** @param {{ cell: CellOf }} props */
function Notices({ cell }) {
  return html`
    ${cell.error && html`<p class="bad"><strong>error:</strong> <${Text} text=${cell.error} /></p>`}
    ${cell.warnings.map((warning) => html`<p class="doubt"><strong>warning:</strong> <${Text} text=${warning} /></p>`)}
    ${cell.kept && html`<p class="note"><${Text} text=${cell.kept} /></p>`}
  `;
}

/** @param {{ calibration: NonNullable<CellOf["calibration"]> }} props */
function Calibration({ calibration: { bins, ece } }) {
  const rows = bins.map(({ low, high, n, confidence, accuracy }) => [`${probability(low)} to ${probability(high)}`, n, probability(confidence), probability(accuracy)]);
  const label = `Reliability: accuracy by confidence in ${bins.length} bins; expected calibration error ${number(ece)}`;
  return html`
    <${Figure} title="Reliability" label=${label} draw=${(/** @type {Size} */ size) => reliability(bins, size)} head=${["confidence", "n", "mean confidence", "accuracy"]} rows=${rows}>
      <p class="note">Expected calibration error ${number(ece)}. A number beside a dot is its n; on the dashed line confidence is right.</p>
    <//>
  `;
}

/** @param {{ cell: CellOf, metric: string }} props */
function Trend({ cell: { history, limits }, metric }) {
  const rows = history.map((point) => [named(point) || point.run, point.commit ?? "", point.date, number(point.value), interval(point), point.note && html`<${Text} text=${point.note} />`]);
  const noted = history.filter(({ note }) => note);
  const label = `Trend of ${metric} over ${history.length} runs, from ${number(history[0].value)} to ${number(history[history.length - 1].value)}`;
  return html`
    <${Figure} title="Trend" label=${label} draw=${(/** @type {Size} */ size) => trend(history, limits, metric, size)} head=${["run", "commit", "date", metric, "95 % interval", "changed"]} rows=${rows}>
      ${limits.length > 0 && html`<p class="note">Dashed across: the limit of this run's ${limits.length > 1 ? "gates" : "gate"} ${limits.map(({ gate }, place) => html`${place > 0 && ", "}<code><${Text} text=${gate} /></code>`)}</p>`}
      ${noted.map((point, place) => html`<p class="note"><strong>${letter(place)}</strong> ${named(point)}: <${Text} text=${point.note} /></p>`)}
    <//>
  `;
}

/** @param {{ points: NonNullable<CellOf["points"]> }} props */
function Regression({ points }) {
  const rows = points.gold.map((gold, place) => [gold, points.answer[place], points.n[place]]);
  const total = points.n.reduce((sum, n) => sum + n, 0);
  const exact = points.n.reduce((sum, n, place) => sum + (points.gold[place] === points.answer[place] ? n : 0), 0);
  return html`
    <${Figure} title="Gold and answer" label=${`Answers by gold value: ${exact} of ${total} are exact`} draw=${(/** @type {Size} */ size) => regression(points, size)} head=${["gold", "answer", "n"]} rows=${rows}>
      <p class="note">${count(exact)} of ${count(total)} answers are exact: they lie on the dashed line.</p>
    <//>
  `;
}

/** @param {{ each: import("./contract").Distribution }} props */
function Scores({ each }) {
  const rows = each.counts.map((n, place) => [`${number(each.edges[place])} to ${number(each.edges[place + 1])}`, n]);
  const label = `Distribution of ${each.metric} over ${each.counts.reduce((sum, n) => sum + n, 0)} samples`;
  return html`<${Figure} title=${`Distribution of ${each.metric}`} label=${label} draw=${(/** @type {Size} */ size) => distribution(each, size)} height=${220} head=${[each.metric, "samples"]} rows=${rows} />`;
}

/** @param {{ failures: Record<string, number> }} props */
function Failures({ failures }) {
  const rows = Object.entries(failures).map(([cause, n]) => [html`<${Text} text=${cause} />`, n]);
  return html`<section class="figure"><h3>Parse failures</h3><${Table} head=${["cause", "n"]} rows=${rows} class="numbers" /></section>`;
}

/** How the cell was measured. @param {{ cell: CellOf }} props */
function Origin({ cell }) {
  const computed = cell.time !== "kept" && cell.time !== "read";
  const costs = [computed && `${cell.time} s`, cell.tokens !== null && `${count(cell.tokens)} tokens`, cell.throughput].filter(Boolean);
  return html`
    ${cell.changed.length > 0 && html`<h3>Changed</h3><ul>${cell.changed.map((sentence) => html`<li><${Text} text=${sentence} /></li>`)}</ul>`}
    <h3>Command</h3>
    <${Commands} commands=${cell.commands} />
    <h3>Signature</h3>
    <${Table} head=${["part", "value"]} rows=${flat(cell.signature)} />
    ${costs.length > 0 && html`<p class="note">${costs.join(", ")}</p>`}
  `;
}

/** `a.b` and its value, for each value of a nested object. @param {Record<string, unknown>} object @param {string} path @returns {unknown[][]} */
function flat(object, path = "") {
  return Object.entries(object).flatMap(([name, value]) =>
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? flat(/** @type {Record<string, unknown>} */ (value), `${path}${name}.`)
      : [[html`<${Text} text=${path + name} />`, html`<${Text} text=${typeof value === "string" ? value : JSON.stringify(value)} />`]],
  );
}
