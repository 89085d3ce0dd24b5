// Live sections: after an event, the page is read again, and the sections whose events happened are replaced.
import { centreGraphs } from "./graphs.js";
import { isLeaving } from "./swap.js";
import { startTables } from "./rows.js";
import { localTimes } from "./times.js";

// The pause before a page is read again: at least this, and longer than the last reading took, so that many
// open pages leave a busy server most of its time.
const PAUSE_MS = 400;
const PAUSE_FACTOR = 10;
const PAUSE_MS_MAX = 30_000;

// The kinds of the events since the page was read.
const kinds = new Set();
let waiting = false;
let reading = false;
let took = 0;

const sections = () => [...document.querySelectorAll("[data-live]")];

export function startLive() {
  document.addEventListener("visibilitychange", schedule);
  addEventListener("pagehide", leave);
  addEventListener("pageshow", (event) => { if (event.persisted) followPage(); });
}

// Follows the stream if the main part that is shown has live sections.
export function followPage() {
  // What happened since the page was made comes as `resync`.
  kinds.clear();
  if (!document.body.dataset.stream) return;
  if (sections().length > 0) follow(); else { leave(); say("", false); }
}

function say(text, off) {
  const state = document.getElementById("live-state");
  if (!state) return;
  state.hidden = text === "";
  state.textContent = text;
  state.classList.toggle("off", off);
}

const wants = (section) => section.dataset.live.split(" ").some((pattern) =>
  [...kinds].some((kind) => pattern === "*" || kind === "resync" || pattern === kind || (pattern.endsWith("*") && kind.startsWith(pattern.slice(0, -1)))));

async function read() {
  waiting = false;
  if (document.hidden) return;
  if (isLeaving()) { schedule(); return; }
  const main = document.getElementById("main");
  const wanted = sections().filter((section) => wants(section) && !isInUse(section)).map((section) => section.id);
  kinds.clear();
  if (wanted.length === 0) return;
  reading = true;
  const begun = performance.now();
  try {
    const response = await fetch(location.href, { credentials: "same-origin" });
    if (!response.ok) {
      say(response.status === 401 ? "signed out" : "not live", true);
      return;
    }
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
    // Not into another page that has come meanwhile.
    if (main.isConnected) for (const id of wanted) replace(document.getElementById(id), fresh.getElementById(id));
  } catch {
    say("not live", true);
  } finally {
    reading = false;
    took = performance.now() - begun;
    schedule();
  }
}

function schedule() {
  if (waiting || reading || document.hidden || kinds.size === 0) return;
  waiting = true;
  setTimeout(read, Math.min(Math.max(PAUSE_MS, took * PAUSE_FACTOR), PAUSE_MS_MAX));
}

function receive(message) {
  if (message.kind === "open") say("live", false);
  else if (message.kind === "closed") say("connecting…", true);
  else { kinds.add(message.kind); schedule(); }
}

// A section in which the reader types or has chosen rows, or to which rows were added by scrolling, stays as it is.
function isInUse(section) {
  return section.contains(document.activeElement) && document.activeElement.matches("input, textarea, select")
    || section.querySelector("[data-added], .pick input:checked") !== null;
}

function replace(old, fresh) {
  if (!old || !fresh) return;
  const known = new Set([...old.querySelectorAll(".row[id]")].map((row) => row.id));
  const open = new Set([...old.querySelectorAll("details[open]")].map(place));
  const chosen = old.querySelector(".row.chosen")?.id;
  const moved = [...old.querySelectorAll(".graph, .scroll")].map((frame) => [frame.scrollLeft, frame.scrollTop]);
  localTimes(fresh);
  old.replaceChildren(...fresh.childNodes);
  centreGraphs(old);
  startTables(old);
  // What the reader scrolled stays where it is.
  [...old.querySelectorAll(".graph, .scroll")].forEach((frame, place) => {
    if (moved[place]) [frame.scrollLeft, frame.scrollTop] = moved[place];
  });
  for (const row of old.querySelectorAll(".row[id]")) {
    if (known.size > 0 && !known.has(row.id)) row.classList.add("fresh");
    if (row.id === chosen) row.classList.add("chosen");
  }
  for (const details of old.querySelectorAll("details")) if (open.has(place(details))) details.open = true;
}

const place = (details) => `${details.closest("[id]")?.id} ${details.querySelector("summary")?.textContent}`;

// All tabs of a browser share one stream, in a worker of theirs; where a browser has no shared workers, a page has a worker
// of its own. The stream goes on from page to page of the workspace.
let port;
let follows = false;

function follow() {
  follows = true;
  const { stream, worker: path } = document.body.dataset;
  if (!port) {
    port = typeof SharedWorker === "function" ? new SharedWorker(path, { name: "commonbook" }).port : new Worker(path);
    port.onmessage = (event) => { if (follows) receive(event.data); };
  }
  port.postMessage({ stream, position: document.getElementById("main").dataset.position });
}

function leave() {
  if (!follows) return;
  follows = false;
  port.postMessage({ leave: true });
}
