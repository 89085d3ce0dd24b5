// Further rows of a list, when the reader comes near its end.
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
