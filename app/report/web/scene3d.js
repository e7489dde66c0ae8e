// Draws the organs, paths and instruments in three dimensions, with three.js (viewer.js). Units: millimetres.
import { kInstrumentColours, scaleColour } from "./colour.js";
import { indexAt } from "./decode.js";
import { boxOf, cornersOf, lifetimes, perCorner, vertexNormals } from "./surface.js";

const kUntouched = "#e9e4dd"; // distinct from every colour of the scale
const kFreshWall = "#9a938b"; // walls created by burning, cutting, tearing
const kGone = "#d55e00";

function organMeshes(three, organ) {
  const faceCount = organ.faces.length / 3;
  const attribute = (array) => new three.BufferAttribute(array, 3);
  const positions = attribute(perCorner(organ.vertices, organ.faces));
  const normals = attribute(perCorner(vertexNormals(organ.vertices, organ.faces), organ.faces));
  const colours = attribute(new Float32Array(organ.faces.length * 3));
  const geometryOf = (withColours) => {
    const geometry = new three.BufferGeometry();
    geometry.setAttribute("position", positions);
    geometry.setAttribute("normal", normals);
    if (withColours) geometry.setAttribute("color", colours);
    return geometry;
  };
  const living = new three.Mesh(
    geometryOf(true),
    new three.MeshLambertMaterial({ vertexColors: true, side: three.DoubleSide }),
  );
  const gone = new three.Mesh(
    geometryOf(false),
    new three.MeshBasicMaterial({
      color: kGone,
      transparent: true,
      opacity: 0.35,
      side: three.DoubleSide,
      depthWrite: false,
    }),
  );
  return { organ, faceCount, living, gone, colours, life: lifetimes(organ), shown: "" };
}

// Shows the faces that exist at `time`, and if wanted those removed before.
function showFaces(three, mesh, time, withGone) {
  const { born, gone } = mesh.life;
  const changes = (times) => times.filter((moment) => moment <= time).length;
  const shown = `${changes(mesh.organ.born.time)} ${changes(mesh.organ.gone.time)} ${withGone}`;
  if (shown === mesh.shown) return;
  mesh.shown = shown;
  const index = (keep) => new three.BufferAttribute(cornersOf(mesh.faceCount, keep), 1);
  mesh.living.geometry.setIndex(index((face) => born[face] <= time && time < gone[face]));
  mesh.gone.geometry.setIndex(index((face) => withGone && gone[face] <= time && born[face] < gone[face]));
}

function paint(three, mesh, quantity, most) {
  const colour = new three.Color();
  const at = (face, shade) => {
    for (let corner = 0; corner < 3; ++corner) mesh.colours.setXYZ(3 * face + corner, shade.r, shade.g, shade.b);
  };
  const fresh = new Set(mesh.organ.born.face);
  const [untouched, wall] = [new three.Color(kUntouched), new three.Color(kFreshWall)];
  for (let face = 0; face < mesh.faceCount; ++face) at(face, fresh.has(face) ? wall : untouched);
  const { contact } = mesh.organ;
  contact.face.forEach((face, k) => {
    const [red, green, blue] = scaleColour(contact[quantity][k] / most);
    at(face, colour.set(`rgb(${red},${green},${blue})`));
  });
  mesh.colours.needsUpdate = true;
}

function instrument(three, tool) {
  const colour = kInstrumentColours[tool.index % kInstrumentColours.length];
  const geometry = new three.BufferGeometry();
  geometry.setAttribute("position", new three.BufferAttribute(tool.tip, 3));
  const path = new three.Line(geometry, new three.LineBasicMaterial({ color: colour }));
  const material = new three.MeshLambertMaterial({ color: colour });
  const shaft = new three.Mesh(new three.CylinderGeometry(tool.radius_mm, tool.radius_mm, 1, 20), material);
  const tip = new three.Mesh(new three.SphereGeometry(tool.radius_mm, 20, 12), material);
  return { tool, path, shaft, tip };
}

function placeInstrument(three, { tool, shaft, tip }, step) {
  const end = new three.Vector3(...tool.tip.slice(3 * step, 3 * step + 3));
  const pivot = new three.Vector3(...tool.pivot.slice(3 * step, 3 * step + 3));
  const along = pivot.clone().sub(end);
  const length = along.length();
  tip.position.copy(end);
  shaft.visible = length > 0;
  if (length === 0) return;
  shaft.scale.set(1, length, 1);
  shaft.position.copy(end).addScaledVector(along, 0.5);
  shaft.quaternion.setFromUnitVectors(new three.Vector3(0, 1, 0), along.normalize());
}

// Returns the centroid of the touched faces, weighted by seconds of contact; null without contact.
function contactMiddle(organs) {
  const sum = [0, 0, 0];
  let weight = 0;
  for (const { vertices, faces, contact } of organs) {
    contact.face.forEach((face, k) => {
      for (let corner = 0; corner < 3; ++corner)
        for (let axis = 0; axis < 3; ++axis)
          sum[axis] += (contact.seconds[k] * vertices[3 * faces[3 * face + corner] + axis]) / 3;
      weight += contact.seconds[k];
    });
  }
  return weight > 0 ? sum.map((value) => value / weight) : null;
}

const kDirections = {
  Front: [0, 0, 1],
  Top: [0, -1, 0.001],
  Side: [-1, 0, 0],
  Slanted: [-0.45, -0.5, 1],
};

// Adds a light that is fixed to the camera, above and beside it.
function addLights(three, scene, camera) {
  const light = new three.DirectionalLight("#ffffff", 1.6);
  light.position.set(0.4, 0.6, 1);
  camera.add(light);
  scene.add(new three.HemisphereLight("#ffffff", "#b9b4ad", 1.7), camera);
}

/** Camera control: named views, turns by keys (radians), zoom. */
function viewing(three, camera, controls, organs, render) {
  const box = boxOf(organs.map((organ) => organ.vertices));
  const middle = box.low.map((value, k) => 0.5 * (value + box.high[k]));
  const size = Math.hypot(...box.low.map((value, k) => box.high[k] - value)) || 100;
  const touched = contactMiddle(organs);
  const show = () => {
    controls.update();
    render();
  };
  const look = (direction, at, distance) => {
    controls.target.set(...at);
    camera.position.set(...at).add(new three.Vector3(...direction).normalize().multiplyScalar(distance));
    show();
  };
  return {
    touched: touched !== null,
    lookFrom(name) {
      if (name === "Contact" && touched) look(kDirections.Slanted, touched, 0.6 * size);
      else look(kDirections[name] ?? kDirections.Slanted, middle, 1.4 * size);
    },
    turn(sideways, upwards) {
      const offset = camera.position.clone().sub(controls.target);
      const right = new three.Vector3(0, 1, 0).cross(offset).normalize();
      offset.applyAxisAngle(new three.Vector3(0, 1, 0), sideways);
      const tilted = offset.clone().applyAxisAngle(right, upwards);
      if (Math.abs(tilted.y) < 0.99 * tilted.length()) offset.copy(tilted);
      camera.position.copy(controls.target).add(offset);
      show();
    },
    zoom(factor) {
      camera.position.sub(controls.target).multiplyScalar(factor).add(controls.target);
      show();
    },
  };
}

/** Makes the scene on `canvas` and returns its interface. Error: when the browser has no WebGL. */
export function makeScene(canvas, summary) {
  const three = globalThis.ThreeViewer;
  const renderer = new three.WebGLRenderer({ canvas, antialias: true, alpha: true, preserveDrawingBuffer: true });
  renderer.setPixelRatio(Math.min(2, globalThis.devicePixelRatio || 1));
  const scene = new three.Scene();
  const camera = new three.PerspectiveCamera(32, 1, 1, 5000);
  addLights(three, scene, camera);
  const shaped = summary.organs.filter((organ) => organ.vertices);
  const organs = shaped.map((organ) => organMeshes(three, organ));
  const instruments = summary.tools.map((tool) => instrument(three, tool));
  const [paths, tools] = [new three.Group(), new three.Group()];
  organs.forEach(({ living, gone }) => scene.add(living, gone));
  instruments.forEach(({ path, shaft, tip }) => {
    paths.add(path);
    tools.add(shaft, tip);
  });
  scene.add(paths, tools);
  const controls = new three.OrbitControls(camera, canvas);
  const render = () => renderer.render(scene, camera);
  controls.addEventListener("change", render);
  return {
    ...viewing(three, camera, controls, shaped, render),
    resize(width, height) {
      renderer.setSize(width, height, false);
      camera.aspect = width / height;
      camera.updateProjectionMatrix();
      render();
    },
    paint(quantity, most) {
      organs.forEach((mesh) => paint(three, mesh, quantity, most));
      render();
    },
    /** hidden: numbers of hidden organs. paths, tools, gone: shown or not. time: s, of the cursor. */
    show(state) {
      organs.forEach((mesh, k) => {
        mesh.living.visible = mesh.gone.visible = !state.hidden.has(k);
        showFaces(three, mesh, state.time, state.gone);
      });
      paths.visible = state.paths;
      tools.visible = state.tools;
      const step = indexAt(summary.stepTime, state.time);
      instruments.forEach((one) => placeInstrument(three, one, step));
      render();
    },
  };
}
