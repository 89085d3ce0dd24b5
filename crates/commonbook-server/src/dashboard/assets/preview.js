// A preview of what an input would change: the page is read again with the text in its URL, and its section replaced.
const PAUSE_MS = 250;

export function startPreviews() {
  for (const input of document.querySelectorAll("input[data-preview]")) {
    let asked = 0;
    input.addEventListener("input", async () => {
      const mine = ++asked;
      await new Promise((done) => setTimeout(done, PAUSE_MS));
      if (mine !== asked) return;
      const url = new URL(location.href);
      url.searchParams.set(input.dataset.preview, input.value);
      const response = await fetch(url, { credentials: "same-origin" }).catch(() => undefined);
      if (!response?.ok || mine !== asked) return;
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const fresh = page.getElementById("preview");
      const shown = document.getElementById("preview");
      if (fresh && shown) shown.replaceChildren(...fresh.childNodes);
      history.replaceState(null, "", url);
    });
  }
}
