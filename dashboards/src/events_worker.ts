// The worker that all tabs of a browser share (SharedWorker): it holds their one stream of events.
import { openByFetch, StreamHub, type Follow } from "./stream_hub";

const hub = new StreamHub(openByFetch);
setInterval(() => hub.sweep(), 30_000);

// The type of a worker's own scope is not among those of pages.
const scope = globalThis as unknown as { onconnect: (event: MessageEvent) => void };
scope.onconnect = ({ ports: [port] }) => {
  port.onmessage = ({ data }: MessageEvent<{ follow?: Follow; leave?: string }>) => {
    if (data.follow) hub.follow(data.follow, (news) => port.postMessage(news));
    if (data.leave) hub.leave(data.leave);
  };
};
