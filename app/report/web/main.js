// Builds the report's page: reads the embedded data and draws every section.
import { comparison } from "./compare.js";
import { decodeSession } from "./decode.js";
import { sessionPage } from "./session.js";

const data = JSON.parse(document.getElementById("data").textContent);
const report = document.getElementById("report");
const sessions = data.sessions.map(decodeSession);
report.append(...(sessions.length === 1 ? sessionPage(sessions[0]) : comparison(sessions, data.curves ?? [])));
