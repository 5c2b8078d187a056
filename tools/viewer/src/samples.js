// @ts-check
/** The samples of a cell: filters, list, and the opened sample. */

import { useEffect, useMemo, useState } from "preact/hooks";

import { Answer } from "./answer.js";
import { Download } from "./download.js";
import { counts, isTurned, passing } from "./filter.js";
import * as flags from "./flags.js";
import { count } from "./format.js";
import { brief } from "./glyphs.js";
import { useBlocks } from "./hooks.js";
import { html } from "./html.js";
import { List } from "./list.js";
import { find, golds, named } from "./rows.js";
import { Sample } from "./sample.js";
import { hits } from "./search.js";
import { offerSamples } from "./summary.js";
import { Chips, Columns, Search, Selects, toggled } from "./toolbar.js";

/** Time between two letters before all texts are searched. */
const PAUSE_MS = 150;

/** @typedef {{ report: import("./report").Report, place: number, state: import("./fragment").State, go: import("./hooks").Go, commands: { current: Record<string, () => void> } }} Props */

/** @param {Props} props */
export function Samples(props) {
  const { report, place, state } = props;
  const columns = useMemo(() => report.columns(place, state.columns), [report, place, state.columns.join()]);
  const cells = [...new Set([...columns, ...columns.map((column) => report.twin(column))])].filter((cell) => cell >= 0);
  const blocks = useBlocks(report.blocks, report.existing([`r${report.cell(place).scenario}`, ...cells.map((cell) => `a${cell}`)]));
  if (!report.blocks.exists(`a${place}`)) return html`<p class="note">The report has no samples of this cell.</p>`;
  if (!blocks) return html`<p class="note" aria-busy="true">loading the samples ...</p>`;
  return html`<${Loaded} ...${props} columns=${columns} />`;
}

/** @param {Props & { columns: number[] }} props */
function Loaded({ report, place, state, go, commands, columns }) {
  const { blocks } = report;
  const rows = /** @type {import("./contract").Rows} */ (blocks.get(`r${report.cell(place).scenario}`));
  const scenario = report.scenario(place);
  /** @param {number} cell @returns {import("./answer").Column} */
  const column = (cell) => ({ ...report.column(cell), scenario });
  const beside = columns.length === scenario.cells.length ? null : columns.filter((cell) => cell !== place).map(column);
  const subject = useMemo(() => ({ ...column(place), rows, beside }), [place, columns]);
  const amounts = useMemo(() => counts(subject), [subject]);
  const [found, searching] = useSearch(report, place, state);
  const { chips, gold, answer, q } = state;
  const passed = useMemo(() => passing(subject, { chips, gold, answer, query: q, hits: found }), [subject, chips.join(), gold, answer, q, found]);
  const opened = find(rows, state.row, state.trial);
  const [focus, setFocus] = useState(/** @type {number | null} */ (null));
  const [cursor, setCursor] = useState(-1);
  const [said, say] = useState("");
  useEffect(offerSamples, []);

  /** @param {number} row @param {boolean} [replace] */
  const open = (row, replace = false) => {
    setCursor(row);
    say(`sample ${brief(named(rows, row))}, ${passed.indexOf(row) + 1} of ${passed.length}`);
    go({ row: rows.ids[row], trial: (rows.trials?.[row] ?? 0) + 1 }, { replace });
  };
  const close = () => {
    setFocus(opened);
    go({ row: "", trial: 1 });
  };
  const isFlip = (/** @type {number} */ row) => (subject.flags[row] & (flags.WORSE | flags.BETTER)) !== 0 || isTurned(subject, row);
  /** The nearest row of the list in a direction that meets a condition. @param {1 | -1} step @param {(row: number) => boolean} [meets] */
  const next = (step, meets = () => true) => {
    const from = passed.indexOf(opened >= 0 ? opened : cursor);
    const ahead = step > 0 ? passed.slice(from + 1) : passed.slice(0, Math.max(0, from)).reverse();
    return ahead.find(meets);
  };
  /** @param {1 | -1} step */
  const move = (step) => {
    const row = next(step);
    if (row === undefined) return say(step > 0 ? "the last sample" : "the first sample");
    if (opened >= 0) return open(row, true);
    setCursor(row);
    setFocus(row);
  };
  /** @param {1 | -1} step */
  const flip = (step) => {
    const row = next(step, isFlip);
    if (row === undefined) say("no further flip among the listed samples");
    else open(row, opened >= 0);
  };
  commands.current = {
    next: () => move(1),
    previous: () => move(-1),
    nextFlip: () => flip(1),
    previousFlip: () => flip(-1),
    open: () => (opened >= 0 ? close() : passed.length && open(passed.includes(cursor) ? cursor : passed[0])),
    close: () => opened >= 0 && close(),
    ...Object.fromEntries(["wrong", "failed", "worse", "differ"].map((name) => [name, () => go({ chips: toggled(chips, name) })])),
  };

  const items = useMemo(() => passed.map((row) => ({ row, id: named(rows, row), text: rows.texts?.[row] ?? "", gold: golds(rows, row).join(" | ") })), [passed]);
  const heads = columns.map((key) => ({ key, name: report.name(key, columns) }));
  const cellsOf = new Map(columns.map((key) => [key, column(key)]));
  const value = (/** @type {number} */ row, /** @type {number} */ key) => html`<${Answer} column=${cellsOf.get(key)} row=${row} gold=${rows.gold[row]} />`;
  const total = amounts.all;
  const filtered = chips.length > 0 || gold !== undefined || answer !== undefined || q !== "";
  return html`
    <h3 id="samples" tabindex="-1">Samples</h3>
    <${Chips} counts=${amounts} state=${state} go=${go} task=${scenario.task} perturbed=${subject.before !== null} />
    <div class="tools">
      <${Selects} subject=${subject} state=${state} go=${go} />
      <${Search} state=${state} go=${go} searching=${searching} />
      <span class="amount" role="status">${count(passed.length)} of ${count(total)} samples</span>
      ${filtered && html`<button type="button" onClick=${() => go({ chips: [], gold: undefined, answer: undefined, q: "" })}>clear filters</button>`}
      <${Download} ...${{ report, place, rows, listed: passed, columns }} />
      <${Columns} report=${report} place=${place} columns=${columns} go=${go} />
    </div>
    <${List} ...${{ items, total, texts: Boolean(rows.texts), opened, focus, value, open }} columns=${heads} focused=${() => setFocus(null)} />
    <div class="steps">
      <button type="button" onClick=${() => move(-1)} aria-keyshortcuts="k">previous</button>
      <button type="button" onClick=${() => move(1)} aria-keyshortcuts="j">next</button>
      <button type="button" onClick=${() => flip(-1)} aria-keyshortcuts="p">previous flip</button>
      <button type="button" onClick=${() => flip(1)} aria-keyshortcuts="n">next flip</button>
      <span class="note" role="status">${said}</span>
    </div>
    ${opened >= 0 && html`<${Sample} ...${{ report, rows, row: opened, columns, column, state, go, close }} />`}
    ${state.row && opened < 0 && html`<p class="doubt">The scenario has no sample of the address.</p>`}
  `;
}

/** Rows whose texts hold the search, null without one. @param {Props["report"]} report @param {number} place @param {Props["state"]} state @returns {[Set<number> | null, boolean]} */
function useSearch(report, place, state) {
  const query = state.texts ? state.q.trim() : "";
  const [done, finish] = useState({ query: "", place: -1, rows: /** @type {Set<number> | null} */ (null) });
  const [prompts, replies] = useMemo(() => [
    report.existing([`s${report.cell(place).scenario}`]),
    report.existing(report.scenario(place).cells.map((cell) => `t${cell}`)),
  ], [place]);
  // Texts load as soon as the reader asks for their search, before the first letter.
  const texts = useBlocks(report.blocks, state.texts ? [...prompts, ...replies] : []);
  useEffect(() => {
    if (!query || !texts) return;
    const pieces = prompts.flatMap((name) => report.blocks.get(name).pieces);
    const cells = replies.map((name) => report.blocks.get(name));
    const wait = setTimeout(() => finish({ query, place, rows: hits(query, pieces, cells) }), PAUSE_MS);
    return () => clearTimeout(wait);
  }, [query, place, texts === null]);
  const current = query !== "" && done.query === query && done.place === place;
  return [current ? done.rows : null, query !== "" && !current];
}
