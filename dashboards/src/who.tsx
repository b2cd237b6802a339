// The person who looks at the pages, and what they may do. The server decides; buttons that it would
// refuse for the role are not shown, and those that it would refuse for what they change are disabled.
import { createContext } from "preact";
import { useContext, useState } from "preact/hooks";
import { mayAct, type Needed } from "./roles";

export interface Identity { name: string; role: string }
export const Who = createContext<Identity>({ name: "", role: "VIEWER" });
/** Why the person may not change what the buttons are about, whatever the role; empty: they may. */
export const Denied = createContext("");

interface ActionProps {
  text: string;
  question: string;
  /** The role that the server asks for. */
  role?: Needed;
  /** A text that is asked for, such as a reason. */
  about?: { label: string; hint: string; required?: boolean; value?: string };
  act: (about: string) => Promise<unknown>;
  done: () => void;
}

/** A button for those who may act: it asks for confirmation first, and shows why an action failed. */
export function Action({ text, question, role: needed = "OPERATOR", about, act, done }: ActionProps) {
  const { role } = useContext(Who);
  const denied = useContext(Denied);
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  if (!mayAct(role, needed)) return null;
  if (denied !== "") return <button type="button" class="acts" disabled title={denied}>{text}</button>;
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const said = String(new FormData(event.currentTarget as HTMLFormElement).get("about") ?? "").trim();
    setBusy(true);
    try {
      await act(said);
      setAsking(false);
      setProblem("");
      done();
    } catch (error) {
      setProblem((error as Error).message);
    }
    setBusy(false);
  };
  if (!asking) return <button type="button" class="acts" onClick={() => setAsking(true)}>{text}</button>;
  return (
    <form class="action" onSubmit={submit} aria-label={text}>
      <p>{question}</p>
      {about && <label class="choice"><span>{about.label}</span><input name="about" autofocus required={about.required} placeholder={about.hint} defaultValue={about.value} /></label>}
      {problem !== "" && <p class="problem" role="alert">{problem}</p>}
      <div class="buttons">
        <button type="submit" class="grave" disabled={busy} autofocus={!about}>{text}</button>
        <button type="button" onClick={() => { setAsking(false); setProblem(""); }}>Dismiss</button>
      </div>
    </form>
  );
}
