// Tests the page's calculations without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { backendText, sampleText } from "../../app/report/web/agreement.js";
import { bestOf, isFlat, withoutTwins } from "../../app/report/web/compare.js";
import { kScale, scaleColour } from "../../app/report/web/colour.js";
import { decodeArray, decodePlaces, indexAt } from "../../app/report/web/decode.js";
import { clock, figure, readableUnit, scoreText, ticks, withUnit } from "../../app/report/web/format.js";
import { practiceAt, practiceText } from "../../app/report/web/practice.js";
import { judgement, limitsText, partsInOrder } from "../../app/report/web/score.js";
import { fillTriangle, travellers } from "../../app/report/web/paths.js";
import { lifetimes, vertexNormals } from "../../app/report/web/surface.js";

const base64 = (array) => Buffer.from(array.buffer).toString("base64");

test("the sample of the reference: nothing without one, its size, its errors", () => {
  assert.equal(sampleText({}), "");
  assert.equal(sampleText({ sample: { faces: 0, answers: 0, wrong: 0 } }), "");
  assert.match(sampleText({ sample: { faces: 80, answers: 5000, wrong: 0 } }), /80 faces of 5.000 answers, none of them wrong/);
  assert.match(sampleText({ sample: { faces: 80, answers: 5000, wrong: 3 } }), /3 of them wrong/);
});

test("arrays and positions are decoded", () => {
  assert.deepEqual([...decodeArray({ type: "f32", data: base64(new Float32Array([1.5, -2])) })], [1.5, -2]);
  const steps = { type: "u16", data: base64(new Uint16Array([0, 65535, 0])) };
  assert.deepEqual([...decodePlaces({ low: [-1, 2, 3], high: [1, 4, 3], steps })], [-1, 4, 3]);
});

test("indexAt finds the step of a time", () => {
  assert.deepEqual(
    [-1, 0, 0.5, 1, 9].map((time) => indexAt([0, 1, 2], time)),
    [0, 0, 0, 1, 2],
  );
  assert.equal(indexAt([3], 9), 0);
});

test("numbers, units and times are formatted", () => {
  assert.deepEqual([0, 1.2345, -12.345, 123.4, 12345, null, NaN, 1e-9].map(figure), [
    "0",
    "1.23",
    "−12.3",
    "123",
    "12\u2009345",
    "–",
    "–",
    "≈ 0",
  ]);
  assert.equal(withUnit(2, "m^2/s^6"), "2\u00a0m²/s⁶");
  assert.equal(withUnit(NaN, "mm"), "–");
  assert.equal(readableUnit("N s"), "N·s");
  assert.equal(readableUnit("% of the limit"), "%\u00a0of\u00a0the\u00a0limit");
  assert.deepEqual([5.25, 65.25].map(clock), ["5.25\u00a0s", "1:05.25"]);
  assert.deepEqual(ticks(0, 10, 4), [0, 5, 10]);
  assert.deepEqual(ticks(2, 2, 4), [2]);
});

test("a score is never rounded up", () => {
  assert.deepEqual([84.77, 84.9999, 85, 0, 99.999, 100].map(scoreText), ["84.7", "84.9", "85", "0", "99.9", "100"]);
});

test("the parts that cost most come first, at most six", () => {
  const parts = [1, 0.5, undefined, 0.2, 0, 0.9, 0.8, 0.7, 0.6].map((mark, k) => ({ id: k, mark }));
  const [first, others] = partsInOrder(parts);
  assert.deepEqual(first.map(({ id }) => id), [4, 3, 1, 8, 7, 6]);
  assert.deepEqual(others.map(({ id }) => id), [0, 2, 5]);
});

test("grades have words", () => {
  assert.deepEqual(
    [1, 0.5, 0].map((grade) => judgement(grade).name),
    ["good", "between", "poor"],
  );
  assert.equal(judgement(null), null);
  assert.equal(limitsText({ good: 30, poor: 90, unit: "s" }), "good up to 30\u00a0s, poor from 90\u00a0s");
  assert.equal(limitsText({ good: 95, poor: 40, unit: "%" }), "good from 95\u00a0%, poor up to 40\u00a0%");
  assert.equal(limitsText({ unit: "s" }), "");
});

test("the scale is clamped to its end colours", () => {
  const hex = (colour) => `#${colour.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
  assert.equal(hex(scaleColour(-1)), kScale[0]);
  assert.equal(hex(scaleColour(2)), kScale[kScale.length - 1]);
});

test("a triangle covers half of a square", () => {
  const inside = new Uint8Array(100 * 100);
  fillTriangle(inside, 100, 100, [0, 0], [100, 0], [0, 100]);
  const covered = inside.reduce((sum, pixel) => sum + pixel, 0);
  assert.ok(Math.abs(covered - 5000) <= 50, `${covered} pixels`);
  const turned = new Uint8Array(100 * 100);
  fillTriangle(turned, 100, 100, [0, 0], [0, 100], [100, 0]);
  assert.deepEqual(turned, inside);
});

test("a scope has a path only when it moves", () => {
  const names = (scope) =>
    travellers({ tools: [{ name: "probe" }], scope: new Float32Array(scope) }).map(({ name }) => name);
  assert.deepEqual(names([]), ["probe"]);
  assert.deepEqual(names([1, 2, 3, 1, 2, 3.5]), ["probe"]);
  assert.deepEqual(names([1, 2, 3, 1, 2, 9]), ["probe", "scope (dashed)"]);
});

test("normals and lifetimes of faces are computed", () => {
  assert.deepEqual(
    [...vertexNormals(new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0]), new Uint16Array([0, 1, 2]))],
    [0, 0, 1, 0, 0, 1, 0, 0, 1],
  );
  const life = lifetimes({ faces: new Uint16Array(9), born: { face: [2], time: [1] }, gone: { face: [0], time: [3] } });
  assert.deepEqual([...life.born], [-Infinity, -Infinity, 1]);
  assert.deepEqual([...life.gone], [3, Infinity, Infinity]);
});

test("the best attempt is found, flat and duplicate curves are recognised", () => {
  assert.equal(bestOf([3, 1, null, 2], false), 1);
  assert.equal(bestOf([3, 1, null, 2], true), 0);
  assert.equal(bestOf([3, 1], null), null);
  assert.equal(bestOf([2, 2], true), null);
  assert.ok(isFlat({ values: [2, null, 2] }));
  const curve = { instrument: "", label: "Time", values: [2, 1] };
  assert.deepEqual(
    withoutTwins([curve, { ...curve, id: "again" }, { ...curve, label: "Errors" }]).map(({ label }) => label),
    ["Time", "Errors"],
  );
  assert.equal(practiceAt({ limit: 10, gain: 60, rate: 0.5 }, 4), 40);
  const fit = { limit: -6, gain: -4, rate: 0.5, explained: 0.9 };
  const values = [-10, -9, -8, -8];
  assert.equal(practiceText({ values, fit }), "From −10 towards −6, halfway by attempt 4; R² 0.90.");
  assert.equal(practiceText({ values, fit: { ...fit, explained: 0.1 } }), "No clear trend; R² 0.10.");
  assert.match(practiceText({ values, fit: { ...fit, rate: 0.05 } }), /^From −10 to −9\.73, no limit in sight/);
  assert.match(practiceText({ values, fit: null }), /it needs three/);
});

test("a failed backend is named, a backend without a change is not", () => {
  const compute = { name: "compute", frame: 0, time: 0, fault: "" };
  assert.equal(backendText({ backends: [compute] }), "");
  assert.equal(backendText({}), "");
  const scan = { name: "scan", frame: 40, time: 0.667, fault: "compute: the graphics driver lost its OpenGL context" };
  assert.equal(
    backendText({ backends: [compute, scan] }),
    "The backend changed: compute from the start; scan from frame 40 (0.667 s) on, because another failed (compute: the graphics driver lost its OpenGL context).",
  );
  assert.match(backendText({ backends: [{ ...scan, frame: 0 }] }), /^The backend changed: scan from the start/);
});
