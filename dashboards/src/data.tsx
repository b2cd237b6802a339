// Data that come from the server, with the states in which they may be: not there yet, not to be
// had, there, or there but old.
import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "./api";
import { report } from "./report";

export interface Loaded<T> { data?: T; at?: number; error?: Error; again: () => void }

/** Loads when `key` changes and every `everySeconds` seconds; 0: once. `key` null: not at all. */
export function useData<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>, everySeconds = 0): Loaded<T> {
  const [state, setState] = useState<{ key: string | null; data?: T; at?: number; error?: Error }>({ key });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    if (key === null) return;
    const stop = new AbortController();
    let timer = 0;
    const once = async () => {
      try {
        const data = await latest.current(stop.signal);
        if (!stop.signal.aborted) setState({ key, data, at: Date.now() });
      } catch (error) {
        if (stop.signal.aborted) return;
        if (error instanceof ApiError && error.status === 401) window.dispatchEvent(new Event("unauthenticated"));
        setState((before) => ({ ...(before.key === key ? before : {}), key, error: error as Error }));
      }
      if (everySeconds > 0 && !report && !stop.signal.aborted) {
        timer = window.setTimeout(() => (document.hidden ? wait() : once()), everySeconds * 1000);
      }
    };
    const wait = () => document.addEventListener("visibilitychange", () => once(), { once: true, signal: stop.signal });
    once();
    return () => {
      stop.abort();
      window.clearTimeout(timer);
    };
  }, [key, everySeconds, round]);
  const again = useCallback(() => setRound((number) => number + 1), []);
  return state.key === key ? { ...state, again } : { again };
}

/** Shows what has been loaded, or why it is not there. */
export function Show<T>({ of, what, children }: { of: Loaded<T>; what: string; children: (data: T) => ComponentChildren }) {
  const { data, error, at, again } = of;
  if (data === undefined && error) {
    return (
      <div class="state bad" role="alert">
        <strong>{what} could not be loaded.</strong> <span>{error.message}</span>
        <button type="button" onClick={again}>Try again</button>
      </div>
    );
  }
  if (data === undefined) {
    return <div class="state loading" role="status" aria-label={`Loading ${what}`}><i /><i /><i /></div>;
  }
  return (
    <>
      {error && (
        <div class="state stale" role="status">
          <strong>Stale:</strong> <span>{what} as of {new Date(at!).toLocaleTimeString()}. {error.message}</span>
          <button type="button" onClick={again}>Try again</button>
        </div>
      )}
      {children(data)}
    </>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="state empty">{children}</div>;
}
