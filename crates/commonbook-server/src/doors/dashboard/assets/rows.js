// Rows: further ones when the reader comes near the end of a list, those that are chosen for one act, and a table as text.
import { localTimes } from "./times.js";

let observer;

export function startRows(main) {
  observer?.disconnect();
  if (typeof IntersectionObserver !== "function") return;
  observer = new IntersectionObserver((entries, mine) => {
    for (const entry of entries) if (entry.isIntersecting) { mine.unobserve(entry.target); add(entry.target, mine); }
  }, { rootMargin: "600px" });
  main.querySelectorAll("a.more").forEach((link) => observer.observe(link));
}

async function add(link, observer) {
  const list = link.previousElementSibling;
  if (!list?.matches(".rows")) return;
  try {
    const response = await fetch(link.href, { credentials: "same-origin" });
    if (!response.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const next = page.querySelector("a.more");
    const rows = next?.previousElementSibling ?? page.querySelector("main .rows");
    localTimes(page);
    list.dataset.added = "";
    if (rows) list.append(...rows.children);
    if (next) { link.href = next.href; if (link.isConnected) observer.observe(link); } else { link.remove(); }
  } catch {
    // The link still leads to the next page.
  }
}

// A table as text: copied for a spreadsheet, or saved as CSV.
const cells = (table) => [...table.rows].map((row) => [...row.cells].map((cell) => {
  const time = cell.querySelector("time");
  const text = cell.textContent.replace(/\s+/g, " ").trim();
  // An exact time instead of an age; and no text of an agent is a formula.
  const plain = time && text === time.textContent.trim() ? time.dateTime : text;
  return /^[=+@\t-]/.test(plain) && Number.isNaN(Number(plain)) ? `'${plain}` : plain;
}));
const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text);

function button(label, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "quiet";
  made.textContent = label;
  made.addEventListener("click", () => act(made));
  return made;
}

async function copy(table, shown) {
  await navigator.clipboard.writeText(cells(table).map((row) => row.join("\t")).join("\n"));
  shown.textContent = "Copied";
}

function save(table) {
  const text = cells(table).map((row) => row.map(quoted).join(",")).join("\r\n");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = `${location.pathname.split("/").slice(4).join("-")}-${table.closest("[id]").id}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}

// A wide table without a link in it is scrolled with the keyboard too.
function reachable(frame) {
  if (frame.scrollWidth > frame.clientWidth && !frame.querySelector("a, button, input")) frame.tabIndex = 0;
}

export function startTables(root) {
  const frames = [...root.querySelectorAll(".scroll")];
  requestAnimationFrame(() => frames.forEach(reachable));
  for (const frame of frames) {
    const table = frame.querySelector("table");
    if (!table || frame.nextElementSibling?.matches(".table-acts")) continue;
    const acts = document.createElement("p");
    acts.className = "table-acts";
    // A page that came over plain HTTP from another machine has no clipboard.
    if (navigator.clipboard) acts.append(button("Copy", (shown) => copy(table, shown)), " ");
    acts.append(button("Save as CSV", () => save(table)));
    frame.after(acts);
  }
}

// Rows that are chosen for one act: their number stands beside the buttons.
export function startPicks(main) {
  const form = main.querySelector("form.bulk");
  if (!form) return;
  const picks = () => [...main.querySelectorAll(".pick input")];
  const count = form.querySelector(".picked");
  const all = form.querySelector(".pick-all");
  const show = () => {
    const chosen = picks().filter((pick) => pick.checked).length;
    count.textContent = `${chosen} of ${picks().length} selected`;
    for (const act of form.querySelectorAll("button[type=submit]")) act.disabled = chosen === 0;
    all.textContent = chosen > 0 ? "Select none" : "Select all";
  };
  all.hidden = false;
  all.addEventListener("click", () => {
    const none = !picks().some((pick) => pick.checked);
    for (const pick of picks()) pick.checked = none;
    show();
  });
  main.addEventListener("change", (event) => { if (event.target.closest(".pick")) show(); });
  show();
}
