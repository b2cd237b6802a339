import assert from "node:assert/strict";
import { test } from "node:test";
import { csv } from "./table";

test("commas, quotes and lines are quoted", () => {
  assert.equal(csv({ columns: ["a", "b"], rows: [["x,y", 'say "no"'], ["two\nlines", null]] }),
    'a,b\r\n"x,y","say ""no"""\r\n"two\nlines",\r\n');
});

test("text is not a formula; numbers stay numbers", () => {
  assert.equal(csv({ columns: ["a"], rows: [["=cmd()"], [-1.5e-6]] }), "a\r\n'=cmd()\r\n-0.0000015\r\n");
});
