// Keys: everything can be reached without a mouse.
import { openPalette } from "./palette.js";

let goes = false;

export function startKeys() {
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      openPalette();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.matches?.("input, textarea, select")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (goes) {
      goes = false;
      const link = document.querySelector(`nav.pages a[data-key="${CSS.escape(event.key)}"]`);
      if (link) { event.preventDefault(); link.click(); }
      return;
    }
    const acts = {
      "/": () => document.querySelector(".find input")?.focus(),
      "?": () => document.getElementById("keys")?.showModal(),
      g: () => { goes = true; setTimeout(() => { goes = false; }, 1500); },
      j: () => choose(1),
      k: () => choose(-1),
      x: () => document.querySelector(".row.chosen .pick input")?.click(),
      t: () => document.getElementById("theme-button")?.click(),
      Enter: () => document.querySelector(".row.chosen .row-main")?.click(),
    };
    const act = acts[event.key];
    if (!act || (event.key === "Enter" && event.target.matches?.("a, button, summary"))) return;
    event.preventDefault();
    act();
  });
}

function choose(step) {
  const rows = [...document.querySelectorAll(".row")];
  if (rows.length === 0) return;
  const place = rows.findIndex((row) => row.classList.contains("chosen"));
  rows[place]?.classList.remove("chosen");
  const row = rows[Math.min(Math.max(place + step, 0), rows.length - 1)];
  row.classList.add("chosen");
  row.scrollIntoView({ block: "nearest" });
  row.querySelector(".row-main")?.focus({ preventScroll: true });
}
