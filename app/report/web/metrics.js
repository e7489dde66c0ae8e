// Shows the metrics of an attempt, for the whole session and for each instrument.
import { html, section, table } from "./dom.js";
import { withUnit } from "./format.js";
import { explanationOf } from "./metric_notes.js";
import { badge, isJudged, limitBar, limitsText } from "./score.js";

/** [{id, label, cells: [metric or undefined for each column]}] in the order of first appearance. */
export function rowsOf(columns) {
  const rows = new Map();
  columns.forEach((metrics, column) => {
    for (const metric of metrics) {
      if (!rows.has(metric.id))
        rows.set(metric.id, {
          id: metric.id,
          label: metric.label,
          note: metric.note,
          cells: columns.map(() => undefined),
        });
      rows.get(metric.id).cells[column] = metric;
    }
  });
  return [...rows.values()];
}

function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

function valueCell(metric, column) {
  if (!metric) return html("td", { class: "number" }, "–");
  return html(
    "td",
    { class: "number", "data-metric": metric.id, "data-column": column },
    html("span", { class: "value" }, withUnit(metric.value, metric.unit)),
    isJudged(metric) && html("span", { class: "cell-judgement" }, limitBar(metric), badge(metric.mark)),
  );
}

function metricTable(name, columns, titles) {
  const rows = rowsOf(columns);
  const limits = (row) => row.cells.filter((metric) => metric && isJudged(metric)).map(limitsText);
  return table(
    name,
    "metrics",
    ["Metric", ...titles, "Meaning"],
    rows.map((row) =>
      html(
        "tr",
        {},
        html("th", { scope: "row" }, row.label),
        row.cells.map((metric, column) => valueCell(metric, titles[column])),
        html(
          "td",
          { class: "small note" },
          explanationOf(row),
          limits(row).length > 0 &&
            html("span", { class: "limits" }, ` ${sentence([...new Set(limits(row))].join("; "))}`),
        ),
      ),
    ),
  );
}

export function metricsSection({ overall, instruments }) {
  if (overall.length === 0 && instruments.every((instrument) => instrument.metrics.length === 0)) return null;
  return section(
    "metrics-section",
    "All measures",
    "Computed from the recording alone; docs/metrics.md gives the formula, the source and what is known of each. A dash: undefined in this recording, or changed by the noise of the sensor.",
    html(
      "details",
      { class: "all-measures" },
      html("summary", {}, "Show all measures"),
      overall.length > 0 && metricTable("Metrics of the whole session", [overall], ["Whole session"]),
      instruments.length > 0 &&
        metricTable(
          "Metrics of each instrument",
          instruments.map((instrument) => instrument.metrics),
          instruments.map((instrument) => instrument.name),
        ),
    ),
  );
}
