// Numbers as people read them.

/** Three significant figures, no exponent for everyday sizes; a dash where there is no number. */
export function figure(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e6 || size < 1e-4) return value.toExponential(2);
  if (size >= 100) return grouped(Math.round(value));
  return String(Number(value.toPrecision(3)));
}

function grouped(whole) {
  return String(whole).replace(/\B(?=(\d{3})+(?!\d))/g, "\u2009");
}

export function whole(value) {
  return grouped(Math.round(value));
}

/** "12.3 N"; a pure number without a unit. */
export function withUnit(value, unit) {
  const text = figure(value);
  return text === "–" || !unit ? text : `${text}\u00a0${unit}`;
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
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; ++k) list.push(Number((k * step).toPrecision(12)));
  return list;
}
