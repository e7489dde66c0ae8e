// Draws the organs coloured by contact: by its duration or by its highest pressure on each face in the whole session.
import { kScale } from "./colour.js";
import { freshId, html, section, table } from "./dom.js";
import { figure, whole } from "./format.js";
import { makeScene } from "./scene3d.js";

const kQuantities = {
  seconds: { label: "seconds of contact", unit: "s", scale: 1 },
  pressure: { label: "highest pressure", unit: "kPa", scale: 1e-3 },
};

/** The value of the scale's last colour: 98 of 100 touched faces are below, so that one outlier does not hide the others. */
export function topOfScale(organs, quantity) {
  const values = organs.flatMap((organ) => Array.from(organ.contact[quantity])).sort((a, b) => a - b);
  if (values.length === 0) return 1;
  return values[Math.floor(0.98 * (values.length - 1))] || values[values.length - 1] || 1;
}

function legend() {
  const high = html("span", {});
  const name = html("span", { class: "scale-name" });
  const bar = html("div", {
    class: "scale-bar",
    role: "img",
    style: `background:linear-gradient(to right, ${kScale.join(",")})`,
  });
  const element = html("div", { class: "scale" }, name, html("span", {}, "0"), bar, high);
  const set = (quantity, most) => {
    const { label, unit, scale } = kQuantities[quantity];
    name.textContent = label;
    high.textContent = `≥ ${figure(most * scale)} ${unit}`;
    bar.setAttribute(
      "aria-label",
      `Colour scale: ${label}, from 0 (dark violet) to ${figure(most * scale)} ${unit} and more (yellow)`,
    );
  };
  return { element, set };
}

function option(kind, name, label, checked, onchange) {
  const id = freshId("option");
  return html(
    "span",
    { class: "option" },
    html("input", { type: kind, id, name, checked, onchange }),
    html("label", { for: id }, label),
  );
}

// Returns the number of removed faces, without those that were also created during the session.
function originalsRemoved({ born, gone }) {
  const created = new Set(born.face);
  return gone.face.filter((face) => !created.has(face)).length;
}

function organTable(organs) {
  const cells = (organ) => [
    whole(organ.contact.face.length),
    `${figure(organ.touched_area_mm2 / 100)} cm²`,
    `${figure(organ.contact.seconds.reduce((most, value) => Math.max(most, value), 0))} s`,
    `${figure(organ.contact.pressure.reduce((most, value) => Math.max(most, value), 0) / 1000)} kPa`,
    whole(originalsRemoved(organ)),
  ];
  const heads = [
    "Organ",
    "Faces touched",
    "Area touched, at rest",
    "Longest on one face",
    "Highest pressure",
    "Original faces removed (burnt, cut, torn)",
  ];
  return table(
    "Contact of each organ",
    null,
    heads,
    organs.map((organ) =>
      html(
        "tr",
        {},
        html("th", { scope: "row" }, organ.name),
        cells(organ).map((text) => html("td", { class: "number" }, text)),
      ),
    ),
  );
}

// Arrow keys turn the view, + and - zoom.
function keys(scene, event) {
  const turns = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, -0.15], ArrowDown: [0, 0.15] };
  if (turns[event.key]) scene.turn(...turns[event.key]);
  else if (event.key === "+" || event.key === "=") scene.zoom(0.85);
  else if (event.key === "-") scene.zoom(1 / 0.85);
  else return;
  event.preventDefault();
}

function fitted(canvas, stage, scene) {
  const fit = () => {
    const width = stage.clientWidth;
    if (width > 0) scene.resize(width, Math.round(Math.min(520, Math.max(300, width * 0.6))));
  };
  new ResizeObserver(fit).observe(stage);
  fit();
}

function controlsOf(scene, organs, cursor, scale) {
  const state = { hidden: new Set(), paths: true, tools: true, gone: true, time: cursor.at };
  const refresh = () => scene.show(state);
  const quantity = (name) => {
    const most = topOfScale(organs, name);
    scene.paint(name, most);
    scale.set(name, most);
  };
  cursor.follow((time) => {
    state.time = time;
    refresh();
  });
  quantity("seconds");
  const flag = (key, label) =>
    option("checkbox", key, label, state[key], (event) => {
      state[key] = event.target.checked;
      refresh();
    });
  const organFlag = (organ, k) =>
    option("checkbox", `organ-${k}`, organ.name, true, (event) => {
      if (event.target.checked) state.hidden.delete(k);
      else state.hidden.add(k);
      refresh();
    });
  const views = ["Slanted", "Front", "Top", "Side", scene.touched && "Contact"].filter(Boolean);
  return html(
    "div",
    { class: "controls" },
    html(
      "fieldset",
      {},
      html("legend", {}, "Colour by"),
      Object.entries(kQuantities).map(([name, { label }], k) =>
        option("radio", "quantity", label, k === 0, () => quantity(name)),
      ),
    ),
    html(
      "fieldset",
      {},
      html("legend", {}, "Show"),
      organs.map(organFlag),
      flag("paths", "paths"),
      flag("tools", "instruments"),
      organs.some((organ) => organ.gone.face.length > 0) && flag("gone", "removed faces"),
    ),
    html(
      "fieldset",
      {},
      html("legend", {}, "View"),
      views.map((name) => html("button", { type: "button", onclick: () => scene.lookFrom(name) }, name)),
    ),
  );
}

function stageOf(summary, organs, cursor) {
  const canvas = html("canvas", {
    class: "view3d",
    tabindex: "0",
    role: "img",
    "aria-label": "The organs in three dimensions, coloured by contact. Arrow keys turn the view, plus and minus zoom.",
  });
  const stage = html("div", { class: "drawing stage3d" }, canvas);
  const scale = legend();
  let scene = null;
  try {
    scene = makeScene(canvas, summary);
  } catch {
    return html(
      "p",
      { class: "notice", id: "no-webgl", role: "note" },
      "This browser has no WebGL, so the organs cannot be shown in three dimensions; everything else is complete. Use another browser or enable graphics acceleration.",
    );
  }
  canvas.addEventListener("keydown", (event) => keys(scene, event));
  fitted(canvas, stage, scene);
  const controls = controlsOf(scene, organs, cursor, scale);
  scene.lookFrom("Slanted");
  return [controls, stage, scale.element];
}

export function organsSection(summary, cursor) {
  const organs = summary.organs.filter((organ) => organ.vertices);
  return section(
    "organs-section",
    "Contact on the organs",
    "Colours show the whole session on the organs' shape at rest; pale: never touched. Instruments and removed faces are shown at the time cursor. Drag to turn, wheel to zoom.",
    stageOf(summary, organs, cursor),
    organTable(organs),
  );
}
