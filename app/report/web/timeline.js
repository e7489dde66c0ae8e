// Draws the force, the touched faces and the speed of every instrument over time, and the time cursor.
import { instrumentClass } from "./colour.js";
import { indexAt } from "./decode.js";
import { drawnToWidth, freshId, html, section, svg, table } from "./dom.js";
import { clock, figure, ticks } from "./format.js";

const kCurves = [
  { key: "force", title: "Force on the instrument, N" },
  { key: "touched", title: "Touched faces" },
  { key: "speed", title: "Speed of the tip, mm/s" },
];
const kCurveHeight = 92;
const kBandHeight = 18;
const kTitleHeight = 20;
const kAxisHeight = 24;
const kRight = 14;

function largest(values) {
  let most = 0;
  for (const value of values) if (value > most) most = value;
  return most;
}

// The time intervals that are shown in rows above the curves, in seconds.

/** [{name, marks: [{from, to, tool}]}]: rows that are not empty, the most important first. */
function bandsOf(session) {
  const { summary, attempt } = session;
  const errors = (attempt.task?.events ?? []).filter((event) => event.error);
  const ofTools = (name, key) => ({
    name,
    marks: summary.tools.flatMap((tool) => tool[key].map(([from, to]) => ({ from, to, tool: tool.index }))),
  });
  const bands = [
    {
      name: "Errors",
      marks: errors.map((event) => ({ from: event.time, to: event.time, text: event.text })),
      error: true,
    },
    ofTools("Diathermy", "energy"),
    ofTools("Out of view", "out_of_view"),
    ofTools("Tip in organ", "inside"),
    { name: "Collision", marks: summary.collisions.map(([from, to]) => ({ from, to })) },
    ofTools("No device", "without_device"),
  ];
  return bands.filter((band) => band.marks.length > 0);
}

/** The states of an instrument at `time`, in words. */
function statesAt(tool, time) {
  const holds = (spans) => spans.some(([from, to]) => from <= time && time <= to);
  const states = [
    [tool.energy, "diathermy"],
    [tool.out_of_view, "out of view"],
    [tool.inside, "tip in organ"],
    [tool.without_device, "no device"],
  ];
  return states.filter(([spans]) => holds(spans)).map(([, word]) => word);
}

/** Layout of a drawing of this width: x of a time, gutter on the left. */
function layout(summary, width) {
  const gutter = width < 560 ? 76 : 96;
  const length = summary.end - summary.begin || 1;
  const plot = Math.max(40, width - gutter - kRight);
  return {
    width,
    gutter,
    plot,
    x: (time) => gutter + ((time - summary.begin) / length) * plot,
    time: (x) => summary.begin + ((x - gutter) / plot) * length,
  };
}

// Draws a line if every bin is one frame, else the area between the minimum and the maximum of each bin.
function curvePaths(tool, envelope, times, mapping, y) {
  const points = (values) =>
    Array.from(values, (value, k) => `${mapping.x(times[k]).toFixed(1)},${y(value).toFixed(1)}`);
  const top = points(envelope.high);
  const colour = instrumentClass(tool.index);
  const line = svg("path", { class: `curve ${colour}`, d: `M${top.join("L")}`, "data-points": top.length });
  if (envelope.low === envelope.high) return [line];
  const back = points(envelope.low).reverse();
  return [svg("path", { class: `curve-band ${colour}`, d: `M${top.join("L")}L${back.join("L")}Z` }), line];
}

function curve(summary, { key, title }, mapping, top) {
  const most = largest(summary.tools.map((tool) => largest(tool[key].high))) || 1;
  const marks = ticks(0, most, 3);
  const range = 1.06 * Math.max(most, marks[marks.length - 1]);
  const base = top + kTitleHeight + kCurveHeight;
  const y = (value) => base - (value / range) * kCurveHeight;
  return svg(
    "g",
    { "data-curve": key },
    svg("text", { x: mapping.gutter, y: top + 13, class: "row-title" }, title),
    marks.map((mark) => [
      svg("line", { x1: mapping.gutter, x2: mapping.gutter + mapping.plot, y1: y(mark), y2: y(mark), class: "grid" }),
      svg("text", { x: mapping.gutter - 6, y: y(mark) + 4, class: "tick end" }, figure(mark)),
    ]),
    summary.tools.map((tool) => curvePaths(tool, tool[key], summary.binTime, mapping, y)),
  );
}

function bandMark(mark, mapping, y, height) {
  const x = mapping.x(mark.from);
  const width = Math.max(2, mapping.x(mark.to) - x);
  const colour = mark.tool === undefined ? "band-all" : instrumentClass(mark.tool);
  return svg("rect", { x, y, width, height, class: `band ${colour}` });
}

function errorMark(mark, mapping, y) {
  const x = mapping.x(mark.from);
  return svg(
    "path",
    { d: `M${x - 4},${y + 3}l8,8m0,-8l-8,8`, class: "error-mark" },
    svg("title", {}, `${clock(mark.from)}: ${mark.text}`),
  );
}

// Each instrument has its own lane in a band.
function band(row, tools, mapping, top) {
  const lane = (kBandHeight - 5) / Math.max(1, tools);
  return svg(
    "g",
    { "data-band": row.name },
    svg("text", { x: mapping.gutter - 6, y: top + 12, class: "tick end" }, row.name),
    svg("rect", { x: mapping.gutter, y: top, width: mapping.plot, height: kBandHeight - 3, class: "band-track" }),
    row.marks.map((mark) =>
      row.error
        ? errorMark(mark, mapping, top)
        : mark.tool === undefined
          ? bandMark(mark, mapping, top + 1, kBandHeight - 5)
          : bandMark(mark, mapping, top + 1 + mark.tool * lane, lane),
    ),
  );
}

function axis(summary, mapping, top) {
  return ticks(summary.begin, summary.end, mapping.plot / 90).map((time) => [
    svg("line", { x1: mapping.x(time), x2: mapping.x(time), y1: top, y2: top + 5, class: "axis" }),
    svg("text", { x: mapping.x(time), y: top + 18, class: "tick middle" }, `${figure(time)} s`),
  ]);
}

function drawing(session, width, description) {
  const { summary } = session;
  const mapping = layout(summary, width);
  const parts = [];
  let top = 2;
  for (const row of bandsOf(session)) {
    parts.push(band(row, summary.tools.length, mapping, top));
    top += kBandHeight;
  }
  for (const kind of kCurves) {
    parts.push(curve(summary, kind, mapping, top + 4));
    top += kTitleHeight + kCurveHeight + 8;
  }
  parts.push(axis(summary, mapping, top));
  const line = svg("line", { class: "cursor", y1: 0, y2: top, "data-cursor": true });
  const height = top + kAxisHeight;
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "timeline", role: "img", "aria-label": description },
    parts,
    line,
  );
  return { picture, line, mapping };
}

function describe(summary) {
  const peaks = summary.tools.map(
    (tool) =>
      `${tool.name}: at most ${figure(largest(tool.force.high))} newtons, ${figure(largest(tool.speed.high))} millimetres a second`,
  );
  return `Timeline of ${clock(summary.end - summary.begin)}. ${peaks.join("; ")}.`;
}

/** The names of the instruments in their colours. */
export function instrumentLegend(tools) {
  return html(
    "ul",
    { class: "legend" },
    tools.map((tool) =>
      html(
        "li",
        {},
        html("span", { class: `swatch ${instrumentClass(tool.index)}`, "aria-hidden": "true" }),
        tool.name,
      ),
    ),
  );
}

function readings(summary, cursor) {
  const cells = summary.tools.map(() => kCurves.map(() => html("td", {})).concat(html("td", { class: "states" })));
  const rows = summary.tools.map((tool, k) =>
    html(
      "tr",
      {},
      html(
        "th",
        { scope: "row" },
        html("span", { class: `swatch ${instrumentClass(tool.index)}`, "aria-hidden": "true" }),
        tool.name,
      ),
      cells[k],
    ),
  );
  cursor.follow((time) => {
    const bin = indexAt(summary.binTime, time);
    summary.tools.forEach((tool, k) => {
      kCurves.forEach(({ key }, column) => {
        cells[k][column].textContent = figure(tool[key].high[bin]);
      });
      cells[k][kCurves.length].textContent = statesAt(tool, time).join(", ") || "–";
    });
  });
  return table(
    "Readings at the time cursor",
    "readings",
    ["At the cursor", "Force, N", "Faces", "Speed, mm/s", "State"],
    rows,
  );
}

function playButton(cursor) {
  let last = null;
  const button = html("button", { type: "button", class: "play", "aria-pressed": "false" }, "▶ Play");
  const stop = () => {
    last = null;
    button.textContent = "▶ Play";
    button.setAttribute("aria-pressed", "false");
  };
  const tick = (now) => {
    if (last === null) return;
    cursor.move(cursor.at + (now - last) / 1000);
    last = now;
    if (cursor.at >= cursor.end) stop();
    else requestAnimationFrame(tick);
  };
  button.addEventListener("click", () => {
    if (last !== null) return stop();
    if (cursor.at >= cursor.end) cursor.move(cursor.begin);
    last = performance.now();
    button.textContent = "❚❚ Pause";
    button.setAttribute("aria-pressed", "true");
    requestAnimationFrame(tick);
  });
  return button;
}

function slider(summary, cursor) {
  const id = freshId("time");
  const input = html("input", {
    type: "range",
    id,
    min: summary.begin,
    max: summary.end,
    step: "any",
    class: "time-slider",
    oninput: () => cursor.move(Number(input.value)),
    onkeydown: (event) => {
      const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      cursor.move(cursor.at + (step * (summary.end - summary.begin)) / 200);
    },
  });
  const shown = html("output", { for: id, class: "time-shown" });
  cursor.follow((time) => {
    input.value = time;
    input.setAttribute("aria-valuetext", `${time.toFixed(2)} seconds`);
    shown.textContent = clock(time);
  });
  return html("div", { class: "time-control" }, playButton(cursor), html("label", { for: id }, "Time"), input, shown);
}

function binsNote(summary) {
  if (summary.bin_time && summary.binTime.length >= summary.frames) return "Every frame is drawn.";
  return `Each point represents ${Math.ceil(summary.frames / summary.binTime.length)} frames; the band extends from their lowest to their highest value.`;
}

/** Bands, curves, cursor and readings of a session. */
export function timelineSection(session, cursor) {
  const { summary } = session;
  const stage = html("div", { class: "drawing" });
  let drawn = null;
  const follow = (time) => {
    if (!drawn) return;
    const x = drawn.mapping.x(time);
    drawn.line.setAttribute("x1", x);
    drawn.line.setAttribute("x2", x);
  };
  const point = (event) => {
    const box = drawn.picture.getBoundingClientRect();
    cursor.move(drawn.mapping.time(((event.clientX - box.left) / box.width) * drawn.mapping.width));
  };
  drawnToWidth(stage, (width) => {
    drawn = drawing(session, width, describe(summary));
    drawn.picture.addEventListener("pointerdown", (event) => {
      drawn.picture.setPointerCapture(event.pointerId);
      point(event);
    });
    drawn.picture.addEventListener("pointermove", (event) => event.buttons === 1 && point(event));
    follow(cursor.at);
    return drawn.picture;
  });
  cursor.follow(follow);
  return section(
    "timeline-section",
    "Timeline",
    `Drag, or use the slider and its arrow keys: the paths and the organs show the same time. ${binsNote(summary)}`,
    instrumentLegend(summary.tools),
    stage,
    slider(summary, cursor),
    readings(summary, cursor),
  );
}
