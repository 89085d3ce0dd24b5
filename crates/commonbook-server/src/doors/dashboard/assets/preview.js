// A preview of what an input would change: the page is read again with the text in its URL, and its section replaced.
import { isLeaving } from "./swap.js";

const PAUSE_MS = 250;

export function startPreviews(main) {
  for (const input of main.querySelectorAll("input[data-preview]")) {
    let asked = 0;
    input.addEventListener("input", async () => {
      const mine = ++asked;
      const isPast = () => mine !== asked || !input.isConnected || isLeaving();
      await new Promise((done) => setTimeout(done, PAUSE_MS));
      if (isPast()) return;
      const url = new URL(location.href);
      url.searchParams.set(input.dataset.preview, input.value);
      const response = await fetch(url, { credentials: "same-origin" }).catch(() => undefined);
      if (!response?.ok) return;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      if (isPast()) return;
      const fresh = page.getElementById("preview");
      const shown = document.getElementById("preview");
      if (fresh && shown) shown.replaceChildren(...fresh.childNodes);
      history.replaceState(null, "", url);
    });
  }
}
