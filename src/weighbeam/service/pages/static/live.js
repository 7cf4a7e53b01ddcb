// Keeps a page current: on word of something new, the page is read again and what changed in it is put in place.
"use strict";

const WAIT = 400;
const LEAST = 2000;
const LATE = 7000;
const AGAIN = 15000;
let due = null;
let last = 0;
let opened = false;

function listen() {
  const address = document.body.dataset.events;
  if (!address || !window.EventSource) return;
  const source = new EventSource(address);
  source.onopen = () => {
    if (!paused) say("live");
    if (opened) refreshSoon();
    opened = true;
  };
  source.onerror = () => {
    const refused = source.readyState === EventSource.CLOSED;
    say(refused ? "not live" : "reconnecting");
    if (refused) setTimeout(listen, AGAIN);
  };
  for (const kind of ["round", "weigh_in", "submission", "alert", "missed"]) source.addEventListener(kind, refreshSoon);
  addEventListener("pagehide", () => source.close());
}

function refreshSoon() {
  if (paused) return;
  if (due || document.hidden) {
    missed = document.hidden || missed;
    return;
  }
  due = setTimeout(refresh, Math.max(WAIT, last + LEAST - Date.now()));
}
let missed = false;
let paused = false;
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && missed) {
    missed = false;
    refreshSoon();
  }
});

async function refresh() {
  const address = location.href;
  try {
    const reply = await fetch(address, { headers: { Accept: "text/html" } });
    const text = await reply.text();
    // An answer to an address that was left meanwhile is too late.
    if (address !== location.href) return reply.ok;
    if (reply.ok) {
      const fresh = new DOMParser().parseFromString(text, "text/html");
      replaceChanged(fresh);
      document.dispatchEvent(new CustomEvent("fresh", { detail: fresh }));
    }
    return reply.ok;
  } catch {
    say("reconnecting");
    return false;
  } finally {
    due = null;
    last = Date.now();
    if (!again) again = setTimeout(lookAgain, LATE);
  }
}

// A server that many ask at once may have told what it knew a moment ago: look once more.
let again = null;
function lookAgain() {
  refreshSoon();
  again = setTimeout(() => (again = null), LATE);
}

function replaceChanged(fresh) {
  let changed = 0;
  for (const old of document.querySelectorAll("[data-live]")) {
    const now = fresh.getElementById(old.id);
    if (!now || isTyped(old)) continue;
    if (old.dataset.said === undefined) old.dataset.said = "";
    const text = now.innerHTML;
    if ((old.dataset.said || strip(old)) === strip(now)) continue;
    keepOpen(old, now);
    const spec = now.querySelector(":scope > script[type='application/json']");
    if (spec && old.querySelector(".canvas")) {
      old.querySelector("script[type='application/json']").textContent = spec.textContent;
      window.drawChart?.(old);
    } else {
      const putBack = keepPlace(old);
      old.innerHTML = text;
      putBack();
    }
    old.dataset.said = strip(now);
    changed += 1;
  }
  if (changed && !paused) say(`updated ${new Date().toLocaleTimeString()}`);
}

function strip(element) {
  const spec = element.querySelector(":scope > script[type='application/json']");
  if (spec) return spec.textContent;
  return element.dataset.table === undefined ? element.textContent.replace(/\s+/g, " ") : element.innerHTML;
}

// Nothing is changed under the hands of whoever types; it is made up for when they leave.
function isTyped(place) {
  const active = document.activeElement;
  return place.contains(active) && active.matches("input, select, textarea");
}

// What was typed, and where the keyboard was: on the same link, or else at the same stop.
function keepPlace(place) {
  const list = () => [...place.querySelectorAll("a[href], button, input, select, summary, [tabindex]")];
  const stops = list();
  const at = stops.indexOf(document.activeElement);
  const link = stops[at]?.href;
  const typed = [...place.querySelectorAll("input[data-find]")].map((one) => [one.dataset.find, one.value]);
  return () => {
    for (const [name, value] of typed) {
      const field = place.querySelector(`input[data-find="${name}"]`);
      if (field) field.value = value;
    }
    arrange(place);
    const found = (link && list().find((one) => one.href === link)) ?? list()[at];
    if (at >= 0) found?.focus({ preventScroll: true });
  };
}

function keepOpen(old, now) {
  const open = new Set([...old.querySelectorAll("details[id]")].filter((one) => one.open).map((one) => one.id));
  for (const one of now.querySelectorAll("details[id]")) one.open = open.has(one.id);
}

function say(text) {
  const place = document.getElementById("liveness");
  if (place && place.textContent !== text) place.textContent = text;
}

// Tables: sort by a column, find a row.
const chosen = new Map();

function arrange(root) {
  for (const table of root.querySelectorAll("table.sortable")) {
    table.querySelectorAll("thead th").forEach((head, column) => prepareHead(table, head, column));
    const kept = chosen.get(table.id);
    if (kept) sortRows(table, kept.column, kept.down);
  }
  for (const field of root.querySelectorAll("input[data-find]")) {
    field.addEventListener("input", () => find(field));
    field.addEventListener("blur", refreshSoon);
  }
  document.querySelectorAll("input[data-find]").forEach(find);
  for (const field of root.querySelectorAll("select[data-go]")) {
    field.addEventListener("change", () => location.assign(field.value));
  }
}

function prepareHead(table, head, column) {
  if (head.querySelector("button") || !head.textContent.trim()) return;
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") !== "descending";
    chosen.set(table.id, { column, down });
    sortRows(table, column, down);
  });
}

function sortRows(table, column, down) {
  const body = table.tBodies[0];
  const value = (row) => row.cells[column]?.dataset.value ?? row.cells[column]?.textContent.trim() ?? "";
  const rows = [...body.rows].sort((a, b) => (down ? compare(value(b), value(a)) : compare(value(a), value(b))));
  const isEmpty = (row) => ["", "–"].includes(value(row));
  body.append(...rows.filter((row) => !isEmpty(row)), ...rows.filter(isEmpty));
  [...table.tHead.rows[0].cells].forEach((head, at) => {
    if (at === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
}

function compare(a, b) {
  const x = Number(a);
  const y = Number(b);
  if (a !== "" && b !== "" && !Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  return a.localeCompare(b, "en", { numeric: true });
}

function find(field) {
  const table = document.getElementById(field.dataset.find);
  if (!table) return;
  const wanted = field.value.trim().toLowerCase();
  for (const row of table.tBodies[0].rows) {
    const said = `${row.textContent} ${[...row.querySelectorAll("[title]")].map((one) => one.title).join(" ")}`;
    row.hidden = wanted !== "" && !said.toLowerCase().includes(wanted);
  }
}

// Live updates can be paused, for as long as the page is open.
function offerPause() {
  const button = document.getElementById("pause");
  if (!button || !window.EventSource) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    paused = !paused;
    button.textContent = paused ? "go on" : "pause";
    say(paused ? "paused" : "live");
    if (!paused) refreshSoon();
  });
}

// The theme, chosen by hand.
function offerTheme() {
  const button = document.querySelector("button.theme");
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark";
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    try {
      localStorage.setItem("theme", document.documentElement.dataset.theme);
    } catch {
      // It lasts until the page is left.
    }
    document.querySelectorAll("figure.chart").forEach((figure) => window.drawChart?.(figure));
  });
}

function loadCharts() {
  if (!document.querySelector("figure.chart")) return;
  for (const address of [document.body.dataset.vega, document.body.dataset.charts]) {
    const script = document.createElement("script");
    script.src = address;
    script.async = false;
    document.head.append(script);
  }
}

arrange(document);
offerPause();
offerTheme();
listen();
if (window.requestIdleCallback) requestIdleCallback(loadCharts);
else setTimeout(loadCharts, 50);
