// Computes the time intervals that the timeline shows in rows above its curves. Units: seconds.

/** [{name, marks: [{from, to, tool}]}]: rows that are not empty, the most important first. */
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
    ofTools("Diathermy", "energy"),
    ofTools("Out of view", "out_of_view"),
    ofTools("Tip in organ", "inside"),
    { name: "Collision", marks: summary.collisions.map(([from, to]) => ({ from, to })) },
    ofTools("No device", "without_device"),
  ];
  return bands.filter((band) => band.marks.length > 0);
}

/** The states of an instrument at `time`, in words. */
export function statesAt(tool, time) {
  const holds = (spans) => spans.some(([from, to]) => from <= time && time <= to);
  const states = [
    [tool.energy, "diathermy"],
    [tool.out_of_view, "out of view"],
    [tool.inside, "tip in organ"],
    [tool.without_device, "no device"],
  ];
  return states.filter(([spans]) => holds(spans)).map(([, word]) => word);
}
