// @ts-check
/** The charts of a cell, drawn by Observable Plot in colours of the page's tokens. */

import * as Plot from "@observablehq/plot";

/** @typedef {import("./contract").Bin} Bin */
/** @typedef {import("./contract").Point} Point */
/** @typedef {import("./contract").Shift} Shift */
/** @typedef {import("./contract").Cell} Cell */
/** @typedef {{ width: number, height: number }} Size in pixels */

/** A fixed class: Plot then inserts the same style into each chart, and the page's policy allows its hash. */
const COMMON = { className: "plot", marginLeft: 48, marginTop: 24, marginBottom: 36 };
const SERIES = "var(--series)";
const REFERENCE = "var(--reference)";
/** Pixels of a day below its place, with the gap to the next one. */
const DAY = 84;
const LIMIT = "var(--bad)";

/** Accuracy by confidence; the size of a dot is the number of answers. @param {Bin[]} bins @param {Size} size */
export function reliability(bins, size) {
  const filled = bins.filter((bin) => bin.n > 0);
  return Plot.plot({
    ...COMMON,
    ...size,
    x: { domain: [0, 1], label: "confidence", ticks: 5 },
    y: { domain: [0, 1], label: "accuracy", ticks: 5, grid: true },
    r: { range: [3, 12] },
    marks: [
      Plot.line([[0, 0], [1, 1]], { stroke: REFERENCE, strokeDasharray: "4 4" }),
      Plot.ruleX(filled, { x: "confidence", y1: "confidence", y2: "accuracy", stroke: SERIES, strokeOpacity: 0.5 }),
      Plot.dot(filled, { x: "confidence", y: "accuracy", r: "n", fill: SERIES, stroke: "var(--surface)" }),
      Plot.text(filled, { x: "confidence", y: "accuracy", text: "n", dy: -16, fill: "var(--muted)" }),
    ],
  });
}

/**
 * The metric by run: a dashed line with a letter where the signature changed, and one across at the limit of each gate.
 * @param {Point[]} points @param {import("./contract").Limit[]} limits @param {string} metric @param {Size} size
 */
export function trend(points, limits, metric, size) {
  const numbered = points.map((point, place) => ({ ...point, place }));
  const noted = numbered.filter((point) => point.note);
  return Plot.plot({
    ...COMMON,
    ...size,
    marginBottom: 52, // two lines below each place, and the label below them
    x: { label: "run", type: "linear", domain: [-0.5, Math.max(0.5, points.length - 0.5)], ticks: ticks(points.length, Math.floor(size.width / DAY)), tickFormat: (/** @type {number} */ place) => origin(points[place]) },
    y: { label: metric, grid: true, nice: true, ticks: 5 },
    marks: [
      Plot.ruleX(noted, { x: "place", stroke: REFERENCE, strokeDasharray: "3 3" }),
      Plot.ruleY(limits, { y: "value", stroke: LIMIT, strokeDasharray: "6 3" }),
      Plot.text(limits, { y: "value", frameAnchor: "left", text: "gate", textAnchor: "start", dx: 4, dy: -7, fill: LIMIT, stroke: "var(--page)", strokeWidth: 3 }),
      Plot.text(noted, { x: "place", frameAnchor: "top", text: (_, place) => letter(place), dy: -10, fill: "var(--muted)" }),
      Plot.ruleX(numbered.filter((point) => point.low !== null), { x: "place", y1: "low", y2: "high", stroke: SERIES, strokeOpacity: 0.45, strokeWidth: 2 }),
      Plot.line(numbered, { x: "place", y: "value", stroke: SERIES }),
      Plot.dot(numbered, { x: "place", y: "value", fill: SERIES, r: 3 }),
    ],
  });
}

/** Changes by perturbation, with their intervals. @param {Shift[]} shifts @param {string} metric @param {Size} size */
export function changes(shifts, metric, size) {
  const rows = shifts.map(({ perturbation, change }) => ({ perturbation, ...change }));
  const known = rows.filter((row) => row.low !== null && row.high !== null);
  return Plot.plot({
    ...COMMON,
    ...size,
    marginLeft: 120,
    x: { label: `change of ${metric}`, grid: true, nice: true, ticks: 5 },
    y: { label: null, domain: shifts.map(({ perturbation }) => perturbation), tickFormat: (/** @type {string} */ name) => short(name) },
    marks: [
      Plot.ruleX([rows.some((row) => row.quotient) ? 1 : 0], { stroke: REFERENCE, strokeDasharray: "4 4" }),
      Plot.ruleY(known, { y: "perturbation", x1: "low", x2: "high", stroke: SERIES, strokeOpacity: 0.5, strokeWidth: 3 }),
      Plot.dot(rows, { y: "perturbation", x: "value", fill: SERIES, r: 4 }),
    ],
  });
}

/** Answers by ground truth; the size of a dot is their number. @param {NonNullable<Cell["points"]>} points @param {Size} size */
export function regression(points, size) {
  const dots = points.gold.map((gold, place) => ({ gold, answer: points.answer[place], n: points.n[place] }));
  const all = [...points.gold, ...points.answer];
  const range = [Math.min(...all), Math.max(...all)];
  return Plot.plot({
    ...COMMON,
    ...size,
    x: { label: "gold", nice: true, ticks: 6, domain: range },
    y: { label: "answer", grid: true, nice: true, ticks: 6, domain: range },
    r: { range: [2, 12] },
    marks: [
      Plot.line(range.map((end) => [end, end]), { stroke: REFERENCE, strokeDasharray: "4 4" }),
      Plot.dot(dots, { x: "gold", y: "answer", r: "n", fill: SERIES, fillOpacity: 0.6, stroke: "var(--surface)" }),
    ],
  });
}

/** How many samples have which score. @param {import("./contract").Distribution} distribution @param {Size} size */
export function distribution({ metric, edges, counts }, size) {
  const bars = counts.map((n, place) => ({ n, low: edges[place], high: edges[place + 1] }));
  return Plot.plot({
    ...COMMON,
    ...size,
    x: { label: metric, ticks: 6 },
    y: { label: "samples", grid: true, ticks: 5 },
    marks: [Plot.rectY(bars, { x1: "low", x2: "high", y: "n", fill: SERIES, inset: 0.5 }), Plot.ruleY([0], { stroke: REFERENCE })],
  });
}

/** The number or the date of a run. @param {Point | undefined} point */
export function named(point) {
  return point === undefined ? "" : point.number === null ? point.date.slice(0, 10) : `#${point.number}`;
}

/** The commit and the day of a run, in two lines. @param {Point | undefined} point */
function origin(point) {
  if (point === undefined) return "";
  const day = point.date.slice(0, 10);
  return point.commit ? `${point.commit.split("@").at(-1)}\n${day}` : day;
}

/** a, b, c. @param {number} place */
export function letter(place) {
  return String.fromCharCode(97 + (place % 26));
}

/** At most so many places of runs, the last one included. @param {number} length @param {number} most */
function ticks(length, most) {
  const step = Math.max(1, Math.ceil(length / most));
  return Array.from({ length }, (_, place) => place).filter((place) => (length - 1 - place) % step === 0);
}

/** @param {string} name */
function short(name) {
  return name.length > 17 ? `${name.slice(0, 16)}\u2026` : name;
}
