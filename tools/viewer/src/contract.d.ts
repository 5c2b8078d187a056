/**
 * The blocks of the report, as pytest_puma/report/page writes them. A row is a sample and trial of a scenario.
 * The pages of a run are data from outside: every text may be hostile.
 */

/** A number; null for one that does not exist. */
export type Value = number | null;

export interface Index {
  format: number;
  run: Run;
  /** What changes and flips refer to. */
  against: string | null;
  /** `megabytes` is null if all texts are left out because the run's options ask for it. */
  left_out: { texts: number; shortened: number; megabytes: number | null } | null;
  scenarios: Scenario[];
  cells: Cell[];
}

export interface Run {
  id: string;
  started: string | null;
  number: number | null;
  commit: string | null;
  branch: string | null;
  dirty: boolean | null;
  seconds: number | null;
}

export interface Scenario {
  name: string;
  task: "classification" | "regression" | "choice" | "completion";
  labels: string[];
  ordered: boolean;
  primary: string;
  better: string;
  rows: number;
  cells: number[];
}

export interface Measure {
  metric: string;
  value: Value;
  low: Value;
  high: Value;
  n: number;
  note: string;
  better: string;
  unit: string;
}

export interface Change {
  metric: string;
  old: Value;
  new: Value;
  value: Value;
  low: Value;
  high: Value;
  n: number;
  worse: number;
  better: number;
  approximate: boolean;
  quotient: boolean;
}

export interface Verdict {
  gate: string;
  /** The number that a gate on a baseline or on another program comes to. */
  limit: Value;
  status: string;
  reason: string;
  fails: boolean;
}

export interface Confusion {
  gold: string[];
  /** The last one stands for no answer. */
  answers: string[];
  counts: number[][];
}

export interface Bin {
  low: number;
  high: number;
  n: number;
  confidence: Value;
  accuracy: Value;
}

export interface Shift {
  perturbation: string;
  cell: number | null;
  change: Change;
  fixed: number;
  broken: number;
  still_wrong: number;
  p: Value;
  adjusted: Value;
}

export interface Gap {
  axis: string;
  old: string;
  new: string;
  change: Change;
}

export interface Point {
  run: string;
  number: number | null;
  commit: string | null;
  date: string;
  value: Value;
  low: Value;
  high: Value;
  note: string;
}

/** A gate on the primary metric, and its limit on the scale of the metric. */
export interface Limit {
  gate: string;
  value: number;
}

export interface Distribution {
  metric: string;
  edges: number[];
  counts: number[];
}

export interface Cell {
  id: string;
  scenario: number;
  strategy: string;
  perturbation: string | null;
  model: string;
  shown: string;
  measures: Measure[];
  verdicts: Verdict[];
  change: Change | null;
  confusion: Confusion | null;
  calibration: { bins: Bin[]; ece: Value } | null;
  points: { gold: number[]; answer: number[]; n: number[] } | null;
  distributions: Distribution[];
  failures: Record<string, number>;
  shifts: Shift[];
  gaps: Gap[];
  history: Point[];
  limits: Limit[];
  naive: { name: string; measures: Measure[] }[];
  warnings: string[];
  kept: string | null;
  seconds: number | null;
  /** The seconds as the tables have them; `kept` or `read` if no answer was computed. */
  time: string;
  tokens: number | null;
  /** Empty if some answers were not computed. */
  throughput: string;
  signature: Record<string, unknown>;
  changed: string[];
  /** `reproduce`, and `accept` where a gate on the baseline fails the cell. */
  commands: Record<string, string>;
  error: string | null;
}

/** Block r: the rows of a scenario. A list is null if no row has a value in it. */
export interface Rows {
  ids: string[];
  trials: number[] | null;
  gold: string[];
  references: string[][] | null;
  choices: string[][] | null;
  groups: Record<string, string>[] | null;
  /** The beginning of each sample. */
  texts: string[] | null;
}

/** Block a: the answers of a cell, by row. Lists over rows may end early: missing places are null. */
export interface Answers {
  table: string[];
  answers: Value[];
  /** Answers of `Index.against` in rows that flipped. */
  old: Record<string, number | null>;
  top: Value[] | null;
  scores: Record<string, Value[]>;
}

/** Block s: the own parts of prompts. */
export interface Pieces {
  pieces: string[];
}

/** Block h: beginning and end that all prompts of a cell share, by turn. */
export interface Shared {
  start: [role: string, text: string][][];
  end: string[];
  /** The same of the run with the old answers of flips, and its name. */
  old?: { start: Shared["start"]; end: string[]; run: string };
}

/** A piece of a prompt: a message of its own, or, without a role, the continuation of the last shared message. */
export type Part = [role: string | null, piece: number];

export interface Reply {
  replies: string[];
  reply?: string;
  prompts: (Part[] | null)[];
  finish: string;
  failure: string | null;
  parsed: string | null;
  probabilities?: Record<string, number>;
  likelihoods?: [total: Value, tokens: number][];
  unconditional?: [total: Value, tokens: number][];
  order?: number[];
  units?: string[];
  findings?: Finding[];
  /** That of the earlier run, if the answer flipped and the project still has it. */
  old?: Reply;
}

/** What a judge wrote, with the probabilities of its verdicts, or a program that ran, with what it wrote. */
export interface Finding {
  role: "judge" | "sandbox";
  /** Empty for a program, which several metrics may need. */
  metric: string;
  text: string;
  verdicts?: [verdict: string, probability: Value][];
  program?: string;
}

/** Block t: the texts of a cell, by row. */
export interface Texts {
  rows: (Reply | null)[];
}
