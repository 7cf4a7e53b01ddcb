// Sorts, filters and turns tables without leaving the page; every state has an address of its own, which is the server's.
"use strict";

const TYPING = 350;
let typing = null;
let typed = null;
let opening = Promise.resolve();

function openState(address, add = true) {
  stopTyping();
  if (add && address !== location.href) history.pushState(null, "", address);
  opening = refresh().then((sound) => {
    if (!sound && address === location.href) location.reload();
  });
  return opening;
}

function stopTyping() {
  clearTimeout(typing);
  const form = typed;
  typed = null;
  return form;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-table] a.sorter, [data-table] a.turn");
  if (!link || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  follow(link);
});

// A link that was clicked before the last choice was shown leads on from that choice.
async function follow(link) {
  const place = link.closest("[data-table]").id;
  const said = link.textContent;
  const form = stopTyping();
  if (form) openState(writeAddress(form));
  await opening;
  const now = [...document.querySelectorAll(`#${place} a.sorter, #${place} a.turn`)];
  openState((now.find((one) => one.textContent === said) ?? link).href);
}

// The address that a form asks for: what is empty is left out, and a new filter starts at the first page.
function writeAddress(form) {
  const asked = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value.trim() !== "") asked.set(name, value.trim());
  const query = asked.toString();
  return new URL(query ? `${form.action}?${query}` : form.action, location.href).href;
}

document.addEventListener("submit", (event) => {
  if (!event.target.matches("form.filters:not(.plainly)")) return;
  event.preventDefault();
  openState(writeAddress(event.target));
});

document.addEventListener("input", (event) => {
  const form = event.target.closest("form.filters:not(.plainly)");
  if (!form) return;
  clearTimeout(typing);
  typed = form;
  typing = setTimeout(() => openState(writeAddress(form)), event.target.matches("select") ? 0 : TYPING);
});

addEventListener("popstate", () => openState(location.href, false));

// A filter that was cleared, or set by another form of the page, shows in every form; nothing changes under the hands.
document.addEventListener("fresh", (event) => {
  const forms = event.detail.querySelectorAll("form.filters:not(.plainly)");
  document.querySelectorAll("form.filters:not(.plainly)").forEach((form, at) => {
    const now = forms[at];
    if (!now) return;
    form.querySelectorAll("input[type=hidden]").forEach((one) => one.remove());
    form.prepend(...[...now.querySelectorAll("input[type=hidden]")].map((one) => document.importNode(one)));
    for (const field of form.querySelectorAll("select, input[type=search]")) {
      const said = now.querySelector(`[name="${field.name}"]`);
      if (said && field !== document.activeElement) field.value = said.value;
    }
  });
});

// Without a script a button sends the form; with one the form sends itself.
document.querySelectorAll("form.filters:not(.plainly) .act").forEach((one) => one.classList.add("unseen"));

// A hotkey is copied by one click.
for (const button of document.querySelectorAll("button[data-copy]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "copied";
    setTimeout(() => (button.textContent = "copy"), 2000);
  });
}
