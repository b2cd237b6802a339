import assert from "node:assert/strict";
import { test } from "node:test";
import { rangeOf, shrinking, ticksOf, timeText } from "./scale";
import type { CampaignEvent } from "./types";

test("ticks are round, and lie between the ends", () => {
  assert.deepEqual(ticksOf(0, 10), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(ticksOf(0.9, 2.1), [1, 1.5, 2]);
  assert.deepEqual(ticksOf(3, 3), [3]);
  for (const [low, high] of [[1e-6, 1.2e-6], [0, 1e9], [0.97, 4.3]]) {
    const ticks = ticksOf(low, high);
    assert.ok(ticks.length >= 3 && ticks.length <= 7 && ticks[0] >= low && ticks[ticks.length - 1] <= high * 1.000001);
  }
});

test("an axis has room for all, also for one value", () => {
  const [low, high] = rangeOf([1, 2]);
  assert.ok(low < 1 && low > 0.8 && high > 2);
  assert.ok(rangeOf([5])[0] < 5 && rangeOf([5])[1] > 5);
  assert.equal(rangeOf([0.01, 3])[0], 0);
});

test("times are as fine as their axis", () => {
  const at = Date.parse("2026-06-01T12:34:56Z");
  assert.deepEqual([60_000, 86_400_000, 9 * 86_400_000].map((span) => timeText(at, span)), ["12:34:56", "06-01 12:34", "2026-06-01"]);
});

test("of a campaign's events those count that change its width", () => {
  const event = (second: number, width: number) => ({ time: `2026-06-01T00:00:0${second}Z`, campaign: { width } }) as CampaignEvent;
  assert.deepEqual(shrinking([event(0, 0), event(1, 0.5), event(2, 0.5), event(3, 0.1)]).map((one) => one.value), [0.5, 0.1]);
});
