// Formats numbers as text for the reader.

/** Three significant digits, no exponent between 1e-4 and 1e6; a dash for a missing number. */
export function figure(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 1e-6) return "≈ 0";
  const text =
    size >= 1e6 || size < 1e-4
      ? size.toExponential(2)
      : size >= 100
        ? grouped(Math.round(size))
        : String(Number(size.toPrecision(3)));
  return value < 0 ? `\u2212${text}` : text;
}

/** "cm^3" -> "cm³", "N s" -> "N·s", "deg" -> "°"; words such as "of 6" stay */
export function readableUnit(unit) {
  const raised = { 2: "²", 3: "³", 6: "⁶" };
  return unit
    .replace(/\^(\d)/g, (_, digit) => raised[digit] ?? `^${digit}`)
    .replace(/ /g, /\bof\b/.test(unit) ? "\u00a0" : "·")
    .replace(/^deg$/, "°");
}

function grouped(whole) {
  return String(whole).replace(/\B(?=(\d{3})+(?!\d))/g, "\u2009");
}

export function whole(value) {
  return grouped(Math.round(value));
}

/** "12.3 N"; a dimensionless number has no unit. */
export function withUnit(value, unit) {
  const text = figure(value);
  return text === "–" || !unit ? text : `${text}${unit === "deg" ? "" : "\u00a0"}${readableUnit(unit)}`;
}

/** A score with one decimal place, rounded down: 84.97 must not read like a pass at 85. As score_text() of the program. */
export function scoreText(score) {
  return String(Math.floor(score * 10) / 10);
}

/** "1:05.25", or "12.25 s" below a minute. */
export function clock(seconds) {
  if (seconds < 60) return `${seconds.toFixed(2)}\u00a0s`;
  const minutes = Math.floor(seconds / 60);
  return `${minutes}:${(seconds - 60 * minutes).toFixed(2).padStart(5, "0")}`;
}

/** Round values from low to high, about `count` of them. */
export function ticks(low, high, count) {
  if (!(high > low)) return [low];
  const raw = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw * 0.999);
  const list = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; ++k)
    list.push(Number((k * step).toPrecision(12)));
  return list;
}
