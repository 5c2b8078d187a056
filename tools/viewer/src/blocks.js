// @ts-check
/**
 * The compressed blocks of the page: `<script type="text/plain" id="t17">` holds base64 of raw deflate.
 * A block is inflated when it is first needed, and kept.
 */

/** A block that cannot be read: the file was cut off or changed. */
export class DamagedBlock extends Error {}

/** @param {string} base64 @returns {Uint8Array<ArrayBuffer>} */
export function bytes(base64) {
  const binary = atob(base64.trim());
  const all = new Uint8Array(binary.length);
  for (let place = 0; place < binary.length; place++) all[place] = binary.charCodeAt(place);
  return all;
}

/** @param {string} base64 @returns {Promise<ArrayBuffer>} */
export function inflate(base64) {
  const stream = new Blob([bytes(base64)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).arrayBuffer();
}

/** The blocks of a page by name; `read` returns the text of one, null if the page has none of this name. */
export class Blocks {
  /** @type {Map<string, unknown>} */
  #values = new Map();
  /** @type {Map<string, Promise<void>>} */
  #loading = new Map();
  #read;

  /** @param {(name: string) => string | null} read */
  constructor(read) {
    this.#read = read;
  }

  /** Whether the page has this block: a report may leave texts out. @param {string} name */
  exists(name) {
    return this.#values.has(name) || this.#read(name) !== null;
  }

  /** @param {string} name */
  has(name) {
    return this.#values.has(name);
  }

  /** The value of a loaded block. @param {string} name @returns {any} */
  get(name) {
    return this.#values.get(name);
  }

  /** Load JSON blocks. @param {string[]} names @returns {Promise<void>} */
  async load(names) {
    await Promise.all(names.map((name) => this.#once(name, (buffer) => JSON.parse(new TextDecoder().decode(buffer)))));
  }

  /** Load a block of 16-bit numbers. @param {string} name @returns {Promise<void>} */
  loadNumbers(name) {
    return this.#once(name, (buffer) => numbers(buffer));
  }

  /** @param {string} name @param {(buffer: ArrayBuffer) => unknown} decode */
  #once(name, decode) {
    const known = this.#loading.get(name);
    if (known) return known;
    const loading = this.#decoded(name, decode);
    this.#loading.set(name, loading);
    return loading;
  }

  /** @param {string} name @param {(buffer: ArrayBuffer) => unknown} decode */
  async #decoded(name, decode) {
    const text = this.#read(name);
    if (text === null) throw new DamagedBlock(`block ${name} is missing`);
    try {
      this.#values.set(name, decode(await inflate(text)));
    } catch (error) {
      throw new DamagedBlock(`block ${name} cannot be read: ${error instanceof Error ? error.message : error}`);
    }
  }
}

/** Little-endian 16-bit numbers, on every machine. @param {ArrayBuffer} buffer */
export function numbers(buffer) {
  const view = new DataView(buffer);
  return Uint16Array.from({ length: buffer.byteLength >> 1 }, (_, place) => view.getUint16(2 * place, true));
}
