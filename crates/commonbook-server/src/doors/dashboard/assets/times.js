// Times as ages, in words; the title has the exact time, in the zone of the reader and in UTC.
const age = new Intl.RelativeTimeFormat("en", { numeric: "always" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const date = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const UNITS = [["day", 86_400], ["hour", 3_600], ["minute", 60]];
// Seconds beyond which the date says more than the age.
const AGE_MAX = 30 * 86_400;
const AGAIN_MS = 30_000;

function inWords(at, now) {
  const seconds = (at - now) / 1000;
  if (Math.abs(seconds) > AGE_MAX) return date.format(at);
  const unit = UNITS.find(([, length]) => Math.abs(seconds) >= length);
  if (unit) return age.format(Math.trunc(seconds / unit[1]), unit[0]);
  return seconds > 1 ? "in a moment" : "just now";
}

export function localTimes(root) {
  const now = Date.now();
  for (const element of root.querySelectorAll("time[datetime]")) {
    const at = new Date(element.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const text = inWords(at, now);
    if (element.textContent !== text) element.textContent = text;
    if (!("utc" in element.dataset)) {
      element.dataset.utc = element.title;
      element.title = `${exact.format(at)} · ${element.title}`;
    }
  }
}

// Ages go on while a page is shown.
export function startTimes() {
  setInterval(() => { if (!document.hidden) localTimes(document); }, AGAIN_MS);
}
