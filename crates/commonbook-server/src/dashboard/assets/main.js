// The pages work without this file, except for what is live: it adds live sections, local times, the palette, keys and
// further rows.
import { localTimes } from "./times.js";
import { centreGraphs } from "./graphs.js";
import { startKeys } from "./keys.js";
import { startPalette } from "./palette.js";
import { startLive } from "./live.js";
import { startRows } from "./rows.js";
import { startPreviews } from "./preview.js";

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
localTimes(document);
centreGraphs(document);
startPalette();
startKeys();
startRows();
startPreviews();
if (document.body.dataset.stream) startLive();
