// Ctrl-K: go to a page, or to a thing that the server finds.
const palette = document.getElementById("palette");
const input = document.getElementById("palette-input");
const list = document.getElementById("palette-list");
// The server is asked one question at a time: while it looks for one, further letters only change what is asked next.
let asking = false;

export function openPalette() {
  if (!palette || palette.open) return;
  palette.showModal();
  input.value = "";
  fill([]);
  input.focus();
}

export function startPalette() {
  if (!palette) return;
  const button = document.getElementById("palette-button");
  button.hidden = false;
  button.addEventListener("click", openPalette);
  input.addEventListener("input", ask);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") { event.preventDefault(); move(event.key === "ArrowDown" ? 1 : -1); }
    if (event.key === "Enter") { event.preventDefault(); list.querySelector("[aria-selected=true] a")?.click(); }
  });
}

function pages(words) {
  const links = [...document.querySelectorAll("nav.pages a")];
  return links.filter((link) => link.firstChild.textContent.toLowerCase().includes(words.toLowerCase()))
    .map((link) => item(link.href, "page", link.firstChild.textContent));
}

function item(href, kind, text) {
  const row = document.createElement("li");
  row.role = "option";
  const link = document.createElement("a");
  link.href = href;
  link.tabIndex = -1;
  const label = document.createElement("span");
  label.className = "kind";
  label.textContent = kind;
  link.append(label, ` ${text}`);
  row.append(link);
  return row;
}

function fill(found) {
  list.replaceChildren(...pages(input.value), ...found);
  [...list.children].forEach((row, place) => { row.id = `palette-${place}`; });
  select(list.firstElementChild);
}

function select(row) {
  list.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
  if (!row) { input.removeAttribute("aria-activedescendant"); return; }
  row.setAttribute("aria-selected", "true");
  row.scrollIntoView({ block: "nearest" });
  input.setAttribute("aria-activedescendant", row.id);
}

function move(step) {
  const rows = [...list.children];
  const place = rows.findIndex((row) => row.getAttribute("aria-selected") === "true");
  select(rows[(place + step + rows.length) % rows.length]);
}

async function ask() {
  fill([]);
  if (asking) return;
  asking = true;
  let words;
  while (palette.open && words !== input.value) {
    words = input.value;
    const found = words.trim().length < 2 ? [] : await find(words);
    if (words === input.value) fill(found);
  }
  asking = false;
}

async function find(words) {
  try {
    const response = await fetch(`${document.body.dataset.find}?${new URLSearchParams({ q: words })}`, { credentials: "same-origin" });
    if (!response.ok) return [];
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const found = [...page.querySelectorAll(".found a")];
    return found.map((link) => item(link.getAttribute("href"), link.querySelector(".kind").textContent, link.lastChild.textContent.trim()));
  } catch {
    // The pages are still there.
    return [];
  }
}
