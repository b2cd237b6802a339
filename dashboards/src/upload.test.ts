import assert from "node:assert/strict";
import { test } from "node:test";
import { kPartBytes, partsOf } from "./upload";

const decoded = (data: string) => Uint8Array.from(atob(data), (one) => one.charCodeAt(0));

test("the parts of a file are the file, and the last one says so", () => {
  for (const size of [1, kPartBytes, kPartBytes + 1, 3 * kPartBytes - 7]) {
    const file = Uint8Array.from({ length: size }, (_, i) => (i * 31) % 256);
    const parts = [...partsOf(file)];
    assert.deepEqual(parts.map((one) => one.offset), parts.map((_, i) => i * kPartBytes));
    assert.deepEqual(parts.map((one) => one.last), parts.map((_, i) => i === parts.length - 1));
    const joined = new Uint8Array(size);
    for (const part of parts) joined.set(decoded(part.data), part.offset);
    assert.deepEqual(joined, file);
    assert.ok(parts.every((one) => JSON.stringify(one).length < 64 * 1024));
  }
});

test("an empty file is one part, which the server refuses with a reason", () => {
  assert.deepEqual([...partsOf(new Uint8Array(0))], [{ offset: 0, bytes: 0, data: "", last: true }]);
});
