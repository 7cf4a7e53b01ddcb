// The first page: countdowns in this machine's time, and a look now and then whether the validator is still there.
"use strict";

const LOOK_MS = 15000;
const TICK_MS = 1000;
const ends = new WeakMap();

function countDown() {
  const lost = document.getElementById("liveness")?.textContent === "reconnecting";
  for (const place of document.querySelectorAll(".countdown")) {
    if (!ends.has(place)) ends.set(place, Date.now() + Number(place.dataset.left) * 1000);
    place.textContent = lost ? "unknown: no connection" : formatLeft((ends.get(place) - Date.now()) / 1000);
  }
}

function formatLeft(seconds) {
  if (seconds <= 0) return "due";
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  const two = (number) => String(number).padStart(2, "0");
  return hours ? `in ${hours}:${two(minutes)}:${two(whole % 60)}` : `in ${minutes}:${two(whole % 60)}`;
}

countDown();
setInterval(countDown, TICK_MS);
setInterval(refreshSoon, LOOK_MS);
