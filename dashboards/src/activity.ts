// What nodes are doing now: pure.
import type { Node } from "./types";

export const activities = ["IDLE", "MEASURING", "INSTALLING", "OFFLINE"] as const;
export type Activity = (typeof activities)[number];

/** A node that is busy without an assignment installs settings of another runtime, or removes them. */
export function activityOf({ state, assignment }: Pick<Node, "state" | "assignment">): Activity {
  if (state !== "BUSY") return state === "IDLE" ? "IDLE" : "OFFLINE";
  return assignment === "" ? "INSTALLING" : "MEASURING";
}

/** "5 idle, 2 measuring, 0 offline"; nodes that install settings, which is rare, only if there are any. */
export function activityText(nodes: Pick<Node, "state" | "assignment">[]): string {
  const found = nodes.map(activityOf);
  return activities.map((one) => ({ one, number: found.filter((each) => each === one).length }))
    .filter(({ one, number }) => one !== "INSTALLING" || number > 0)
    .map(({ one, number }) => `${number.toLocaleString("en")} ${one.toLowerCase()}`).join(", ");
}
