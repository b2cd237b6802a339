// Results that were measured where no server can be reached: their file becomes a campaign.
import { useContext, useState } from "preact/hooks";
import { ApiError, post } from "./api";
import { mayAct } from "./roles";
import type { Campaign } from "./types";
import { partsOf } from "./upload";
import { percent, short } from "./units";
import { Who } from "./who";

// A large file has more parts than a caller may send at once: the page waits when the server asks it to.
const kPatience_s = 60;

async function sendPart(part: object): Promise<Campaign> {
  for (let waited_s = 0; ;) {
    try {
      return await post<Campaign>("campaigns/import", part);
    } catch (error) {
      if (!(error instanceof ApiError) || !["TOO_MANY_CALLS", "BUSY"].includes(error.reason) || waited_s >= kPatience_s) throw error;
      const wait_s = Math.max(1, error.wait_s);
      await new Promise((done) => setTimeout(done, wait_s * 1000));
      waited_s += wait_s;
    }
  }
}

async function send(file: File, tell: (share: number) => void): Promise<Campaign> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const upload = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 10)}`;
  let answer = {} as Campaign;
  for (const part of partsOf(bytes)) {
    answer = await sendPart({ upload, offset: String(part.offset), data: part.data, last: part.last });
    tell((part.offset + part.bytes) / bytes.length);
  }
  return answer;
}

export function ImportResults({ done }: { done: () => void }) {
  const { role } = useContext(Who);
  const [asking, setAsking] = useState(false);
  const [share, setShare] = useState<number | undefined>();
  const [problem, setProblem] = useState("");
  if (!mayAct(role, "PUBLISHER")) return null;
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const file = new FormData(event.currentTarget as HTMLFormElement).get("file") as File;
    setProblem("");
    setShare(0);
    try {
      const campaign = await send(file, setShare);
      done();
      location.hash = `#/campaigns/${short(campaign.name)}`;
    } catch (error) {
      setProblem((error as Error).message);
    }
    setShare(undefined);
  };
  if (!asking) return <div class="actions"><button type="button" class="acts" onClick={() => setAsking(true)}>Import results</button></div>;
  return (
    <form class="action" onSubmit={submit} aria-label="Import results">
      <p>A file that <code>stripline campaign run-plan</code> wrote where no server can be reached becomes a campaign, and a model is fitted to it. A file that is imported twice becomes one campaign.</p>
      <label class="choice"><span>File</span><input type="file" name="file" required /></label>
      {problem !== "" && <p class="problem" role="alert">{problem}</p>}
      <div class="buttons">
        <button type="submit" class="grave" disabled={share !== undefined}>{share === undefined ? "Import" : `Sent: ${percent(share, 2)}`}</button>
        <button type="button" disabled={share !== undefined} onClick={() => { setAsking(false); setProblem(""); }}>Dismiss</button>
      </div>
    </form>
  );
}
