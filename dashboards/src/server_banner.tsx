// What the server says of itself, above every page.
import { get } from "./api";
import { useData } from "./data";
import { report } from "./report";
import { bannerOf, type ServerStatus } from "./server_status";

export function ServerBanner() {
  const status = useData(report ? null : "status", (signal) => get<ServerStatus>("status", signal), 10);
  const lines = status.data ? bannerOf(status.data) : [];
  return <>{lines.map((line) => <p key={line.text} class={`state ${line.grade}`} role={line.grade === "bad" ? "alert" : "status"}>{line.text}</p>)}</>;
}
