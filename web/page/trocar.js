// Starts the page: checks the browser, loads the program, and goes from screen to screen.
import { whatIsMissing, workOffline } from "./browser.js";
import { attemptFileName, byId, download, make, onClick, say, showPairs, stemOf, tell } from "./dom.js";
import { kAllKeys, kAllTouch } from "./keys.js";
import { Practice } from "./practice.js";
import { loadProgram } from "./program.js";
import { endingOf, showResults } from "./results.js";
import { openSettings, passSettings, setUpSettings } from "./settings.js";
import { followAddress, showAttempts, showTasks } from "./start.js";
import { deleteAttempt, keepAttempt, listAttempts, textOfAttempt } from "./store.js";

const kMostBytes = 64 * 1024 * 1024; // of an attempt file, as the program reads it

let tasks = [];
let practice = null;
let last = null; // {session, end} that the results show

function showScreen(name) {
  document.body.dataset.screen = name;
  for (const id of ["start", "practice", "results"]) byId(id).hidden = id !== name;
  if (name !== "practice") window.scrollTo(0, 0);
}

function stopped(error) {
  console.warn(`the program has stopped: ${error?.message ?? error}`);
  if (practice) practice.run = null;
  showScreen("start");
  byId("tasks-part").hidden = true;
  byId("loading").hidden = true;
  if (document.pointerLockElement) document.exitPointerLock();
  tell(byId("notice"), "The program has stopped because of an error. Reload the page to start again; attempts in this browser are kept. ");
  const reload = make("button", { test: "reload" }, "Reload");
  reload.addEventListener("click", () => location.reload());
  byId("notice").append(reload);
}

function taskOf(scene) {
  return tasks.find(({ file }) => stemOf(file) === stemOf(scene));
}

function levelName(task, level) {
  const name = task?.levels[level - 1];
  return name ? `Level ${level}: ${name}` : `Level ${level}`;
}

function open(mode, task, level) {
  const { file: scene, title, kind } = task;
  begin({ mode, scene, level, title, kind, levelName: task.levels.length > 1 ? levelName(task, level) : "" });
}

function begin(session) {
  tell(byId("notice"), "");
  showScreen("practice");
  practice.open(session);
}

/** `kept`: an attempt of the list, or null for a file. */
function openReplay(text, kept) {
  let file = {};
  try {
    file = JSON.parse(text);
  } catch {
    // The program says what is wrong with the text.
  }
  const scene = kept?.scene ?? String(file?.scene ?? "");
  const task = taskOf(scene);
  const ticks = typeof file?.frames?.tick === "string" ? file.frames.tick.replace(/=+$/, "").length : 0;
  begin({
    mode: "replay",
    scene,
    level: kept?.level ?? 1,
    title: kept?.title ?? task?.title ?? stemOf(scene),
    kind: kept?.kind ?? task?.kind ?? "",
    text,
    frames: Math.floor((ticks * 3) / 4 / 8), // base64 of 8 bytes each
    date: kept?.date ?? String(file?.date ?? ""),
  });
}

async function refreshAttempts() {
  const replay = async (attempt) => openReplay(await textOfAttempt(attempt.id), attempt);
  const save = async (attempt) => download(await textOfAttempt(attempt.id), attemptFileName(attempt));
  const remove = async (attempt) => (await deleteAttempt(attempt.id), refreshAttempts());
  try {
    showAttempts(await listAttempts(), { replay, download: save, remove });
  } catch {
    say(byId("no-attempts"), "This browser refuses to keep attempts. Download an attempt after its end to keep it.");
    byId("no-attempts").hidden = false;
  }
}

async function keep(session, { result, attempt }) {
  const { scene, level, title, kind } = session;
  session.date = new Date().toISOString();
  try {
    const entry = { scene, level, title, kind, date: session.date, score: result.score, ending: endingOf(result), duration: result.duration };
    await keepAttempt(entry, attempt);
  } catch {
    tell(byId("result-notice"), "The browser refused to keep this attempt, perhaps for lack of space. Download it to keep it.");
  }
  refreshAttempts();
}

function toStart() {
  last = null;
  showScreen("start");
}

function ended(session, end) {
  if (!end) return toStart();
  last = { session, end };
  const task = taskOf(session.scene);
  showResults(session, end, { nextLevel: task && session.level < task.levels.length });
  showScreen("results");
  byId("result-title").focus();
  if (session.mode === "attempt") keep(session, end);
}

function setUpResults() {
  onClick("again", () => begin({ ...last.session, mode: last.session.mode === "shown" ? "attempt" : last.session.mode }));
  onClick("next-level", () => open("attempt", taskOf(last.session.scene), last.session.level + 1));
  onClick("result-replay", () => openReplay(last.end.attempt, last.session));
  onClick("result-download", () => download(last.end.attempt, attemptFileName(last.session)));
  onClick("result-back", toStart);
}

function setUpFile() {
  onClick("open-file", () => byId("file").click());
  byId("file").addEventListener("change", async () => {
    const [file] = byId("file").files;
    byId("file").value = "";
    if (!file) return;
    if (file.size > kMostBytes) return tell(byId("notice"), `${file.name} is larger than 64 MiB: this is not an attempt.`);
    openReplay(await file.text(), null);
  });
}

function openAbout() {
  const dialog = byId("about");
  if (!dialog.open) dialog.showModal();
}

async function start() {
  showPairs(byId("about-keys"), kAllKeys);
  showPairs(byId("about-touch"), kAllTouch);
  onClick("open-about", openAbout);
  onClick("close-about", () => byId("about").close());
  onClick("open-settings", openSettings);
  workOffline();
  const missing = whatIsMissing();
  setUpSettings(() => practice?.opened && passSettings(practice.program));
  if (missing) {
    byId("loading").hidden = true;
    return tell(byId("notice"), missing);
  }
  try {
    const { program } = await loadProgram(byId("picture"), (text) => say(byId("loading"), text), stopped);
    const refused = (sentence) => (toStart(), tell(byId("notice"), sentence));
    practice = new Practice(program, { ended, refused, help: openAbout });
    say(byId("version"), `Trocar ${program.json("version").program}`);
    tasks = program.json("tasks");
  } catch (error) {
    console.warn(error);
    byId("loading").hidden = true;
    if (byId("notice").hidden)
      tell(byId("notice"), "The program could not be loaded. Check the network and reload the page.");
    return;
  }
  byId("loading").hidden = true;
  setUpResults();
  setUpFile();
  showTasks(tasks, open);
  await refreshAttempts();
  followAddress();
  window.addEventListener("hashchange", followAddress);
}

byId("picture").addEventListener("webglcontextlost", () => stopped(new Error("the graphics context is lost")));
start();
