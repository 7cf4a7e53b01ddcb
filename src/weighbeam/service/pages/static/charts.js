// Draws the charts of a page with the libraries loaded before; no code is made of strings, no style sheet is added.
"use strict";

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(name).trim();
  return { ink: value("--ink"), quiet: value("--quiet"), line: value("--line"), font: value("--font") };
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

// Charts one above the other cannot ask for the width of their place, so it is put in; one of them may be a square.
function fitWidth(spec, width) {
  if (!spec.vconcat) return spec;
  const { widest = Infinity, square = -1 } = spec.usermeta ?? {};
  const inner = Math.max(160, Math.min(width - 84, widest));
  const fit = (part, number) => ({ ...part, width: inner, ...(number === square ? { height: inner } : {}) });
  return { ...spec, vconcat: spec.vconcat.map(fit) };
}

window.drawChart = (figure) => {
  const place = figure.querySelector(".canvas > div");
  const given = figure.querySelector("script[type='application/json']");
  if (!place || !given || !window.vegaEmbed) return;
  const spec = fitWidth(JSON.parse(given.textContent), place.clientWidth);
  window
    .vegaEmbed(place, spec, {
      mode: "vega-lite",
      renderer: "canvas",
      ast: true,
      actions: false,
      defaultStyle: false,
      tooltip: { disableDefaultStyle: true },
      config: writeConfig(),
    })
    .then(
      () => figure.classList.add("drawn"),
      (fault) => console.error(String(fault)),
    );
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
