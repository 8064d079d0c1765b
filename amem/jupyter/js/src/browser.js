// A search box, what it finds and why, and one note with its history, each step of which can be undone.

import { element, settled } from "./dom.js";

/**
 * Show a note browser in `root`. `state` holds {query, hits, note, message}; `send` takes {type: "search", query},
 * {type: "open", id} and {type: "undo", operation}. Returns {set(name, value), remove()}.
 */
export function mountBrowser(root, state, send) {
  const query = element("input", {
    type: "search", placeholder: "Ask, or name what you look for", "aria-label": "Search notes", value: state.query ?? "",
    oninput: settled(300, () => send({ type: "search", query: query.value })),
    onkeydown: (event) => event.key === "Enter" && send({ type: "search", query: query.value }),
  });
  const message = element("output", { class: "amem-message", role: "status" });
  const list = element("ol", { class: "amem-hits" });
  const page = element("article", { class: "amem-note" });
  const view = element("div", { class: "amem-browser" }, element("div", { class: "amem-bar" }, query, message),
    element("div", { class: "amem-middle" }, list, page));
  root.append(view);

  function hit(each) {
    return element("li", {}, element("button", { type: "button", "aria-current": String(each.id === state.note?.id), onclick: () => send({ type: "open", id: each.id }) },
      element("strong", {}, each.title), element("div", { class: "amem-snippet" }, each.text),
      element("div", { class: "amem-meta" }, each.meta), each.why && element("div", { class: "amem-why" }, each.why)));
  }

  function step(each) {
    const undo = element("button", { type: "button", onclick: () => {
      // A second click does it: the first one asks.
      if (undo.dataset.sure) return send({ type: "undo", operation: each.operation });
      undo.dataset.sure = "yes";
      undo.textContent = `Undo operation ${each.operation}?`;
      undo.addEventListener("blur", () => { delete undo.dataset.sure; undo.textContent = "Undo"; }, { once: true });
    } }, "Undo");
    return element("li", {}, element("div", {}, element("span", { class: "amem-type" }, `${each.action} `), `by ${each.actor}, ${each.at} `, undo),
      each.cause && element("div", { class: "amem-why" }, each.cause),
      ...each.changes.map((change) => element("div", { class: "amem-change" }, element("b", {}, `${change.field}: `),
        change.before && element("del", {}, change.before), change.before && " → ", element("ins", {}, change.after || "nothing"))));
  }

  function show() {
    if (document.activeElement !== query) query.value = state.query ?? "";
    message.value = state.message ?? "";
    list.replaceChildren(...(state.hits ?? []).flatMap((each, place) =>
      each.weak && !state.hits[place - 1]?.weak ? [element("li", { class: "amem-rule" }, "nothing certain; nearest:"), hit(each)] : [hit(each)]));
    const note = state.note;
    page.hidden = !note?.id;
    if (!note?.id) return;
    page.replaceChildren(
      element("h3", {}, note.title), element("div", { class: "amem-meta" }, note.meta), element("p", {}, note.text),
      note.context ? element("p", { class: "amem-why" }, note.context) : null,
      ...(note.links.length ? [element("h4", {}, "Links"), element("ul", {}, ...note.links.map((link) => element("li", {},
        element("span", { class: "amem-type" }, link.type), element("a", { href: "#", onclick: (event) => (event.preventDefault(), send({ type: "open", id: link.id })) }, link.title),
        element("div", { class: "amem-why" }, link.reason))))] : []),
      element("h4", {}, "History"), element("ul", {}, ...note.history.map(step)));
  }

  show();
  return {
    set(name, value) {
      state[name] = value;
      show();
    },
    remove: () => view.remove(),
  };
}

