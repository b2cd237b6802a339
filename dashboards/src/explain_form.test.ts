import assert from "node:assert/strict";
import { test } from "node:test";
import { askedOf, commandLine, exampleOf, words, type Command, type Option } from "./explain_form";

const option = (name: string, unit: Option["unit"], more: Partial<Option> = {}): Option =>
  ({ name, option: `--${name}`, help: name, unit, least: 0, most: null, required: false, usual: 0, choices: [], surroundings: false, ...more });
const loop: Command = {
  command: "loop", help: "", example: "--bytes 512KiB --fp-ops 2 --uneven", baseline: "one piece", takes_path: true,
  options: [option("bytes", "bytes", { required: true }), option("fp-ops", "number"), option("uneven", "flag"), option("direction", "choice", { choices: ["get", "put"] })],
};
const nest: Command = { command: "nest", help: "", example: `'{"loops":[{"count": 8}],\n  "x": 1}'`, baseline: null, takes_path: false, options: [option("nest", "text", { option: "nest", required: true })] };

test("an example is read as a shell reads it", () => {
  assert.deepEqual(words(nest.example), ['{"loops":[{"count": 8}],\n  "x": 1}']);
  assert.deepEqual(exampleOf(loop), { bytes: "512KiB", "fp-ops": "2", uneven: "true" });
  assert.deepEqual(exampleOf(nest), { nest: '{"loops":[{"count": 8}],\n  "x": 1}' });
});

test("an address without options asks the example, on its path", () => {
  assert.deepEqual(askedOf(loop, { path: "intra-node" }), { bytes: "512KiB", "fp-ops": "2", uneven: "true", path: "intra-node" });
  assert.deepEqual(askedOf(loop, { bytes: "8", regions: "3", direction: "" }), { bytes: "8" });
});

test("the command line repeats what is asked", () => {
  assert.equal(commandLine(loop, "tcp@2", { bytes: "4 MiB", uneven: "true", path: "inter-node" }), "stripline explain loop tcp@2 --bytes '4 MiB' --uneven --path inter-node");
  assert.equal(commandLine(loop, "tcp@2", { bytes: "8", uneven: "false", direction: "" }), "stripline explain loop tcp@2 --bytes 8");
  assert.equal(commandLine(nest, "tcp@1", { nest: `{"it's":1}` }), `stripline explain nest tcp@1 '{"it'\\''s":1}'`);
});
