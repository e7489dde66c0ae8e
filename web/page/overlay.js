// Shows the status of the session over the picture (trocar_status in web/program/page_api.hpp).
import { byId, clock, make, say, scoreText, tell } from "./dom.js";

/** The kind of what is in hand: of an instrument, or "scope". */
export function kindInHand(status) {
  return status.instruments[status.in_hand]?.kind ?? "scope";
}

function showInstruments(status, take) {
  const group = byId("instruments");
  const names = status.instruments.map(({ name }) => name);
  if (status.scope_moves) names.push("scope");
  const shown = names.join("\n");
  if (group.dataset.shown !== shown) {
    group.dataset.shown = shown;
    const buttons = names.map((name, number) => {
      const button = make("button", { test: `take-${number + 1}` }, make("kbd", {}, String(number + 1)), name);
      button.addEventListener("click", () => take(number));
      return button;
    });
    group.replaceChildren(...buttons);
  }
  [...group.children].forEach((button, number) =>
    button.setAttribute("aria-pressed", String(number === status.in_hand)),
  );
}

function technicalText(status, page) {
  const line = (name, value, digits = 0, unit = "") =>
    `${name.padEnd(16)}${(typeof value === "number" ? value.toFixed(digits) : "-").padStart(8)} ${unit}`;
  return [
    line("Pictures", page.rate, 1, "/s"),
    line("Width", page.width, 0, "px"),
    line("Height", page.height, 0, "px"),
    line("Call", page.call, 1, "ms"),
    line("  drawing", status.draw_ms, 1, "ms"),
    ...Object.entries(status.stage_ms ?? {}).map(([name, ms]) => line(`  ${name}`, ms, 2, "ms")),
    line("Frames", status.frames),
    line("Lost time", status.lost, 1, "s"),
    line("Touched faces", status.touched),
    ...status.instruments.map(({ name, touched }) => line(`  ${name}`, touched)),
    line("Compared", status.compared),
    line("Disagreements", status.disagreements),
  ].join("\n");
}

/** `session`: {scored, replay, progress (of a replay) or null}; `page`: {rate, width, height, call}. */
export function showStatus(status, session, page, take) {
  say(byId("task-title"), session.heading ?? status.title);
  say(byId("hint"), status.hint);
  tell(byId("warning"), status.warning);
  byId("progress").value = session.progress ?? status.progress;
  say(byId("time"), clock(status.elapsed));
  byId("remaining-row").hidden = !session.scored || !(status.time_limit > 0);
  say(byId("remaining"), clock(status.time_limit - status.elapsed));
  byId("errors-row").hidden = byId("score-row").hidden = !session.scored;
  say(byId("errors"), String(status.errors));
  byId("errors").classList.toggle("bad", status.errors > 0);
  say(byId("score"), scoreText(status.score));
  byId("progress").hidden = !session.scored && session.progress === null;
  byId("instruments").hidden = session.watched;
  showInstruments(status, take);
  const technical = byId("technical");
  if (!technical.hidden) say(technical, technicalText(status, page));
}
