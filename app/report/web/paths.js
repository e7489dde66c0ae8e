// Draws the paths of the tips in three views, with the outlines of the organs behind them. Units: millimetres.
import { instrumentClass } from "./colour.js";
import { indexAt } from "./decode.js";
import { drawnToWidth, html, section, svg } from "./dom.js";
import { figure, ticks } from "./format.js";
import { boxOf } from "./surface.js";
import { instrumentLegend } from "./timeline.js";

// The axes of each view that point right and up. The scenes' axes are x to the patient's left, y to the head, z to the
// front.
const kViews = [
  { name: "Front", right: 0, up: 1, hint: "x right, y up" },
  { name: "Top", right: 0, up: 2, hint: "x right, z up" },
  { name: "Side", right: 2, up: 1, hint: "z right, y up" },
];
const kLeast = 30; // mm  minimum extent of a view, so that a nearly still tip is not magnified
const kMargin = { left: 40, right: 8, top: 8, bottom: 26 };

/** {middle: [x, y, z], side}: a cube around all the tips, mm. */
export function cubeAround(tools) {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (const { tip } of tools) {
    for (let k = 0; k < tip.length; ++k) {
      low[k % 3] = Math.min(low[k % 3], tip[k]);
      high[k % 3] = Math.max(high[k % 3], tip[k]);
    }
  }
  if (!Number.isFinite(low[0])) return { middle: [0, 0, 0], side: kLeast };
  const side = Math.max(kLeast, 1.2 * Math.max(...low.map((value, k) => high[k] - value)));
  return { middle: low.map((value, k) => 0.5 * (value + high[k])), side };
}

// The silhouette of the organs projected onto a plane is computed pixel by pixel: filling tens of thousands of small
// triangles with the canvas API takes minutes with software rendering.

// Returns twice the signed area of a, b and the point.
function side(a, b, x, y) {
  return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
}

/** Sets the pixels of `inside` whose centre lies in the triangle a, b, c (pixels, either orientation). */
export function fillTriangle(inside, columns, rows, a, b, c) {
  const least = (axis) => Math.max(0, Math.floor(Math.min(a[axis], b[axis], c[axis]) - 0.5));
  const most = (axis, limit) => Math.min(limit - 1, Math.ceil(Math.max(a[axis], b[axis], c[axis])));
  for (let row = least(1); row <= most(1, rows); ++row) {
    for (let column = least(0); column <= most(0, columns); ++column) {
      const [x, y] = [column + 0.5, row + 0.5];
      const [u, v, w] = [side(a, b, x, y), side(b, c, x, y), side(c, a, x, y)];
      if ((u >= 0 && v >= 0 && w >= 0) || (u <= 0 && v <= 0 && w <= 0)) inside[row * columns + column] = 1;
    }
  }
}

/** [row][column] 1 where a projected organ covers the pixel. `mapping` maps millimetres to pixels. */
function shadowOf(organs, view, mapping, columns, rows) {
  const inside = new Uint8Array(columns * rows);
  for (const { vertices, faces } of organs.filter((organ) => organ.vertices)) {
    const corner = (k) => [mapping.x(vertices[3 * faces[k] + view.right]), mapping.y(vertices[3 * faces[k] + view.up])];
    for (let k = 0; k < faces.length; k += 3)
      fillTriangle(inside, columns, rows, corner(k), corner(k + 1), corner(k + 2));
  }
  return inside;
}

function mappingOf(view, cube, width) {
  const plot = width - kMargin.left - kMargin.right;
  const scale = plot / cube.side;
  const low = (axis) => cube.middle[axis] - 0.5 * cube.side;
  return {
    plot,
    height: plot + kMargin.top + kMargin.bottom,
    x: (value) => kMargin.left + (value - low(view.right)) * scale,
    y: (value) => kMargin.top + plot - (value - low(view.up)) * scale,
    range: (axis) => [low(axis), low(axis) + cube.side],
  };
}

function axes(view, mapping) {
  const base = kMargin.top + mapping.plot;
  const [left, right] = [kMargin.left, kMargin.left + mapping.plot];
  return svg(
    "g",
    {},
    ticks(...mapping.range(view.right), 4).map((mark) => [
      svg("line", { x1: mapping.x(mark), x2: mapping.x(mark), y1: kMargin.top, y2: base, class: "grid" }),
      svg("text", { x: mapping.x(mark), y: base + 16, class: "tick middle" }, figure(mark)),
    ]),
    ticks(...mapping.range(view.up), 4).map((mark) => [
      svg("line", { x1: left, x2: right, y1: mapping.y(mark), y2: mapping.y(mark), class: "grid" }),
      svg("text", { x: left - 5, y: mapping.y(mark) + 4, class: "tick end" }, figure(mark)),
    ]),
    svg("rect", { x: left, y: kMargin.top, width: mapping.plot, height: mapping.plot, class: "frame" }),
  );
}

function pathOf(tool, view, mapping) {
  const points = [];
  for (let k = 0; k < tool.tip.length; k += 3)
    points.push(`${mapping.x(tool.tip[k + view.right]).toFixed(1)},${mapping.y(tool.tip[k + view.up]).toFixed(1)}`);
  return svg("path", { class: `path ${instrumentClass(tool.index)}`, d: `M${points.join("L")}` });
}

function ends(tool, view, mapping) {
  const last = tool.tip.length - 3;
  const at = (k) => [mapping.x(tool.tip[k + view.right]), mapping.y(tool.tip[k + view.up])];
  const [begin, end] = [at(0), at(last)];
  const colour = instrumentClass(tool.index);
  return [
    svg("circle", { cx: begin[0], cy: begin[1], r: 4, class: `path-begin ${colour}` }),
    svg("rect", { x: end[0] - 3.5, y: end[1] - 3.5, width: 7, height: 7, class: `path-end ${colour}` }),
  ];
}

// Draws the silhouette of the organs at rest.
function outline(organs, view, mapping, width) {
  const [columns, rows] = [width, Math.round(mapping.height)];
  const inside = shadowOf(organs, view, mapping, columns, rows);
  const canvas = html("canvas", { width: columns, height: rows, class: "outline", "aria-hidden": "true" });
  const pen = canvas.getContext("2d");
  if (!pen) return canvas;
  const picture = pen.createImageData(columns, rows);
  const [left, right, base] = [kMargin.left, kMargin.left + mapping.plot, kMargin.top + mapping.plot];
  for (let row = kMargin.top; row < base; ++row)
    for (let column = left; column < right; ++column)
      if (inside[row * columns + column]) picture.data.set([128, 128, 128, 255], 4 * (row * columns + column));
  pen.putImageData(picture, 0, 0);
  return canvas;
}

function viewDrawing(summary, view, cube, cursor, width) {
  const mapping = mappingOf(view, cube, width);
  const marks = summary.tools.map((tool) => svg("circle", { r: 5, class: `path-now ${instrumentClass(tool.index)}` }));
  const names = summary.tools.map((tool) => tool.name).join(", ");
  const picture = svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${mapping.height}`,
      role: "img",
      "aria-label": `${view.name} view of the paths of ${names}, millimetres`,
    },
    axes(view, mapping),
    summary.tools.map((tool) => pathOf(tool, view, mapping)),
    summary.tools.map((tool) => ends(tool, view, mapping)),
    marks,
  );
  const follow = (time) => {
    const step = 3 * indexAt(summary.stepTime, time);
    summary.tools.forEach((tool, k) => {
      marks[k].setAttribute("cx", mapping.x(tool.tip[step + view.right]));
      marks[k].setAttribute("cy", mapping.y(tool.tip[step + view.up]));
    });
  };
  const background = outline(summary.organs, view, mapping, width);
  return { element: html("div", { class: "path-view" }, background, picture), follow };
}

/** The instruments, and the scope if it moved more than a millimetre along some axis. */
export function travellers({ tools, scope }) {
  const { low, high } = boxOf([scope]);
  const moved = low.some((value, axis) => high[axis] - value > 1);
  return moved ? [...tools, { name: "scope (dashed)", index: null, tip: scope }] : tools;
}

export function pathsSection(session, cursor) {
  const summary = { ...session, tools: travellers(session) };
  const cube = cubeAround(summary.tools);
  const views = kViews.map((view) => {
    const stage = html("div", { class: "drawing" });
    let follow = () => {};
    drawnToWidth(stage, (width) => {
      const drawn = viewDrawing(summary, view, cube, cursor, width);
      follow = drawn.follow;
      follow(cursor.at);
      return drawn.element;
    });
    cursor.follow((time) => follow(time));
    return html("figure", {}, html("figcaption", {}, html("strong", {}, view.name), ` ${view.hint}, mm`), stage);
  });
  return section(
    "paths-section",
    "Paths of the tips",
    "Circle: start; square: end; ring: position at the time cursor. All views have the same scale; the organs are shown at rest in the background.",
    instrumentLegend(summary.tools),
    html("div", { class: "views" }, views),
  );
}
