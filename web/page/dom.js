// Finds and makes elements of the page. Never sets HTML from a text, so no text can add an element.

export const byId = (id) => document.getElementById(id);

/** Makes an element: {class, test, ...attributes or properties}, then its children: elements or texts. */
export function make(tag, options = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(options)) {
    if (key === "class") node.className = value;
    else if (key === "test") node.dataset.test = value;
    else if (key in node) node[key] = value;
    else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

/** Sets the text of an element, only where it differs: readers of the screen announce changes. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Shows a sentence in an element that is hidden without one. */
export function tell(node, sentence) {
  say(node, sentence);
  node.hidden = sentence === "";
}

/** A list of [key, meaning] as rows of a description list. */
export function showPairs(list, pairs) {
  list.replaceChildren(...pairs.map(([key, meaning]) => make("div", {}, make("dt", {}, key), make("dd", {}, meaning))));
}

export function onClick(id, action) {
  byId(id).addEventListener("click", action);
}

/** Offers a text as a file. */
export function download(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}
