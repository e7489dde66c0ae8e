// Loads the program and calls its functions (web/program/page_api.hpp). A text argument is copied into the program's
// memory, because an attempt can be larger than its stack.

export const Phase = { ready: 0, running: 1, paused: 2, finished: 3 };
export const Key = { rollLeft: 0, rollRight: 1, inward: 2, outward: 3, cut: 4, coagulate: 5, fine: 6 };

const kFunctions = {
  version: ["trocar_version", "string", []],
  tasks: ["trocar_tasks", "string", []],
  open: ["trocar_open", "number", ["number", "number", "number"]],
  openReplay: ["trocar_open_replay", "number", ["number"]],
  close: ["trocar_close", null, []],
  error: ["trocar_error", "string", []],
  start: ["trocar_start", null, []],
  pause: ["trocar_pause", null, []],
  resume: ["trocar_resume", null, []],
  finish: ["trocar_finish", null, []],
  pointer: ["trocar_pointer", null, ["number", "number", "number"]],
  wheel: ["trocar_wheel", null, ["number"]],
  key: ["trocar_key", null, ["number", "number"]],
  take: ["trocar_take", null, ["number"]],
  settings: ["trocar_settings", null, ["number", "number", "number", "number"]],
  picture: ["trocar_picture", "number", ["number", "number", "number"]],
  status: ["trocar_status", "string", []],
  result: ["trocar_result", "string", []],
  attempt: ["trocar_attempt", "string", []],
};

export class Program {
  /** `crashed`: called once, when the program cannot go on. */
  constructor(module, crashed) {
    this.module = module;
    this.dead = false;
    for (const [name, [symbol, result, parameters]] of Object.entries(kFunctions)) {
      const call = module.cwrap(symbol, result, parameters);
      this[name] = (...values) => {
        if (this.dead) throw new Error("the program has stopped");
        try {
          return call(...values);
        } catch (error) {
          this.dead = true;
          crashed(error);
          throw error;
        }
      };
    }
  }

  withText(text, action) {
    const bytes = new TextEncoder().encode(text);
    const at = this.module._malloc(bytes.length + 1);
    if (at === 0) return 0;
    this.module.HEAPU8.set(bytes, at);
    this.module.HEAPU8[at + bytes.length] = 0;
    const answer = action(at);
    this.module._free(at);
    return answer;
  }

  openScene(scene, level, shown) {
    return this.withText(scene, (at) => this.open(at, level, shown ? 1 : 0)) === 1;
  }

  openAttempt(text) {
    return this.withText(text, (at) => this.openReplay(at)) === 1;
  }

  json(name) {
    return JSON.parse(this[name]());
  }
}

function loadScript(file) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = file;
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${file} could not be loaded`));
    document.head.append(script);
  });
}

/** `progress`: called with a sentence while the files arrive. */
export async function loadProgram(canvas, progress, crashed) {
  await loadScript("trocar_program.js");
  return new Promise((resolve, reject) => {
    let program = null;
    const stop = (error) => {
      if (!program) return reject(error);
      program.dead = true;
      crashed(error);
    };
    const options = {
      canvas,
      locateFile: (file) => file,
      setStatus: (text) => text && progress(text),
      onAbort: (reason) => stop(new Error(String(reason))),
      print: (text) => console.info(text),
      printErr: (text) => console.warn(text),
    };
    globalThis.createTrocar(options).then((module) => {
      program = new Program(module, crashed);
      resolve({ program }); // in an object: a promise would wait for a module that has a function "then"
    }, reject);
  });
}
