// What a page must have so that everybody can use it. Gives a line for each fault.
() => {
  const faults = [];
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const seen = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const brief = (one) => one.outerHTML.replace(/\s+/g, " ").slice(0, 140);
  const demand = (sound, said, one) => sound || faults.push(one ? `${said}: ${brief(one)}` : said);

  const named = (one) => {
    const ids = (one.getAttribute("aria-labelledby") || "").split(" ").filter(Boolean);
    const told = ids.map((id) => document.getElementById(id)?.textContent ?? "").join(" ");
    const labels = [...(one.labels ?? [])].map((label) => label.textContent).join(" ");
    return (one.getAttribute("aria-label") || told || labels || one.getAttribute("alt") || "").trim() !== "";
  };

  demand(document.documentElement.lang === "en", "no language");
  demand(document.title.length > 12, "no title of its own");
  demand(all("h1").length === 1, `${all("h1").length} h1`);
  for (const tag of ["header", "main", "footer"]) demand(all(`body > ${tag}`).length === 1, `not one ${tag}`);
  demand(all("header nav").length === 1 && all("nav").every(named), "a nav without a name");
  demand(all("nav [aria-current]").length <= 1, "two current pages");

  let level = 0;
  for (const head of all("h1, h2, h3, h4, h5, h6")) {
    const now = Number(head.tagName[1]);
    demand(now <= level + 1, `heading ${now} after ${level}`, head);
    demand(head.textContent.trim() !== "", "empty heading", head);
    level = now;
  }
  const ids = all("[id]").map((one) => one.id);
  demand(new Set(ids).size === ids.length, `ids that are not unique: ${ids.filter((id, at) => ids.indexOf(id) !== at)}`);
  for (const one of all("[aria-labelledby]")) {
    const target = document.getElementById(one.getAttribute("aria-labelledby"));
    demand(target?.textContent.trim(), "labelled by nothing", one);
  }
  for (const one of all("input:not([type=hidden]), select, textarea")) demand(named(one), "a field without a label", one);
  for (const one of all("a[href], button, summary")) {
    demand(one.textContent.trim() !== "" || named(one), "a control without a name", one);
  }
  for (const one of all("img, [role=img], meter, progress, [role=region]")) demand(named(one), "no name", one);
  for (const one of all("figure.chart")) demand(one.querySelector("[role=img][aria-label] canvas"), "a chart without a name", one);
  for (const one of all("svg:not([role=img])")) {
    demand(one.closest("[aria-hidden=true], [role=img]"), "an svg that is neither named nor hidden", one);
  }
  for (const one of all("main > section, main section")) {
    demand(named(one) || one.querySelector("form, details, table") || !one.hasAttribute("role"), "a section without a name", one);
  }
  for (const one of all("table")) {
    demand(all("th", one).length > 0, "a table without headers", one);
    demand(all("th:not([scope])", one).length === 0, "a header without a scope", one);
    demand(all("tbody tr", one).every((row) => row.querySelector("th[scope=row]")), "a row without a header", one);
  }
  for (const one of all("[tabindex]")) demand(one.tabIndex <= 0, "a positive tabindex", one);
  for (const one of all("dl")) demand(one.querySelector("dt") || !one.children.length, "a list without terms", one);
  for (const one of all("ul, ol")) {
    demand([...one.children].every((item) => item.tagName === "LI"), "a list of what is no item", one);
  }

  // Nothing that could run.
  for (const one of all("*")) {
    for (const { name, value } of one.attributes) {
      demand(!name.startsWith("on"), `an event handler ${name}`, one);
      const leads = ["href", "src", "action", "formaction", "xlink:href"].includes(name);
      demand(!leads || !/^[\s\u0000-\u0020]*(javascript|data|vbscript):/i.test(value), `${name} leads out`, one);
    }
    demand(!["IFRAME", "OBJECT", "EMBED", "BASE"].includes(one.tagName), "a foreign element", one);
  }
  const own = all("script").every((one) => one.type === "application/json" || new URL(one.src).origin === location.origin);
  demand(own, "a script that is not ours");

  // Contrast: of every visible text against all that lies behind it.
  const read = (text) => {
    const numbers = (text.match(/[\d.]+(e-?\d+)?/g) || []).map(Number);
    const unit = text.startsWith("color(srgb") ? 255 : 1;
    const [r = 0, g = 0, b = 0, a = 1] = numbers;
    return text === "transparent" ? [0, 0, 0, 0] : [r * unit, g * unit, b * unit, a];
  };
  const over = (top, below) => [0, 1, 2].map((at) => top[at] * top[3] + below[at] * (1 - top[3])).concat(1);
  const behind = (one) => {
    const layers = [];
    for (let at = one; at; at = at.parentElement) layers.push(read(getComputedStyle(at).backgroundColor));
    const canvas = getComputedStyle(document.documentElement).colorScheme === "dark" ? [18, 18, 18, 1] : [255, 255, 255, 1];
    return layers.reverse().reduce((below, top) => over(top, below), canvas);
  };
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const told = new Set();
  for (const one of all("body *")) {
    const texts = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== "");
    const style = getComputedStyle(one);
    if (!texts || !seen(one) || one.closest(".unseen, .skip, script, option, noscript, .canvas, :disabled")) continue;
    const back = behind(one);
    const [x, y] = [light(over(read(style.color), back)), light(back)];
    const ratio = (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    const key = `${style.color} on ${style.backgroundColor} ${one.className}`;
    if (ratio < (large ? 3 : 4.5) && !told.has(key)) {
      told.add(key);
      faults.push(`contrast ${ratio.toFixed(2)} (${style.color} on ${back.map(Math.round)}): ${brief(one)}`);
    }
  }
  return faults;
}
