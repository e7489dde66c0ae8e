// Creates elements. Text always becomes a text node, so that no recording can inject markup into the page.

const kSvg = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** html("p", {class: "small"}, "text", ...) */
export function html(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** As html(), for SVG elements. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(kSvg, tag), attributes, children);
}

let numbers = 0;
/** A unique element id. */
export function freshId(stem) {
  numbers += 1;
  return `${stem}-${numbers}`;
}

/** A section with a heading; `intro` is a sentence about its content. */
export function section(id, title, intro, ...children) {
  const heading = `${id}-heading`;
  return html(
    "section",
    { id, "aria-labelledby": heading, class: "card" },
    html("h2", { id: heading }, title),
    intro && html("p", { class: "intro" }, intro),
    children,
  );
}

/** A table that scrolls when it is too wide. `heads`: texts, or cells of the head; `rows`: of the body. */
export function table(name, kind, heads, ...rows) {
  const head = heads.map((cell) => (typeof cell === "string" ? html("th", { scope: "col" }, cell) : cell));
  return html(
    "section",
    { class: "scroll", tabindex: "0", "aria-label": name },
    html("table", { class: kind }, html("thead", {}, html("tr", {}, head)), html("tbody", {}, rows)),
  );
}

/** Draws at the container's width, and redraws when the width changes. draw(width) -> element. */
export function drawnToWidth(container, draw) {
  let drawn = 0;
  const redraw = () => {
    const width = Math.round(container.clientWidth);
    if (width === 0 || width === drawn) return;
    drawn = width;
    container.replaceChildren(draw(width));
  };
  new ResizeObserver(redraw).observe(container);
  redraw();
}
