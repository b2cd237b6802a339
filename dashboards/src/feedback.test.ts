import assert from "node:assert/strict";
import { test } from "node:test";
import { gainsByPlace, summedUp, type Feedback, type FeedbackPlace } from "./feedback";

const place = (more: Partial<FeedbackPlace>): FeedbackPlace => ({ place: "t.cc:17", what: "get 1 MiB", choice: "packed", ranks: 2, executions: "10", as_chosen: "8", predicted_s: 1e-3, measured_s: 1e-3, simple: "2", simple_s: 2e-3, demoted_ranks: 0, ...more });
const run = (...places: FeedbackPlace[]): Feedback => ({ version: "models/tcp/versions/1", time: "", sender: "", program: "fft", fabric: "tcp", ranks: 2, elapsed_s: 1, places, places_left_out: "0" });

test("runs of one place are one mean, by their executions", () => {
  const [one, ...others] = gainsByPlace([run(place({})), run(place({ as_chosen: "24", measured_s: 0.5e-3, simple: "0", simple_s: 0 }))]);
  assert.equal(others.length, 0);
  assert.equal(one.runs, 2);
  assert.ok(Math.abs(one.measured_s! - 0.625e-3) < 1e-12);
  assert.ok(Math.abs(one.gain! - (1 - 0.625 / 2)) < 1e-12);
  assert.ok(Math.abs(one.saved_s - 32 * 1.375e-3) < 1e-12);
});

test("what was never done as the baseline has no gain", () => {
  const [one] = gainsByPlace([run(place({ simple: "0", simple_s: 0 }))]);
  assert.equal(one.gain, null);
  assert.equal(one.saved_s, 0);
});

test("what changes most comes first, and losses count", () => {
  const all = gainsByPlace([run(place({}), place({ place: "t.cc:20", measured_s: 9e-3, demoted_ranks: 1 }), place({ place: "t.cc:30", simple: "0" }))]);
  assert.deepEqual(all.map((one) => one.place), ["t.cc:20", "t.cc:17", "t.cc:30"]);
  assert.deepEqual({ ...summedUp(all), saved_s: 0 }, { places: 3, compared: 2, better: 1, saved_s: 0, demoted: 1 });
  assert.ok(summedUp(all).saved_s < 0);
});
