// Times in the zone of the reader; the title keeps UTC.
const short = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const long = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export function localTimes(root) {
  const today = new Date().toDateString();
  for (const element of root.querySelectorAll("time[datetime]")) {
    const at = new Date(element.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    element.textContent = at.toDateString() === today ? short.format(at) : long.format(at);
  }
}
