// The pages work without this file, except for what is live: it adds live sections, local times, the palette, keys, further
// rows, and pages that come without loading a document.
import { localTimes, startTimes } from "./times.js";
import { centreGraphs } from "./graphs.js";
import { startKeys } from "./keys.js";
import { startPalette } from "./palette.js";
import { followPage, startLive } from "./live.js";
import { startPicks, startRows, startTables } from "./rows.js";
import { startPreviews } from "./preview.js";
import { startSwaps } from "./swap.js";

const theme = document.getElementById("theme-button");
if (theme) {
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark"
      || (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
    const next = dark ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    document.cookie = `commonbook_theme=${next}; Path=/dashboard; Max-Age=31536000; SameSite=Strict`;
  });
}

// What belongs to one main part: it ends with it, or when this is called with the next one.
function begin(main) {
  centreGraphs(main);
  startRows(main);
  startPreviews(main);
  startTables(main);
  startPicks(main);
  followPage();
}

localTimes(document);
startTimes();
startPalette();
startKeys();
startLive();
begin(document.getElementById("main"));
startSwaps(begin);
