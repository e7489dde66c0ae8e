// Defines colours that colour-blind readers can distinguish. Instruments: four of Okabe and Ito's set, "Color universal
// design", 2008.
// Scale: viridis, Smith and van der Walt, matplotlib 2.0, 2015: ten of its colours, interpolated linearly.

export const kInstrumentColours = ["#0072b2", "#e69f00", "#009e73", "#cc79a7"];

/** The CSS class with the colour of an instrument's lines and symbols (style.css); null: the scope's. */
export function instrumentClass(index) {
  return index === null ? "instrument-scope" : `instrument-${index % kInstrumentColours.length}`;
}

export const kScale = [
  "#440154",
  "#482878",
  "#3e4989",
  "#31688e",
  "#26828e",
  "#1f9e89",
  "#35b779",
  "#6ece58",
  "#b5de2b",
  "#fde725",
];

/** 0 .. 1 -> [red, green, blue] of the scale, 0 .. 255; values outside are clamped. */
export function scaleColour(share) {
  const at = Math.min(1, Math.max(0, share)) * (kScale.length - 1);
  const below = Math.min(kScale.length - 2, Math.floor(at));
  const part = (hex, k) => Number.parseInt(hex.slice(1 + 2 * k, 3 + 2 * k), 16);
  return [0, 1, 2].map((k) => {
    const low = part(kScale[below], k);
    return Math.round(low + (at - below) * (part(kScale[below + 1], k) - low));
  });
}
