// The start screen: cards of tasks, the attempts kept in this browser, and links to a task in the address.
import { byId, dateText, make, say, scoreText, stemOf } from "./dom.js";

function levelChooser(task) {
  const select = make("select", { "aria-label": `Level of ${task.title}`, test: "level" });
  task.levels.forEach((name, k) =>
    select.append(make("option", { value: k + 1 }, name ? `Level ${k + 1}: ${name}` : `Level ${k + 1}`)),
  );
  select.hidden = task.levels.length < 2;
  return select;
}

function card(task, open) {
  const levels = levelChooser(task);
  const level = () => Number(levels.value || 1);
  const begin = make("button", { class: "primary", test: "start-task", "aria-label": `Start ${task.title}` }, "Start");
  begin.addEventListener("click", () => open("attempt", task, level()));
  const buttons = make("div", { class: "row" }, begin);
  if (task.kind !== "") {
    const show = make("button", { test: "show-me", "aria-label": `Show me ${task.title}` }, "Show me");
    show.addEventListener("click", () => open("shown", task, level()));
    buttons.append(show);
  }
  const picture = task.picture
    ? make("img", { src: `pictures/${task.picture}`, alt: "", width: 160, height: 90 })
    : make("div", { class: "no-picture" });
  const text = make("div", { class: "card-text" }, make("h3", {}, task.title), levels, buttons);
  return make("li", { id: `task-${stemOf(task.file)}`, class: "card", tabIndex: -1, test: "card" }, picture, text);
}

/** `open(mode, task, level)`: a button was pressed. */
export function showTasks(tasks, open) {
  byId("tasks").replaceChildren(...tasks.filter(({ kind }) => kind !== "").map((task) => card(task, open)));
  byId("free").replaceChildren(...tasks.filter(({ kind }) => kind === "").map((task) => card(task, open)));
  byId("tasks-part").hidden = byId("attempts-part").hidden = false;
}

/** The address "#task=burn_line&level=2" highlights the card and sets its level. */
export function followAddress() {
  for (const node of document.querySelectorAll(".card.chosen")) node.classList.remove("chosen");
  const wanted = new URLSearchParams(location.hash.slice(1));
  const node = wanted.get("task") && byId(`task-${wanted.get("task")}`);
  if (!node) return;
  const select = node.querySelector("select");
  const level = wanted.get("level");
  if (level && [...select.options].some(({ value }) => value === level)) select.value = level;
  node.classList.add("chosen");
  node.scrollIntoView({ block: "center" });
  node.focus({ preventScroll: true });
}

/** A button that acts at its second press. */
function twice(label, question, action, options) {
  const button = make("button", options, label);
  button.addEventListener("click", () => {
    if (button.textContent === question) return action();
    say(button, question);
    button.addEventListener("blur", () => say(button, label), { once: true });
  });
  return button;
}

/** `actions`: {replay, download, remove}, each called with an attempt of the list. */
export function showAttempts(attempts, actions) {
  const button = (label, test, action) => {
    const node = make("button", { test }, label);
    node.addEventListener("click", action);
    return node;
  };
  const items = attempts.map((attempt) =>
    make(
      "li",
      { test: "attempt" },
      make("b", { class: "attempt-score" }, attempt.kind === "" ? "-" : scoreText(attempt.score)),
      make(
        "div",
        { class: "attempt-text" },
        make("b", {}, attempt.title),
        make("span", { class: "faint" }, `Level ${attempt.level}, ${attempt.ending}, ${dateText(attempt.date)}`),
      ),
      make(
        "div",
        { class: "row" },
        button("Replay", "replay", () => actions.replay(attempt)),
        button("Download", "download", () => actions.download(attempt)),
        twice("Delete", "Delete it?", () => actions.remove(attempt), { test: "delete" }),
      ),
    ),
  );
  byId("attempts").replaceChildren(...items);
  byId("no-attempts").hidden = items.length > 0;
}
