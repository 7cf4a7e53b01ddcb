// Puts a question to the miners and shows what becomes of it. The token stays in this page.
"use strict";

const field = (id) => document.getElementById(id);

function note(text, kind) {
  const line = document.createElement("p");
  const badge = document.createElement("span");
  badge.className = `badge ${kind || ""}`;
  badge.textContent = new Date().toLocaleTimeString();
  line.append(badge, ` ${text}`);
  if (field("progress").querySelector(".empty")) field("progress").replaceChildren();
  field("progress").append(line);
}

function readBody() {
  const option = field("kind").selectedOptions[0];
  const text = field("text").value;
  const name = option.dataset.field;
  const body = name ? { [name]: text } : JSON.parse(text);
  return [`/v1/${encodeURIComponent(option.value)}/requests`, { ...body, priority: field("priority").value }];
}

async function* readEvents(reply) {
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let kept = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    kept += value;
    const blocks = kept.split("\n\n");
    kept = blocks.pop();
    for (const block of blocks) {
      const data = block.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim());
      if (data.length) yield JSON.parse(data.join("\n"));
    }
  }
}

async function ask() {
  const headers = { Authorization: `Bearer ${field("token").value.trim()}` };
  const [address, body] = readBody();
  const json = { ...headers, "Content-Type": "application/json" };
  const reply = await fetch(address, { method: "POST", headers: json, body: JSON.stringify(body) });
  const taken = await reply.json();
  if (!reply.ok) throw new Error(`${taken.error}: ${taken.message}. ${taken.remedy}`);
  note(`taken in as ${taken.id}`);
  const events = await fetch(taken.events_url, { headers });
  if (!events.ok) throw new Error(`the progress cannot be followed: ${events.status}`);
  for await (const told of readEvents(events)) show(told);
}

function show(told) {
  if (told.state === "waiting") note(`waiting, ${told.position ?? "?"} in line`, "warn");
  else if (told.state === "taken") note(`asked in round ${told.round}`, "warn");
  else if (told.state === "failed") note(`${told.result?.error ?? "failed"}: ${told.result?.message ?? ""}`, "bad");
  else if (told.state === "done") showResult(told.result);
  else note(told.state);
}

function showResult(result) {
  note(`answered by ${result.hotkey} in ${result.seconds.toFixed(2)} s`, "good");
  const score = result.score ?? {};
  const facts = [
    ["miner", result.hotkey],
    ["score", score.reward ?? score.score ?? score.value ?? "–"],
    ["seconds", result.seconds.toFixed(2)],
    ["round", result.round],
  ];
  field("result-figures").replaceChildren(...facts.map(([name, value]) => writeFigure(name, value)));
  field("said").replaceChildren(...writePayload(result.payload));
  field("tree").replaceChildren(result.explanation ? writeTree(result.explanation, 0) : "");
  field("result").hidden = false;
}

function writeFigure(name, value) {
  const box = document.createElement("div");
  box.className = "figure";
  const label = document.createElement("dt");
  const shown = document.createElement("dd");
  label.textContent = name;
  shown.textContent = typeof value === "number" ? value.toPrecision(4) : String(value);
  shown.classList.toggle("long", shown.textContent.length > 20);
  box.append(label, shown);
  return box;
}

function writePayload(payload) {
  if (Array.isArray(payload?.chunks)) {
    return payload.chunks.map((chunk, at) => {
      const piece = document.createElement("span");
      piece.className = "piece";
      piece.dataset.number = at + 1;
      piece.textContent = chunk;
      return piece;
    });
  }
  return [typeof payload?.text === "string" ? payload.text : JSON.stringify(payload, null, 2)];
}

function writeTree(node, depth) {
  if (!node.children?.length) return document.createTextNode(node.text);
  const details = document.createElement("details");
  details.open = depth < 2;
  const summary = document.createElement("summary");
  summary.textContent = node.text;
  const list = document.createElement("ul");
  for (const child of node.children) {
    const item = document.createElement("li");
    item.append(writeTree(child, depth + 1));
    list.append(item);
  }
  details.append(summary, list);
  return details;
}

field("ask")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const button = event.target.querySelector("button");
  button.disabled = true;
  ask()
    .catch((fault) => note(fault.message, "bad"))
    .finally(() => {
      button.disabled = false;
    });
});
