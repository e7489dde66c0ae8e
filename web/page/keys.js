// The texts about keys, mouse and fingers: for each kind of instrument, and all of them.

const kWork = {
  grasper: [
    ["left button, click", "close the jaws lightly; the next click opens them"],
    ["left button, held", "close them firmly; they stay closed"],
  ],
  scissors: [["left button, held", "close the blades: they cut once"]],
  "clip-applier": [
    ["left button, held", "close the jaws firmly: the clip closes"],
    ["left button, click", "open them wide: the next clip is loaded"],
  ],
  hook: [
    ["Q, W", "turn the hook's foot"],
    ["E or Space, held", "diathermy: cut"],
    ["R, held", "diathermy: coagulate"],
  ],
  suction: [
    ["E, held", "suck"],
    ["R, held", "rinse"],
  ],
  scope: [["Q, W", "turn the light post"]],
};

const kTouchWork = {
  grasper: [["Jaws", "tap: close lightly or open; hold: close firmly"]],
  scissors: [["Jaws, held", "close the blades: they cut once"]],
  "clip-applier": [["Jaws", "hold: the clip closes; tap: open, the next clip is loaded"]],
  hook: [
    ["Roll", "turn the hook's foot"],
    ["Cut, Coagulate, held", "diathermy"],
  ],
  suction: [["Suck, Rinse, held", "remove fluid, rinse the tissue"]],
  scope: [["Roll", "turn the light post"]],
};

/** The keys of one instrument ("scope" is a kind here), for the mouse or for fingers. */
export function keysOf(kind, touch) {
  if (touch)
    return [
      ["one finger", kind === "scope" ? "swing the scope" : "swing the handle: the tip moves against the hand"],
      ["slider at the edge", "insert, withdraw"],
      ...(kTouchWork[kind] ?? []),
    ];
  return [
    ["mouse", kind === "scope" ? "swing the scope" : "swing the handle: the tip moves against the hand"],
    ["wheel up, down", "insert, withdraw"],
    ...(kWork[kind] ?? []),
    ["Shift, held", "fine movement"],
  ];
}

/** What an instrument has: the buttons that the touch controls show, and the names of its pedals. */
export function partsOf(kind) {
  return {
    jaws: ["grasper", "scissors", "clip-applier"].includes(kind),
    pedals: { hook: ["Cut", "Coagulate"], suction: ["Suck", "Rinse"] }[kind] ?? null,
  };
}

export const kAllKeys = [
  ["move the mouse", "swing the handle about the trocar: the tip moves in the opposite direction"],
  ["wheel up, down, or Up, Down", "insert, withdraw"],
  ["Q, W, or Left, Right", "roll the instrument; for the scope, turn the light post"],
  ["Shift, held", "fine movement: a quarter as large"],
  ["left button, click", "close the jaws with a light grip; the next click opens them"],
  ["left button, held", "close the jaws with a firm grip; they stay closed. Scissors: closed while held"],
  ["E or Space, held", "diathermy on, cut; suction: suck"],
  ["R, held", "diathermy on, coagulate; suction: rinse"],
  ["1 to 9, Tab", "select an instrument or the scope"],
  ["right button, held", "move the scope, whichever instrument is selected"],
  ["Enter", "start, when the instructions are shown; resume after a pause"],
  ["Esc", "pause: resume, finish or restart"],
  ["T", "technical overlay: faces, times of each stage: on, off"],
  ["G", "touched faces: show, hide"],
  ["F1, F2", "this help, settings"],
];

export const kAllTouch = [
  ["one finger on the picture", "swing the selected instrument"],
  ["slider at the edge", "insert (up), withdraw (down)"],
  ["Jaws", "tap: close lightly or open; hold: close firmly"],
  ["Cut, Coagulate, held", "diathermy; for suction: Suck, Rinse"],
  ["Roll, held", "roll the instrument; for the scope, turn the light post"],
  ["Camera", "the finger moves the scope while this is on"],
];
