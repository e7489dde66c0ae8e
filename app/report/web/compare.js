// Several attempts beside each other.
import { html, section } from "./dom.js";
import { sessionDetails } from "./session.js";

export function comparison(sessions) {
  return [html("main", {}, section("attempts", "Attempts", null), sessionDetails(sessions[0]))];
}
