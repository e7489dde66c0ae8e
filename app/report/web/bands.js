// Stretches of time worth knowing: which rows the timeline shows above its curves.

/** [{name, marks: [{from, to, tool}]}]: only what happened, in the order of its weight. */
export function bandsOf(session) {
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
    ofTools("Energy", "energy"),
    ofTools("Out of view", "out_of_view"),
    ofTools("Tip in organ", "inside"),
    { name: "Collision", marks: summary.collisions.map(([from, to]) => ({ from, to })) },
    ofTools("No device", "without_device"),
  ];
  return bands.filter((band) => band.marks.length > 0);
}

/** What holds at `time` for the instrument with this index, as words. */
export function statesAt(tool, time) {
  const holds = (spans) => spans.some(([from, to]) => from <= time && time <= to);
  const states = [
    [tool.energy, "energy"],
    [tool.out_of_view, "out of view"],
    [tool.inside, "tip in organ"],
    [tool.without_device, "no device"],
  ];
  return states.filter(([spans]) => holds(spans)).map(([, word]) => word);
}
