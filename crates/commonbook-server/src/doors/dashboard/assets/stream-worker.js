// One event stream for each workspace, shared by all pages that this worker serves: all tabs of a browser, or one page.
const streams = new Map();

// A shared worker has a port for each page; a worker of one page is itself like a port.
if ("onconnect" in globalThis) onconnect = ({ ports: [port] }) => serve(port); else serve(globalThis);

function serve(port) {
  let followed;
  port.onmessage = ({ data }) => {
    if (data.leave) {
      leave(followed, port);
      return;
    }
    followed = data.stream;
    join(followed, port, data.position);
  };
}

// `position` is the end of the journal when the page was made: the page lacks the events behind it.
function join(path, port, position) {
  let stream = streams.get(path);
  if (!stream) {
    stream = { ports: new Set(), reader: new AbortController(), state: "closed", last: position };
    streams.set(path, stream);
    read(path, stream);
  }
  stream.ports.add(port);
  port.postMessage({ kind: stream.state });
  if (isBehind(position, stream.last)) port.postMessage({ kind: "resync" });
}

// Positions are numbers, on a database with the name of the history behind a dot.
function isBehind(position, last) {
  const [place, history] = position.split(".");
  const [lastPlace, lastHistory] = last.split(".");
  return history !== lastHistory || Number(place) < Number(lastPlace);
}

function leave(path, port) {
  const stream = streams.get(path);
  if (!stream) return;
  stream.ports.delete(port);
  if (stream.ports.size === 0) {
    streams.delete(path);
    stream.reader.abort();
  }
}

// Reads by fetch instead of EventSource: the kinds of events need not be listed.
async function read(path, stream) {
  const tell = (kind) => stream.ports.forEach((port) => port.postMessage({ kind }));
  while (!stream.reader.signal.aborted) {
    try {
      const headers = { "Last-Event-ID": stream.last };
      const response = await fetch(path, { headers, credentials: "same-origin", signal: stream.reader.signal });
      if (response.ok) {
        stream.state = "open";
        tell("open");
        await parse(response.body, stream, tell);
      }
    } catch {
      // The connection ended: try again below.
    }
    stream.state = "closed";
    if (!stream.reader.signal.aborted) tell("closed");
    await new Promise((done) => setTimeout(done, 2000));
  }
}

async function parse(body, stream, tell) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    let end;
    const kinds = new Set();
    while ((end = text.indexOf("\n\n")) >= 0) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      for (const line of lines) {
        if (line.startsWith("event: ")) kinds.add(line.slice(7));
        if (line.startsWith("id: ")) stream.last = line.slice(4);
      }
    }
    kinds.forEach(tell);
  }
}
