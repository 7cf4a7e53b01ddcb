// Buttons that change something: each posts to its address with the token that is typed here and stays in this page.
"use strict";

const token = document.getElementById("token");

function tell(place, text, kind) {
  const line = place.closest("[data-decisions]").querySelector("output");
  const badge = document.createElement("span");
  badge.className = `badge ${kind}`;
  badge.textContent = text;
  line.replaceChildren(badge);
}

async function decide(button) {
  const shown = token.value.trim();
  if (!shown) {
    tell(button, "type a token first", "warn");
    token.focus();
    return;
  }
  const buttons = [...button.closest("[data-decisions]").querySelectorAll("button[data-post]")];
  for (const one of buttons) one.disabled = true;
  try {
    const headers = { Authorization: `Bearer ${shown}` };
    const reply = await fetch(button.dataset.post, { method: "POST", headers, credentials: "omit" });
    const told = await reply.json();
    if (!reply.ok) throw new Error(`${told.error}: ${told.message}. ${told.remedy}`);
    tell(button, told.status ?? "done", "good");
  } catch (fault) {
    for (const one of buttons) one.disabled = false;
    tell(button, fault.message, "bad");
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("button[data-post]");
  if (button && token) decide(button);
});
