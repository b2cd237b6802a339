// What the server says of itself, as lines of a banner: pure, so that it can be tested.

export interface ServerNotice { kind: string; subject: string; message: string; time: string }
export interface ServerStatus { storage_failure: string; storage_failing_since: string; notices: ServerNotice[] }
export interface Line { grade: "bad" | "stale"; text: string }

const most = 3;

/** The gravest first; empty: the server reports no problem. */
export function bannerOf(status: ServerStatus): Line[] {
  const lines: Line[] = [];
  if (status.storage_failure !== "") {
    const since = status.storage_failing_since.slice(0, 19).replace("T", " ");
    lines.push({ grade: "bad", text: `The server has been unable to store anything since ${since} UTC: ${status.storage_failure}. Campaigns are suspended until it can.` });
  }
  for (const notice of status.notices.slice(0, most)) lines.push({ grade: "stale", text: sentence(notice.message) });
  if (status.notices.length > most) lines.push({ grade: "stale", text: `${status.notices.length - most} more tokens or certificates end soon: stripline nodes lists them.` });
  return lines;
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
