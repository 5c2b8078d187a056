// @ts-check
/** The report of the page: its index, the flags of all answers, and the names of the blocks behind them. */

import { byCell } from "./flags.js";

/** @typedef {import("./contract").Index} Index */
/** @typedef {import("./contract").Cell} Cell */
/** @typedef {import("./blocks").Blocks} Blocks */

export const FORMAT = 1;
/** Columns of the list unless the reader chooses. */
const MAX_COLUMNS = 4;
/** @type {import("./contract").Answers} */
const NO_ANSWERS = { table: [], answers: [], old: {}, top: null, scores: {} };

export class Report {
  /** @type {string[]} the address of each cell: its id; two tests may have cells of one id, and `~2` is behind the second */
  addresses;

  /** @param {Index} index @param {Uint16Array} flags @param {Blocks} blocks */
  constructor(index, flags, blocks) {
    this.index = index;
    this.blocks = blocks;
    this.flags = byCell(flags, index.cells.map((cell) => index.scenarios[cell.scenario].rows));
    this.addresses = index.cells.map(({ id }, place) => {
      const before = index.cells.slice(0, place).filter((cell) => cell.id === id).length;
      return before ? `${id}~${before + 1}` : id;
    });
  }

  /** @param {Blocks} blocks @returns {Promise<Report>} */
  static async open(blocks) {
    await Promise.all([blocks.load(["ix"]), blocks.loadNumbers("fl")]);
    /** @type {Index} */
    const index = blocks.get("ix");
    if (index.format !== FORMAT) throw new Error(`the report has format ${index.format}, its viewer reads format ${FORMAT}`);
    return new Report(index, blocks.get("fl"), blocks);
  }

  /** Place of the cell at an address, -1 if there is none. @param {string} address */
  place(address) {
    return this.addresses.indexOf(address);
  }

  /** The answers of a cell in the loaded blocks, those of no row if the run folder has none. @param {number} place @returns {import("./filter").Column} */
  column(place) {
    const twin = this.twin(place);
    const own = (/** @type {number} */ cell) => ({ flags: this.flags[cell], answers: this.blocks.get(`a${cell}`) ?? NO_ANSWERS });
    return { ...own(place), before: twin < 0 ? null : own(twin) };
  }

  /** The names among these that the page has: a report may lack samples and texts. @param {string[]} names */
  existing(names) {
    return names.filter((name) => this.blocks.exists(name));
  }

  /** @param {number} place @returns {Cell} */
  cell(place) {
    return this.index.cells[place];
  }

  /** @param {number} place of a cell */
  scenario(place) {
    return this.index.scenarios[this.cell(place).scenario];
  }

  /** Place of the same cell without its perturbation, -1 if there is none. @param {number} place */
  twin(place) {
    const { scenario, strategy, model, perturbation } = this.cell(place);
    if (perturbation === null) return -1;
    return this.index.cells.findIndex(
      (cell) => cell.scenario === scenario && cell.strategy === strategy && cell.model === model && cell.perturbation === null,
    );
  }

  /**
   * Places of the cells beside the opened one: the chosen ones, else its twin, other strategies, other models.
   * @param {number} place of the opened cell, which comes first
   * @param {string[]} chosen addresses
   */
  columns(place, chosen) {
    const { cells } = this.scenario(place);
    const others = chosen.length ? cells.filter((other) => chosen.includes(this.addresses[other])) : this.#near(place);
    return [place, ...others.filter((other) => other !== place)];
  }

  /** @param {number} place */
  #near(place) {
    const { strategy, model } = this.cell(place);
    const plain = this.scenario(place).cells.filter((other) => this.cell(other).perturbation === null && other !== place);
    const twin = this.twin(place);
    const ranked = [
      ...plain.filter((other) => other === twin),
      ...plain.filter((other) => other !== twin && this.cell(other).model === model),
      ...plain.filter((other) => this.cell(other).model !== model && this.cell(other).strategy === strategy),
    ];
    return ranked.slice(0, MAX_COLUMNS - 1);
  }

  /** The cell's name in its scenario; with its model where several models are compared. @param {number} place @param {number[]} places */
  name(place, places) {
    const models = new Set(places.map((other) => this.cell(other).model));
    const { shown, model } = this.cell(place);
    return models.size > 1 ? `${shown} @ ${model}` : shown;
  }
}
