// @ts-check
import assert from "node:assert/strict";
import test from "node:test";
import { deflateRawSync } from "node:zlib";

import { Blocks, bytes, DamagedBlock, inflate, numbers } from "../src/blocks.js";

/** @param {string | Uint8Array} data */
const packed = (data) => deflateRawSync(data).toString("base64");

test("a block is inflated to the bytes that were packed", async () => {
  const data = Uint8Array.from({ length: 70_000 }, (_, place) => (place * 31) % 256);
  assert.deepEqual(new Uint8Array(await inflate(packed(data))), data);
});

test("base64 may have blanks around it", () => assert.deepEqual(bytes(" AQI=\n"), Uint8Array.of(1, 2)));

test("numbers are little-endian", () => assert.deepEqual([...numbers(Uint8Array.of(1, 2, 255, 3).buffer)], [513, 1023]));

test("a block is read once", async () => {
  let times = 0;
  const blocks = new Blocks(() => (times++, packed('{"a": ["\u00e4", "\\ud800"]}')));
  assert.equal(blocks.has("x"), false);
  await Promise.all([blocks.load(["x"]), blocks.load(["x"])]);
  assert.deepEqual(blocks.get("x"), { a: ["\u00e4", "\ud800"] });
  assert.equal(times, 1);
});

for (const [what, text] of /** @type {[string, string | null][]} */ ([
  ["missing", null],
  ["no base64", "&"],
  ["cut off", packed("{}".repeat(500)).slice(0, 8)],
  ["no JSON", packed("{")],
])) {
  test(`a block that is ${what} is an error with its name`, async () => {
    await assert.rejects(new Blocks(() => text).load(["t3"]), (error) => error instanceof DamagedBlock && /block t3/.test(error.message));
  });
}
