// The note graph: a force layout, its controls, and the note that is selected.

import { drag } from "d3-drag";
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";
import { pointer, select } from "d3-selection";
import { zoom, zoomIdentity } from "d3-zoom";

import { day, element, settled } from "./dom.js";
import { CANVAS_FROM, canvasRenderer, measured, svgRenderer } from "./renderers.js";
import { COLOR_BY, fromDay, grouping, legend, matches, radius, span, standing, toDay } from "./scene.js";

const LABELS = 40;
const LABEL_WIDTH = 160;
const REACH = 10; // pixels around a disc in which a click still means it
const MARGIN = 24; // pixels around a graph that fits
const PULL = 0.06; // towards the middle

/** Return a label of at most LABEL_WIDTH pixels, and how many it takes. */
function shortened(title) {
  const chars = [...title];
  let label = title, labelWidth = measured(label);
  while (labelWidth > LABEL_WIDTH && chars.length) {
    chars.length = Math.min(chars.length - 1, Math.ceil((chars.length * LABEL_WIDTH) / labelWidth));
    label = `${chars.join("").trimEnd()}…`;
    labelWidth = measured(label);
  }
  return { label, labelWidth };
}

/**
 * Show a graph in `root`. `state` holds {graph, selected, colorBy, asOf, query, height}, the height in pixels or 0 for
 * as high as `root`; `tell` is called with the name and value of each of them that a person changes, `expand` with the id of a note whose neighbours are wanted (null
 * where there is nobody to ask). Returns {set(name, value), remove()}.
 */
export function mountGraph(root, state, { tell = () => {}, expand = null } = {}) {
  const width = () => stage.clientWidth || 640;
  const height = () => stage.clientHeight || state.height || 480;
  let nodes = [], edges = [], byId = new Map(), near = new Map(), groups = [], groupOf = () => null;
  let present = [], lines = [], ordered = [], stale = true;
  let muted = new Set(), hovered = null, renderer = null, drawing = 0, transform = zoomIdentity, moved = false, pressed = null;

  const stage = element("div", { class: "amem-stage" });
  const tip = element("div", { class: "amem-tip", hidden: true });
  const panel = element("aside", { class: "amem-panel", hidden: true });
  const query = element("input", {
    type: "search", placeholder: "Find notes", "aria-label": "Find notes", value: state.query ?? "",
    oninput: settled(120, () => change("query", query.value)),
    onkeydown: (event) => event.key === "Enter" && pick(first()),
  });
  const colors = element("select", { "aria-label": "Colour by", onchange: () => change("colorBy", colors.value) },
    ...COLOR_BY.map((name) => element("option", { value: name }, `by ${name}`)));
  const slider = element("input", { type: "range", step: 1, "aria-label": "As of", oninput: () => slid() });
  const moment = element("output", { class: "amem-moment" });
  const found = element("span", { class: "amem-count", role: "status" });
  const key = element("div", { class: "amem-legend" });
  const bar = element("div", { class: "amem-bar" }, query, found, colors, element("label", { class: "amem-slider" }, slider, moment),
    element("button", { type: "button", title: "Show all of the graph", onclick: () => fit() }, "Fit"));
  const middle = element("div", { class: "amem-middle" }, stage, panel);
  const view = element("div", { class: "amem-graph" }, bar, middle, key, tip);
  root.append(view);

  const simulation = forceSimulation([])
    .force("charge", forceManyBody().strength(-70).distanceMax(350).theta(1))
    .force("x", forceX())
    .force("y", forceY())
    .force("collide", forceCollide((node) => node.r + 2))
    .on("tick", () => {
      if (!moved) fit();
      draw(false);
    });

  const zoomed = zoom().scaleExtent([0.05, 8]).on("zoom", (event) => {
    transform = event.transform;
    if (event.sourceEvent) moved = true;
    draw(false);
  });
  const host = select(stage);
  host.call(drag().container(stage).subject((event) => hit(event.x, event.y)).on("start drag end", dragged));
  host.call(zoomed).on("dblclick.zoom", null);
  // What a first click selects may move from under the pointer, as room is made for it: the second click means it, too.
  stage.addEventListener("click", (event) => event.detail < 2 && pick((pressed = at(event))));
  stage.addEventListener("dblclick", () => widen(pressed));
  stage.addEventListener("pointermove", (event) => hover(at(event), event));
  stage.addEventListener("pointerleave", () => hover(null));
  stage.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    pick(byId.get(event.target.dataset?.id));
  });
  const watcher = new ResizeObserver(() => {
    if (moved) return draw();
    if (shape()) simulation.alpha(Math.max(0.3, simulation.alpha())).restart();
    fit();
  });
  watcher.observe(stage);

  /** Return the note at a place in the stage, or null. */
  function hit(x, y) {
    const [gx, gy] = transform.invert([x, y]);
    let best = null, least = Infinity;
    for (const node of nodes) {
      if (node.hidden) continue;
      const distance = Math.hypot(node.x - gx, node.y - gy) - node.r;
      if (distance < least) [best, least] = [node, distance];
    }
    return best && least * transform.k <= Math.max(2, REACH - best.r * transform.k) ? best : null;
  }

  const at = (event) => hit(...pointer(event, stage));

  function dragged(event) {
    const node = event.subject;
    if (event.type === "drag") {
      moved = true;
      if (simulation.alphaTarget() === 0) simulation.alphaTarget(0.2).restart();
      // The subject is in the graph's own coordinates, the pointer in the stage's.
      [node.fx, node.fy] = transform.invert(pointer(event.sourceEvent, stage));
    }
    if (event.type === "end") {
      if (!event.active) simulation.alphaTarget(0);
      node.fx = node.fy = null;
    }
  }

  function hover(node, event) {
    if (node !== hovered) {
      hovered = node;
      // The selected note is shown beside the graph already.
      tip.hidden = !node || node.id === state.selected;
      if (node) tip.replaceChildren(...card(node, 4));
      stage.style.cursor = node ? "pointer" : "";
      draw();
    }
    if (node && event) {
      const [x, y] = pointer(event, view);
      tip.style.left = `${Math.max(4, Math.min(x + 14, view.clientWidth - tip.offsetWidth - 4))}px`;
      tip.style.top = `${y + 16 + tip.offsetHeight > view.clientHeight ? Math.max(4, y - tip.offsetHeight - 8) : y + 16}px`;
    }
  }

  /** Return elements that show a note, and why each of its first `most` links is there. */
  function card(node, most) {
    const { ended } = standing(node, state.asOf);
    const meta = [day(node.since), node.kind, node.layer.replace("_", " "), node.topic && `topic: ${node.topic}`,
      ended && (node.until ? `until ${day(node.until)}` : node.status), node.pinned && "pinned"].filter(Boolean).join(" · ");
    const tied = edges.filter((edge) => edge.source === node || edge.target === node);
    const rows = tied.slice(0, most).map((edge) => {
      const out = edge.source === node;
      const other = out ? edge.target : edge.source;
      const reason = [edge.reason, `by ${edge.by}`].filter(Boolean).join(" — ");
      const words = out ? `${edge.type.replace("_", " ")} → ` : `← ${edge.type.replace("_", " ")} `;
      return element("li", {}, element("span", { class: "amem-type" }, words),
        element("a", { href: "#", onclick: (event) => (event.preventDefault(), pick(other, true)) }, other.title || other.id),
        element("div", { class: "amem-why" }, reason));
    });
    return [
      element("strong", {}, node.title || node.id),
      element("div", { class: "amem-meta" }, meta),
      element("p", {}, node.text),
      node.tags.length ? element("div", { class: "amem-tags" }, node.tags.map((tag) => `#${tag}`).join(" ")) : null,
      rows.length ? element("ul", {}, ...rows) : null,
      tied.length > most ? element("div", { class: "amem-meta" }, `and ${tied.length - most} more links`) : null,
    ].filter(Boolean);
  }

  /** Select a note (null for none), and with `center` bring it into the middle. */
  function pick(node, center = false) {
    const id = node?.id ?? "";
    if (state.selected !== id) change("selected", id);
    if (node && center) reveal(node);
  }

  function widen(node) {
    if (!node) return;
    if (expand) expand(node.id);
    else reveal(node);
  }

  function reveal(node) {
    moved = true;
    const k = Math.max(1, transform.k);
    host.call(zoomed.transform, zoomIdentity.translate(width() / 2 - node.x * k, height() / 2 - node.y * k).scale(k));
  }

  function first() {
    return nodes.filter((node) => !node.hidden && node.found).sort((a, b) => b.strength - a.strength)[0] ?? null;
  }

  /** Let the notes spread as wide and high as the stage is; returns whether that changed much. */
  function shape() {
    const wide = Math.min(3, Math.max(1 / 3, width() / height()));
    const changed = Math.abs(Math.log(wide / (shape.wide ?? 1))) > 0.1;
    if (changed) shape.wide = wide;
    simulation.force("x").strength(PULL / Math.max(1, shape.wide ?? 1) ** 1.5);
    simulation.force("y").strength(PULL * Math.min(1, shape.wide ?? 1) ** 1.5);
    return changed;
  }

  /** Scale and move the graph so that all of it shows. */
  function fit() {
    const shown = nodes.filter((node) => !node.hidden);
    if (!shown.length) return draw();
    const least = (of) => Math.min(...shown.map(of));
    const [left, top] = [least((node) => node.x - node.r), least((node) => node.y - node.r)];
    const [right, bottom] = [-least((node) => -node.x - node.r), -least((node) => -node.y - node.r)];
    const room = (pixels) => Math.max(pixels / 2, pixels - 2 * MARGIN);
    const k = Math.min(2, room(width()) / (right - left), room(height()) / (bottom - top));
    const x = width() / 2 - (k * (left + right)) / 2, y = height() / 2 - (k * (top + bottom)) / 2;
    moved = false;
    host.call(zoomed.transform, zoomIdentity.translate(x, y).scale(k));
  }

  function slid() {
    const last = Number(slider.value) >= Number(slider.max);
    change("asOf", last ? "" : fromDay(Number(slider.value)));
  }

  /** Change one part of the state by a person's hand: show it and tell of it. */
  function change(name, value) {
    state[name] = value;
    shown(name);
    tell(name, value);
  }

  /** Bring the controls and the notes in step with one part of the state. */
  function shown(name) {
    middle.style.height = state.height ? `${state.height}px` : "";
    view.classList.toggle("amem-fill", !state.height);
    if (name === "graph") load();
    if (name === "colorBy") muted = new Set();
    if (name === "query" && query.value !== state.query) query.value = state.query;
    colors.value = state.colorBy;
    slider.value = state.asOf ? toDay(state.asOf) : slider.max;
    moment.value = state.asOf ? day(state.asOf) : "now";
    restyle();
    const node = byId.get(state.selected);
    panel.hidden = !node;
    tip.hidden = true;
    if (node) panel.replaceChildren(element("button", { type: "button", class: "amem-close", "aria-label": "Close", onclick: () => pick(null) }, "×"), ...card(node, 30));
    draw();
  }

  /** Take over the notes and links of the state's graph; notes that were there stay where they are. */
  function load() {
    const before = byId;
    const graph = state.graph ?? { nodes: [], edges: [] };
    const beside = (node) => {
      const tied = graph.edges.find((edge) => edge.source === node.id || edge.target === node.id);
      const other = tied && before.get(tied.source === node.id ? tied.target : tied.source);
      return other ? { x: other.x + 5 * Math.random(), y: other.y + 5 * Math.random() } : {};
    };
    nodes = graph.nodes.map((each) => {
      const old = before.get(each.id);
      const place = old ? { x: old.x, y: old.y, vx: old.vx, vy: old.vy } : before.size ? beside(each) : {};
      return { ...each, ...place, r: radius(each), ...shortened(each.title) };
    });
    byId = new Map(nodes.map((node) => [node.id, node]));
    edges = graph.edges
      .filter((edge) => byId.has(edge.source) && byId.has(edge.target))
      .map((edge) => ({ ...edge, key: `${edge.source} ${edge.type} ${edge.target}`, source: byId.get(edge.source), target: byId.get(edge.target) }));
    near = new Map(nodes.map((node) => [node.id, new Set([node.id])]));
    for (const { source, target } of edges) {
      near.get(source.id).add(target.id);
      near.get(target.id).add(source.id);
    }
    const [from, to] = span(nodes);
    Object.assign(slider, { min: from, max: to });
    const wanted = nodes.length > CANVAS_FROM ? canvasRenderer : svgRenderer;
    if (renderer?.make !== wanted) {
      renderer?.remove();
      renderer = Object.assign(wanted(stage), { make: wanted });
    }
    simulation.nodes(nodes).force("link", forceLink(edges).distance(46));
    shape();
    // At first they are near where they come to rest, as far as that is worked out at once.
    if (!before.size) simulation.alpha(1).tick(Math.min(200, Math.round(30_000 / (nodes.length + 1))));
    simulation.alpha(Math.max(0.3, before.size ? 0.5 : simulation.alpha())).restart();
  }

  /** Work out how each note and link looks by the state. */
  function restyle() {
    for (const node of nodes) {
      const { there, ended } = standing(node, state.asOf);
      node.hidden = !there;
      node.ended = ended;
      node.found = !state.query || matches(node, state.query);
    }
    const there = nodes.filter((node) => !node.hidden);
    groups = legend(there, state.colorBy);
    groupOf = grouping(groups, state.colorBy);
    found.textContent = state.query ? `${there.filter((node) => node.found).length} of ${there.length}` : `${there.length} notes`;
    for (const node of there) {
      const group = groupOf(node);
      node.color = group.color;
      node.faint = node.ended || !node.found || (muted.size > 0 && !muted.has(group.name));
    }
    key.replaceChildren(...groups.map((group) => element("button",
      { type: "button", "aria-pressed": String(muted.has(group.name)), title: "Show these alone", onclick: () => only(group.name) },
      element("i", { style: `background:${group.color}` }), `${group.name || `no ${state.colorBy}`} ${group.count}`)));
    if (state.graph?.left_out) key.append(element("span", { class: "amem-meta" }, `${state.graph.left_out} more notes are not shown`));
  }

  function only(name) {
    if (!muted.delete(name)) muted.add(name);
    restyle();
    draw();
  }

  /** Bring what hangs on the pointer and the selection in step, and order the notes by whose label comes first. */
  function light() {
      const picked = byId.get(state.selected);
      const lit = hovered ?? picked;
      const around = lit ? near.get(lit.id) : null;
      present = nodes.filter((node) => !node.hidden && Number.isFinite(node.x));
      for (const node of present) {
        node.marked = node === hovered || node === picked;
        node.ring = node.marked || node.pinned;
      }
      lines = edges.filter(({ source, target }) => !source.hidden && !target.hidden && Number.isFinite(source.x));
      for (const edge of lines) {
        edge.marked = Boolean(lit) && (edge.source === lit || edge.target === lit);
        edge.faint = edge.source.faint || edge.target.faint;
      }
      const rank = (node) => (node.marked ? 1e9 : 0) + (around?.has(node.id) ? 1e6 : 0) + (node.faint ? -1e3 : 0) + near.get(node.id).size + node.strength;
      for (const node of present) node.rank = rank(node);
      ordered = [...present].sort((a, b) => b.rank - a.rank);
  }

  function draw(changed = true) {
    stale ||= changed;
    drawing ||= requestAnimationFrame(() => {
      drawing = 0;
      if (stale) light();
      stale = false;
      renderer?.draw({
        nodes: present, edges: lines, ordered, most: Math.round(LABELS * Math.max(1, transform.k)), transform, width: width(), height: height(),
        label: `A graph of ${present.length} notes and ${lines.length} links`,
      });
    });
  }

  shown("graph");
  return {
    set(name, value) {
      state[name] = value;
      shown(name);
    },
    remove() {
      simulation.stop();
      watcher.disconnect();
      cancelAnimationFrame(drawing);
      view.remove();
    },
  };
}
