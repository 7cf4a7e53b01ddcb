// Draws the charts of a page with the libraries loaded before; no code is made of strings, no style sheet is added.
"use strict";

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(name).trim();
  return {
    ink: value("--ink"),
    quiet: value("--quiet"),
    line: value("--line"),
    font: value("--font"),
    card: value("--card"),
    calm: value("--calm-paper"),
    bad: value("--bad"),
    frame: value("--frame"),
    accent: value("--accent"),
  };
}

function writeConfig() {
  const { ink, quiet, line, font } = readColours();
  return {
    background: "transparent",
    font,
    view: { stroke: null },
    axis: { labelColor: quiet, titleColor: quiet, gridColor: line, domainColor: line, tickColor: line, titleFontWeight: "normal" },
    legend: { labelColor: ink, titleColor: quiet, titleFontWeight: "normal" },
    title: { color: ink, subtitleColor: quiet },
    text: { color: ink },
  };
}

// Colours that a chart brings along for white paper, by those of the page. Numbers on coloured cells keep theirs.
const INK = "#1c1c28";
const RED = "#c2001b";

function dress(spec, colours) {
  const papers = { "#ffffff": colours.card, "#f1f1f4": colours.calm, "#55556a": colours.quiet, "#2458a6": colours.accent, [INK]: colours.ink };
  const mark = typeof spec.mark === "object" ? { ...spec.mark } : spec.mark;
  if (typeof mark === "object") {
    for (const part of ["color", "stroke"]) mark[part] = papers[mark[part]] ?? mark[part];
    if (spec.mark.stroke === INK && spec.mark.filled === false) mark.stroke = colours.frame;
    for (const part of ["color", "stroke"]) if (mark[part] === undefined) delete mark[part];
  }
  const made = { ...spec, ...(mark === undefined ? {} : { mark }) };
  if (spec.encoding) made.encoding = dressEncoding(spec.encoding, colours, papers);
  for (const part of ["layer", "vconcat"]) if (spec[part]) made[part] = spec[part].map((one) => dress(one, colours));
  return made;
}

function dressEncoding(encoding, colours, papers) {
  const made = { ...encoding };
  for (const channel of ["x", "y"]) {
    const shown = encoding[channel]?.axis?.labelColor;
    if (typeof shown !== "object" || !shown) continue;
    const turn = (value) => (value === RED ? colours.bad : (papers[value] ?? value));
    const labelColor = { ...shown, value: turn(shown.value), condition: { ...shown.condition, value: turn(shown.condition.value) } };
    made[channel] = { ...encoding[channel], axis: { ...encoding[channel].axis, labelColor } };
  }
  if (encoding.stroke?.value) made.stroke = { ...encoding.stroke, value: papers[encoding.stroke.value] ?? encoding.stroke.value };
  return made;
}

// A square of fixed cells is made smaller where its place is narrow, until names could not be read any more.
const LEAST_CELL = 9;

function fitSquare(spec, width, room) {
  if (typeof spec.width !== "number" || typeof spec.height !== "number" || !spec.datasets?.answers) return spec;
  const count = Math.max(1, spec.datasets.answers.length);
  const side = Math.max(LEAST_CELL * count, Math.min(spec.width, Math.floor((width - room) / count) * count));
  const narrow = width < 560;
  const cell = side / count;
  const layer = spec.layer.map((one) => {
    const small = one.mark?.type === "text" ? { ...one, mark: { ...one.mark, fontSize: Math.min(12, Math.floor(cell * 0.42)) } } : one;
    const color = small.encoding?.color;
    if (!narrow || !color?.legend) return small;
    const legend = { ...color.legend, orient: "bottom", direction: "horizontal", gradientLength: Math.min(200, side) };
    return { ...small, encoding: { ...small.encoding, color: { ...color, legend } } };
  });
  return { ...spec, width: side, height: side, layer };
}

// Charts one above the other cannot ask for the width of their place, so it is put in; one of them may be a square.
function fitWidth(spec, width, room) {
  if (!spec.vconcat) return spec;
  const { widest = Infinity, square = -1 } = spec.usermeta ?? {};
  const inner = Math.max(160, Math.min(width - room, widest));
  const fit = (part, number) => ({ ...part, width: inner, ...(number === square ? { height: inner } : {}) });
  return { ...spec, vconcat: spec.vconcat.map(fit) };
}

// What labels and legends take is known once a chart is drawn: where it does not fill its place, or is wider, it is
// drawn a second time with what is left.
const ROOM = 84;
const SLACK = 1;

async function draw(figure, place, spec, room) {
  const width = place.clientWidth;
  const fitted = fitSquare(fitWidth(dress(spec, readColours()), width, room), width, room);
  await window.vegaEmbed(place, fitted, {
    mode: "vega-lite",
    renderer: "canvas",
    ast: true,
    actions: false,
    defaultStyle: false,
    tooltip: { disableDefaultStyle: true },
    config: writeConfig(),
  });
  const canvas = place.querySelector("canvas");
  const off = canvas ? canvas.clientWidth - width : 0;
  const stacked = spec.vconcat && !spec.usermeta?.widest;
  if (stacked && Math.abs(off) > SLACK) return room + off;
  return typeof fitted.width === "number" && off > SLACK ? width - fitted.width + off : null;
}

window.drawChart = async (figure) => {
  const place = figure.querySelector(".canvas > div");
  const given = figure.querySelector("script[type='application/json']");
  if (!place || !given || !window.vegaEmbed) return;
  try {
    const spec = JSON.parse(given.textContent);
    const room = await draw(figure, place, spec, ROOM);
    if (room !== null) await draw(figure, place, spec, room);
    figure.classList.add("drawn");
  } catch (fault) {
    console.error(String(fault));
  }
};

document.querySelectorAll("figure.chart").forEach(window.drawChart);
let resized = null;
addEventListener("resize", () => {
  clearTimeout(resized);
  resized = setTimeout(() => document.querySelectorAll("figure.chart").forEach(window.drawChart), 250);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
  document.querySelectorAll("figure.chart").forEach(window.drawChart),
);
