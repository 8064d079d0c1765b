// One module for three hosts: the graph and the browser as anywidgets, and the graph on an exported page.

import { mountBrowser } from "./browser.js";
import { mountGraph } from "./graph.js";
import style from "./style.css";

// Names of the state here, and of the traits that hold it in Python.
const TRAITS = { graph: "graph", selected: "selected", colorBy: "color_by", asOf: "as_of", query: "query", height: "height" };
const SHOWN = ["query", "hits", "note", "message"];

function styled(root) {
  root.classList.add("amem");
  const sheet = root.appendChild(document.createElement("style"));
  sheet.textContent = style;
  return root;
}

function renderGraph(model, el) {
  const state = Object.fromEntries(Object.entries(TRAITS).map(([name, trait]) => [name, model.get(trait)]));
  const view = mountGraph(styled(el), state, {
    tell(name, value) {
      model.set(TRAITS[name], value);
      model.save_changes();
    },
    expand: (id) => model.send({ type: "expand", id }),
  });
  const heard = Object.entries(TRAITS).map(([name, trait]) => [`change:${trait}`, () => state[name] !== model.get(trait) && view.set(name, model.get(trait))]);
  for (const [event, listener] of heard) model.on(event, listener);
  return () => {
    for (const [event, listener] of heard) model.off(event, listener);
    view.remove();
  };
}

function renderBrowser(model, el) {
  const state = Object.fromEntries(SHOWN.map((name) => [name, model.get(name)]));
  const view = mountBrowser(styled(el), state, (message) => model.send(message));
  const heard = SHOWN.map((name) => [`change:${name}`, () => view.set(name, model.get(name))]);
  for (const [event, listener] of heard) model.on(event, listener);
  return () => {
    for (const [event, listener] of heard) model.off(event, listener);
    view.remove();
  };
}

export default { render: ({ model, el }) => (model.get("shape") === "browser" ? renderBrowser : renderGraph)(model, el) };

// An exported page holds this module and its graph; a notebook has no element of that name.
const kept = globalThis.document?.getElementById("amem-graph-data");
if (kept) {
  const root = styled(document.getElementById("amem-graph"));
  const graph = JSON.parse(kept.textContent);
  mountGraph(root, { graph, selected: graph.focus, colorBy: "kind", asOf: "", query: "", height: 0 });
}
