// The page as HTML, every text that cannot be seen inside <span hidden>. Run in a world of its own: the page's scripts
// share its tree, not its objects. Properties are read by the getters of their prototypes, because a form's or a
// document's own can be overlaid by the names of what is inside. Nothing on the page is changed.
((mostNodes, mostCharacters) => {
  const reader = (kind, name) => {
    const get = Object.getOwnPropertyDescriptor(kind.prototype, name).get;
    return (node) => get.call(node);
  };
  const typeOf = reader(Node, "nodeType"), firstOf = reader(Node, "firstChild"), nextOf = reader(Node, "nextSibling");
  const textOf = reader(Node, "nodeValue"), nameOf = reader(Element, "localName"), shadowOf = reader(Element, "shadowRoot");
  const typed = reader(HTMLInputElement, "value"), wholeText = reader(Node, "textContent");
  const has = (node, name) => Element.prototype.hasAttribute.call(node, name);
  const valueOf = (node, name) => Element.prototype.getAttribute.call(node, name);
  const boxOf = (node) => Element.prototype.getBoundingClientRect.call(node);

  const SKIPPED = new Set(("style template noscript iframe object svg textarea select datalist option noembed noframes " +
    "audio video canvas embed applet link base annotation annotation-xml rp").split(" "));
  const EMPTY = new Set("meta br hr input".split(" "));
  // No name that makes a parser read on in another way, such as plaintext: the others become div or span.
  const NAMES = new Set(("html body address article aside blockquote button caption center dd del details dialog dl dt " +
    "fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup legend li main menu nav ol p pre s search " +
    "section strike summary table tbody td tfoot th thead time tr ul").split(" "));
  const KEPT = ["class", "id", "role", "name", "content", "property", "itemprop", "datetime", "type", "action"];
  const LEAST = 1, LEAST_BOX = 2, LEAST_OPACITY = 0.01, MOST_VALUE = 2000;
  const NO_PATH = /^(?:inset\((?:50|100)%|circle\(0(?:px|%)?[ )]|ellipse\(0|polygon\((?:0(?:px|%)? 0(?:px|%)?(?:, )?)+\))/;
  const CLEAR = /^rgba\(.*, 0\)$|\/ 0\)$/;

  const pieces = [];
  let length = 0, nodes = 0;
  const put = (text) => { pieces.push(text); length += text.length; };
  const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const quoted = (text) => escaped(text).replaceAll('"', "&quot;");

  const root = reader(Document, "documentElement")(document);
  if (root === null) return "";
  const rightToLeft = getComputedStyle(root).direction === "rtl";
  const range = new Range();

  const isClipped = (style) => {
    if (style.clipPath !== "none" && NO_PATH.test(style.clipPath)) return true;
    if (style.clip === "auto" || (style.position !== "absolute" && style.position !== "fixed")) return false;
    const [top, right, bottom, left] = (style.clip.match(/-?[\d.]+(?=px)/g) || []).map(Number);
    return bottom - top <= LEAST_BOX || right - left <= LEAST_BOX;
  };
  const isNoBox = (node, name, style) => {
    if (name === "html" || name === "body" || style.display === "inline" || style.display === "contents") return false;
    const across = style.overflowX !== "visible", down = style.overflowY !== "visible";
    if (!across && !down) return false;
    const box = boxOf(node);
    return (across && box.width <= LEAST_BOX) || (down && box.height <= LEAST_BOX);
  };
  const isClear = (style) => CLEAR.test(style.webkitTextFillColor) && style.textShadow === "none" &&
    !(parseFloat(style.webkitTextStrokeWidth) > 0);

  // What an element passes on to the texts in it: whether they can be seen, and whether their place says anything.
  const enter = (node, name, above) => {
    const style = getComputedStyle(node);
    const opacity = above.opacity * Number(style.opacity);
    const closed = above.closed || (above.name === "details" && !has(above.node, "open") && name !== "summary");
    const painted = above.painted || style.webkitBackgroundClip === "text" || style.backgroundClip === "text";
    const gone = above.gone || style.display === "none" || style.contentVisibility === "hidden" ||
      opacity < LEAST_OPACITY || (!closed && isNoBox(node, name, style)) || isClipped(style);
    const clear = gone || style.visibility !== "visible" || parseFloat(style.fontSize) < LEAST || (!painted && isClear(style));
    const apart = !gone && !/^(inline|contents|ruby|none)/.test(style.display);
    const written = NAMES.has(name) ? name : apart ? "div" : "span";
    return {node, name, written, opacity, closed, painted, gone, clear};
  };
  const isOut = (text) => {
    range.selectNodeContents(text);
    for (const box of range.getClientRects()) {
      const big = box.width >= LEAST && box.height >= LEAST;
      if (big && box.bottom + scrollY > 0 && (rightToLeft ? box.left + scrollX < innerWidth : box.right + scrollX > 0)) return false;
    }
    return true;
  };

  const open = (node, name) => {
    put("<" + name);
    const write = (key, value) => put(` ${key}="${quoted(value.slice(0, MOST_VALUE))}"`);
    for (const key of KEPT) if (has(node, key)) write(key, valueOf(node, key));
    if (node instanceof HTMLInputElement && /^(text|search|)$/i.test(valueOf(node, "type") || "")) write("value", typed(node));
    put(">");
  };
  const takeScript = (node) => {
    if (/^application\/ld\+json$/i.test(valueOf(node, "type") || "")) {
      put('<script type="application/ld+json">' + wholeText(node).replaceAll("<", "\\u003c") + "</script>");
    }
  };
  const takeText = (node, above) => {
    const text = textOf(node);
    const hidden = text.trim() !== "" && (above.clear || (!above.closed && isOut(node)));
    put(hidden ? `<span hidden>${escaped(text)}</span>` : escaped(text));
  };
  // The children as they are shown: those of a shadow instead of one's own, and a slot's where they are put.
  const below = (node) => {
    const shadow = shadowOf(node);
    if (shadow !== null) return siblings(firstOf(shadow));
    if (node instanceof HTMLSlotElement) {
      const given = HTMLSlotElement.prototype.assignedNodes.call(node, {flatten: true});
      if (given.length) return given[Symbol.iterator]();
    }
    return siblings(firstOf(node));
  };
  function* siblings(node) {
    for (; node !== null; node = nextOf(node)) yield node;
  }

  const takeHead = (node) => {
    for (const child of siblings(firstOf(node))) {
      if (typeOf(child) !== Node.ELEMENT_NODE) continue;
      const name = nameOf(child);
      if (name === "title") put(`<title>${escaped(wholeText(child))}</title>`);
      else if (name === "meta") open(child, name);
      else if (name === "script") takeScript(child);
    }
  };
  const takeElement = (node, above) => {
    const name = nameOf(node);
    if (name === "head" && above.node === root) put("<head>"), takeHead(node), put("</head>");
    else if (name === "script") takeScript(node);
    else if (EMPTY.has(name)) open(node, name);
    else if (!SKIPPED.has(name) && name !== "title") {
      const own = enter(node, name, above);
      open(node, own.written);
      return own;
    }
    return null;
  };

  const top = {node: null, name: "", written: "", opacity: 1, closed: false, painted: false, gone: false, clear: false};
  const opened = [[top, [root][Symbol.iterator]()]];
  while (opened.length) {
    if (nodes > mostNodes || length > mostCharacters) return "too_large";
    const [above, children] = opened[opened.length - 1];
    const {done, value: node} = children.next();
    if (done) {
      opened.pop();
      if (above.node !== null) put(`</${above.written}>`);
      continue;
    }
    nodes += 1;
    const type = typeOf(node);
    if (type === Node.TEXT_NODE || type === Node.CDATA_SECTION_NODE) {
      takeText(node, above);
    } else if (type === Node.COMMENT_NODE) {
      put("<!-- " + textOf(node).replaceAll("<", " ").replaceAll(">", " ") + " -->");
    } else if (type === Node.ELEMENT_NODE) {
      const own = takeElement(node, above);
      if (own !== null) opened.push([own, below(node)]);
    }
  }
  return "<!doctype html>" + pieces.join("").toWellFormed();
})
