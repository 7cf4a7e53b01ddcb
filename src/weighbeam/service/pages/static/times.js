// Times in the reader's own zone; UTC, as the server wrote it, is one line below in what a pointer shows.
"use strict";

const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

function tellTimes(root) {
  for (const one of root.querySelectorAll("time[datetime]:not([data-told])")) {
    const at = new Date(one.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const here = whole.format(at);
    const utc = one.dateTime.replace("T", " ").replace("Z", " UTC");
    one.dataset.told = "";
    one.title = `${here} (${zone})\n${utc}`;
    if (one.classList.contains("stamp")) one.textContent = here;
  }
}

tellTimes(document);
document.addEventListener("fresh", () => tellTimes(document));
