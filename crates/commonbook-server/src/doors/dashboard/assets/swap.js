// Links and GET forms of a workspace exchange the main part of the page instead of loading a document: the browser decides
// what is such a navigation, keeps the history and the places that were scrolled to, and shows that it loads. A browser
// without the Navigation API loads each document, and so does this whenever something is not as expected.
import { localTimes } from "./times.js";

// `begin` starts what the scripts do in a new main part.
export function startSwaps(begin) {
  const { stream } = document.body.dataset;
  if (!globalThis.navigation) return;
  if (!stream) {
    // The page of an error, to which pages were exchanged before: going back to them loads them.
    addEventListener("popstate", () => location.reload());
    return;
  }
  const workspace = stream.slice(0, -"stream".length);
  navigation.addEventListener("navigate", (event) => {
    const isPage = new URL(event.destination.url).pathname.startsWith(workspace);
    // What a script did to the history needs no reading; going back to a page that was exchanged does.
    const isRead = event.navigationType === "traverse" || !event.destination.sameDocument;
    if (!event.canIntercept || !isPage || !isRead || event.hashChange || event.formData || event.downloadRequest !== null
      || event.navigationType === "reload") return;
    event.intercept({ focusReset: "manual", handler: () => exchange(event, begin) });
  });
}

async function exchange(event, begin) {
  const page = await read(event);
  if (event.signal.aborted) return;
  if (!page) {
    location.reload();
    return;
  }
  document.title = page.title;
  // The menus are of the page too: the other workspaces' same page, and the mark of this one.
  for (const menu of [".menu", "nav.pages"]) {
    document.querySelector(menu).replaceChildren(...page.querySelector(menu).childNodes);
  }
  document.querySelector(".menu").open = false;
  document.querySelector(".find input").value = page.querySelector(".find input").value;
  document.querySelectorAll("dialog[open]").forEach((dialog) => dialog.close());
  const main = page.getElementById("main");
  localTimes(main);
  document.getElementById("main").replaceWith(main);
  main.focus({ preventScroll: true });
  event.scroll();
  begin(main);
  document.getElementById("arrived").textContent = page.title.split(" · ")[0];
}

// The page, unless it is an error, the page for signing in, or of another version of the program.
async function read(event) {
  try {
    const response = await fetch(event.destination.url, { credentials: "same-origin", signal: event.signal });
    if (!response.ok || response.redirected || !response.headers.get("content-type")?.startsWith("text/html")) return undefined;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const isSame = ["stream", "worker"].every((name) => page.body.dataset[name] === document.body.dataset[name]);
    return isSame ? page : undefined;
  } catch {
    return undefined;
  }
}

// Whether another page is on its way: then the address is not that of the page which is shown.
export const isLeaving = () => Boolean(globalThis.navigation?.transition);
