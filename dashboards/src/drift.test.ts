import assert from "node:assert/strict";
import { test } from "node:test";
import { course, placeOf, places, verdict, type Sentinel, type SentinelCheck } from "./drift";
import type { ModelVersion } from "./types";

const sentinel = (operation: string, bytes: number, measured_s: number): Sentinel => ({ operation, bytes, predicted_s: 2, low_s: 1, high_s: 3, measured_s, measured_low_s: measured_s, measured_high_s: measured_s, outside: measured_s > 3.3 });
const check = (day: number, off: boolean, sentinels: Sentinel[]): SentinelCheck => ({ campaign: `campaigns/c${day}`, time: `2026-06-0${day}T00:00:00Z`, points: 2, outside: off ? 2 : 0, ratio: off ? 2 : 1, off, sentinels });
const history = (...checks: SentinelCheck[]) => ({ tolerance: 0.1, checks });
const version = (stale = "") => ({ stale }) as ModelVersion;

test("what is stale says so, whatever the last check found", () => {
  assert.equal(verdict(version("twice"), history(check(1, false, []))).kind, "bad");
  assert.equal(verdict(version(), history()).kind, "none");
  assert.equal(verdict(version(), history(check(1, true, []), check(2, false, []))).kind, "good");
  assert.match(verdict(version(), history(check(1, false, []), check(2, true, []))).text, /^2 of 2 sentinels outside .* 200 % .* second one/);
});

test("a sentinel is followed through the checks that have it", () => {
  const all = history(check(1, false, [sentinel("put", 8, 2), sentinel("get", 4096, 2)]), check(2, false, []), check(3, false, [sentinel("get", 8, 2), sentinel("put", 8, 4)]));
  assert.deepEqual(places(all).map(placeOf), ["get/8", "get/4096", "put/8"]);
  const put = course(all, "put/8");
  assert.deepEqual(put.moments.map((one) => [one.value, one.miss]), [[2, false], [4, true]]);
  assert.deepEqual(put.expected, { value: 2, low: 1, high: 3 });
  assert.deepEqual(course(all, "").moments.map((one) => one.value), [1, 1, 1]);
  assert.equal(course(all, "put/9").expected, undefined);
});
