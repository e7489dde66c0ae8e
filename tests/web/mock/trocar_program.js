// A program with the functions of web/program/page_api.hpp that draws one colour, for the tests of the page. A task is
// done when the pointer has moved 600 pixels. globalThis.trocarCalls: every call but those for pictures and status.
globalThis.trocarCalls = [];

globalThis.createTrocar = async (options) => {
  const kTicks = 60;
  const memory = new Uint8Array(1 << 24);
  const tasks = [
    ["navigate_camera", "Navigate the camera", ["", "moving targets"]],
    ["touch_targets", "Touch the targets", ["", "small targets, deep breathing", "small targets, other hand"]],
    ["burn_line", "Burn along the line", ["", "narrow line, deep breathing", "narrow line, other hand"]],
    ["clip_and_cut", "Clip and cut", [""]],
  ].map(([stem, title, levels]) => ({
    file: `scenes/tasks/${stem}.toml`, title, kind: stem, levels, picture: `${stem}.png`, seconds: 35,
  }));
  tasks.push({ file: "scenes/tour.toml", title: "Pressed, pulled and burnt", kind: "", levels: [""], picture: "", seconds: 0 });
  const instruments = [
    { name: "probe", kind: "probe", touched: 0 },
    { name: "hook", kind: "hook", touched: 3 },
    { name: "grasper", kind: "grasper", touched: 0 },
  ];
  let session = null;
  let error = "";
  let gl = null;

  const textAt = (at) => new TextDecoder().decode(memory.subarray(at, memory.indexOf(0, at)));
  const fresh = (task, kind) => ({
    task, kind, phase: 0, elapsed: 0, moved: 0, inHand: 0, frames: 0, left: false, length: 0,
  });
  const progress = () => (session.kind === "attempt" ? Math.min(1, session.moved / 600) : Math.min(1, session.elapsed / 1.5));
  const call = {
    trocar_version: () => JSON.stringify({ program: "1.0.0", model_version: 10 }),
    trocar_tasks: () => JSON.stringify(tasks),
    trocar_error: () => error,
    trocar_open(scene, level, shown) {
      const task = tasks.find(({ file }) => file === textAt(scene));
      session = task ? { ...fresh(task, shown ? "shown" : "attempt"), level } : null;
      error = task ? "" : `there is no scene ${textAt(scene)}`;
      return task ? 1 : 0;
    },
    trocar_open_replay(at) {
      try {
        const attempt = JSON.parse(textAt(at));
        if (attempt.format !== "trocar-browser-attempt-1") throw new Error("another format");
        session = { ...fresh(tasks.find(({ file }) => file === attempt.scene), "replay"), length: attempt.length };
        return 1;
      } catch {
        error = "attempt: this is not an attempt of format trocar-browser-attempt-1; choose a file that the page has saved";
        return 0;
      }
    },
    trocar_close: () => (session = null),
    trocar_start: () => (session.phase = 1),
    trocar_pause: () => (session.phase = 2),
    trocar_resume: () => (session.phase = 1),
    trocar_finish: () => (session.left = true),
    trocar_pointer: (right, down) => session && (session.moved += Math.hypot(right, down)),
    trocar_wheel() {},
    trocar_key(key) {
      if (globalThis.trocarCrash && key === 5) throw new WebAssembly.RuntimeError("unreachable");
    },
    trocar_take: (number) => (session.inHand = number),
    trocar_settings() {},
    trocar_picture(elapsed, width, height) {
      gl ??= options.canvas.getContext("webgl2");
      gl.viewport(0, 0, width, height);
      gl.clearColor(0.45, 0.13, 0.1, 1);
      gl.clear(gl.COLOR_BUFFER_BIT);
      if (session.phase === 1) {
        session.elapsed += elapsed;
        session.frames += Math.round(elapsed * kTicks);
      }
      if (session.left || (session.task.kind !== "" && progress() >= 1)) session.phase = 3;
      if (session.phase === 3 && session.kind === "replay") session.frames = session.length;
      return session.phase;
    },
    trocar_status: () => JSON.stringify({
      phase: session.phase, title: session.task.title, warning: session.moved > 300 ? "Press more gently." : "",
      instructions: "Touch the bright targets with the tip, in order, and hold each one until it changes colour. Press gently.",
      hint: session.phase === 0 ? "" : "hold target 3 of 6",
      elapsed: session.elapsed, time_limit: session.task.kind ? 90 : 0, progress: progress(), score: 100 * progress(),
      errors: session.moved > 300 ? 1 : 0, instruments, in_hand: session.inHand, scope_moves: true, lost: 0,
      frames: session.frames, touched: 3, disagreements: 0, compared: session.frames,
      stage_ms: { devices: 0.01, query: 0.1, tissue: 3.2 }, draw_ms: 8, replay: session.kind === "replay", differs: globalThis.trocarDiffers ?? 0,
    }),
    trocar_result: () => JSON.stringify({
      finished: progress() >= 1, score: 100 * progress() * 0.875, critical: "",
      counted: session.task.kind && progress() < 1 ? `${Math.floor(100 * progress())} % of the task was done, so no part counts more than ${Math.floor(100 * progress())} %.` : "",
      costly: session.task.kind ? [2, 1, 0] : [],
      measures: [
        { id: "duration", label: "Time", unit: "s", value: session.elapsed, reference: session.task.kind ? "good up to 30 s, poor from 90 s" : "" },
        { id: "movements", label: "Number of movements", unit: "", value: 12, reference: "" },
        { id: "path_length", label: "Path of the tip", unit: "mm", value: 1234.5, reference: "" },
        { id: "out_of_view_time", label: "Tip out of view", unit: "s", value: null, reference: "good up to 0 s, poor from 3.1 s" },
        { id: "peak_force", label: "Largest force", unit: "N", value: 0.41, reference: "good up to 2 N, poor from 4 N" },
        ...(session.task.kind ? [{ id: "task_errors", label: "Number of errors", unit: "", value: 1, reference: "good up to 0, poor from 5" }] : []),
      ],
      no_judgement: session.task.kind ? "" : "There is no task, so there is no judgement.",
      parts: session.task.kind ? [
        { id: "task_time", label: "Time", unit: "s", value: session.elapsed, grade: 0.93, why: "31.2 s; up to 30 s is good, from 90 s poor.", advice: "Plan the next movement while the tip holds a target." },
        { id: "path", label: "Path length", unit: "mm", value: 1234.5, grade: 0.55, why: "1.8 times the straight-line distance.", advice: "Move the tip straight to the target." },
        { id: "force", label: "Highest force", unit: "N", value: null, grade: 0.2, why: "", advice: "" },
      ] : [],
      events: session.task.kind ? [{ time: 3.2, error: false, text: "target 1 reached" }, { time: 9.7, error: true, text: "wrong target <b>touched</b>" }] : [],
      duration: session.elapsed, lost: 0,
    }),
    trocar_attempt: () => JSON.stringify({
      format: "trocar-browser-attempt-1", scene: session.task.file, score: 50, date: "2026-11-27T02:00:00Z", length: session.frames,
      frames: { tick: btoa("12345678".repeat(session.frames)) },
    }),
  };
  const quiet = ["trocar_picture", "trocar_status", "trocar_error"];
  const idle = (name, values) => name === "trocar_pointer" && values.every((value) => value === 0);
  const record = (name, values) => {
    if (!quiet.includes(name) && !idle(name, values)) globalThis.trocarCalls.push([name, ...values]);
  };
  return {
    HEAPU8: memory,
    _malloc: () => 8,
    _free() {},
    cwrap: (name) => (...values) => (record(name, values), call[name](...values)),
  };
};
