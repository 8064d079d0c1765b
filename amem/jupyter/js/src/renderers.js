// Two ways to draw a scene: SVG, which assistive technology and tests can read, and a canvas, which stays quick.

const SVG = "http://www.w3.org/2000/svg";
const FAINT = 0.22;
const DASHES = { supersedes: [5, 3], contradicts: [2, 3] };

/** Above this many notes a canvas draws. */
export const CANVAS_FROM = 500;

/** Return the ends of a link's line and the points of its arrow head, which stops at the rim of the target's disc. */
function geometry(edge) {
  const { source, target } = edge;
  const dx = target.x - source.x, dy = target.y - source.y;
  const length = Math.hypot(dx, dy) || 1;
  const ux = dx / length, uy = dy / length;
  const x = target.x - ux * (target.r + 1), y = target.y - uy * (target.r + 1);
  return { x, y, left: [x - ux * 6 - uy * 3, y - uy * 6 + ux * 3], right: [x - ux * 6 + uy * 3, y - uy * 6 - ux * 3] };
}

const directed = (edge) => edge.type !== "related";

const FONT = "11px system-ui, sans-serif";
const LABEL_HEIGHT = 14;
const LEAST_DISC = 4; // pixels; a label may lie on a smaller one
let ruler;

/** Return how many pixels wide a label is. */
export function measured(text) {
  ruler ??= document.createElement("canvas").getContext("2d");
  ruler.font = FONT;
  return ruler.measureText(text).width;
}

/** Boxes [left, top, right, bottom] in a plane, in squares, so that few are compared with each other. */
class Taken {
  squares = new Map();

  * #under([left, top, right, bottom]) {
    for (let x = left >> 6; x <= right >> 6; x++) for (let y = top >> 6; y <= bottom >> 6; y++) yield x * 65_536 + y;
  }

  add(box) {
    for (const square of this.#under(box)) {
      if (!this.squares.has(square)) this.squares.set(square, []);
      this.squares.get(square).push(box);
    }
  }

  meets(box) {
    for (const square of this.#under(box)) {
      for (const other of this.squares.get(square) ?? []) {
        if (box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]) return true;
      }
    }
    return false;
  }
}

/**
 * Place labels, at most `scene.most`, in order of importance below, above or beside their discs, leaving out those that would lie on another
 * label, on a disc or outside; zooming in makes room for more. A marked note always has its label.
 */
function labels(scene) {
  const { k, x, y } = scene.transform;
  const taken = new Taken();
  for (const node of scene.nodes) {
    const r = node.r * k, left = node.x * k + x, top = node.y * k + y;
    if (r < LEAST_DISC || left < 0 || left > scene.width || top < 0 || top > scene.height) continue;
    taken.add([left - r, top - r, left + r, top + r]);
  }
  const shown = [];
  for (const node of scene.ordered) {
    if (shown.length >= scene.most) break;
    const cx = node.x * k + x, cy = node.y * k + y, r = node.r * k, width = node.labelWidth;
    if (cx < 0 || cx > scene.width || cy < 0 || cy > scene.height) continue;
    const places = [
      [cx - width / 2, cy + r + 1], [cx - width / 2, cy - r - 1 - LABEL_HEIGHT],
      [cx + r + 4, cy - LABEL_HEIGHT / 2], [cx - r - 4 - width, cy - LABEL_HEIGHT / 2],
    ];
    const free = ([left, top]) => left >= 2 && top >= 0 && left + width <= scene.width - 2 && top + LABEL_HEIGHT <= scene.height
      && !taken.meets([left, top, left + width, top + LABEL_HEIGHT]);
    // Where it was before, so that it does not jump from side to side while the notes move.
    if (!(node.place >= 0 && free(places[node.place]))) node.place = places.findIndex(free);
    if (node.place < 0 && !node.marked) continue;
    const [left, top] = places[Math.max(0, node.place)];
    const inside = Math.max(2, Math.min(left, scene.width - width - 2)), under = Math.min(top, scene.height - LABEL_HEIGHT);
    taken.add([inside, under, inside + width, under + LABEL_HEIGHT]);
    shown.push({ node, text: node.label, x: inside + width / 2, y: under + 11 });
  }
  return shown;
}

export function canvasRenderer(host) {
  const canvas = host.appendChild(document.createElement("canvas"));
  canvas.setAttribute("role", "img");
  const context = canvas.getContext("2d");
  return {
    draw(scene) {
      const scale = window.devicePixelRatio || 1;
      const wide = Math.round(scene.width * scale), high = Math.round(scene.height * scale);
      if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
      canvas.setAttribute("aria-label", scene.label);
      const { k, x, y } = scene.transform;
      const ink = getComputedStyle(host).color;
      context.setTransform(scale, 0, 0, scale, 0, 0);
      context.clearRect(0, 0, scene.width, scene.height);
      context.setTransform(scale * k, 0, 0, scale * k, scale * x, scale * y);
      context.strokeStyle = context.fillStyle = ink;
      for (const [faint, alpha] of [[true, 0.08], [false, 0.35]]) {
        context.globalAlpha = alpha;
        context.lineWidth = 1 / Math.sqrt(k);
        context.beginPath();
        for (const edge of scene.edges) {
          if (edge.faint !== faint || edge.marked || DASHES[edge.type]) continue;
          context.moveTo(edge.source.x, edge.source.y);
          context.lineTo(edge.target.x, edge.target.y);
        }
        context.stroke();
      }
      for (const edge of scene.edges) {
        const dashes = DASHES[edge.type];
        const end = directed(edge) || edge.marked ? geometry(edge) : null;
        if (!dashes && !edge.marked && !end) continue;
        context.globalAlpha = edge.marked ? 0.9 : edge.faint ? 0.1 : 0.45;
        if (dashes || edge.marked) {
          context.setLineDash(dashes ?? []);
          context.beginPath();
          context.moveTo(edge.source.x, edge.source.y);
          context.lineTo(end.x, end.y);
          context.stroke();
          context.setLineDash([]);
        }
        if (directed(edge)) {
          context.beginPath();
          context.moveTo(end.x, end.y);
          context.lineTo(...end.left);
          context.lineTo(...end.right);
          context.fill();
        }
      }
      for (const node of scene.nodes) {
        context.globalAlpha = node.faint ? FAINT : 1;
        context.fillStyle = node.color;
        context.beginPath();
        context.arc(node.x, node.y, node.r, 0, 2 * Math.PI);
        context.fill();
        if (node.ring) {
          context.strokeStyle = ink;
          context.lineWidth = 2 / Math.sqrt(k);
          context.stroke();
        }
      }
      context.setTransform(scale, 0, 0, scale, 0, 0);
      context.font = FONT;
      context.textAlign = "center";
      context.fillStyle = ink;
      context.strokeStyle = getComputedStyle(host.closest(".amem-graph")).backgroundColor;
      context.lineWidth = 3;
      for (const { node, text, x: left, y: top } of labels(scene)) {
        context.globalAlpha = node.faint ? 0.4 : 0.9;
        context.strokeText(text, left, top);
        context.fillText(text, left, top);
      }
      context.globalAlpha = 1;
    },
    remove: () => canvas.remove(),
  };
}

function made(parent, name, attributes = {}) {
  const element = parent.appendChild(document.createElementNS(SVG, name));
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

export function svgRenderer(host) {
  const svg = made(host, "svg", { role: "group" });
  const world = made(svg, "g");
  const lines = made(world, "g", { stroke: "currentColor", fill: "currentColor" });
  const discs = made(world, "g");
  const words = made(svg, "g", { "text-anchor": "middle", "font-size": 11, fill: "currentColor", "aria-hidden": true });
  const kept = { edges: new Map(), nodes: new Map() };
  let told = [];

  /** Set those attributes that differ from what the element has: most stay as they are from frame to frame. */
  function put(element, attributes) {
    const has = (element.has ??= {});
    for (const name in attributes) {
      if (has[name] !== attributes[name]) element.setAttribute(name, (has[name] = attributes[name]));
    }
  }

  /** Keep one element for each item: make what is new, drop what is gone. */
  function keep(elements, items, key, make) {
    const gone = new Set(elements.keys());
    for (const item of items) {
      const id = key(item);
      gone.delete(id);
      if (!elements.has(id)) elements.set(id, make(item));
    }
    for (const id of gone) {
      elements.get(id).remove();
      elements.delete(id);
    }
  }

  return {
    draw(scene) {
      const { k, x, y } = scene.transform;
      put(svg, { width: scene.width, height: scene.height, "aria-label": scene.label });
      put(world, { transform: `translate(${x},${y}) scale(${k})` });
      put(lines, { "stroke-width": 1 / Math.sqrt(k) });
      keep(kept.edges, scene.edges, (edge) => edge.key, () => made(lines, "path"));
      for (const edge of scene.edges) {
        const element = kept.edges.get(edge.key);
        const end = geometry(edge);
        const head = directed(edge) ? ` M${end.x},${end.y} L${end.left} L${end.right} Z` : "";
        put(element, {
          d: `M${edge.source.x},${edge.source.y} L${end.x},${end.y}${head}`,
          opacity: edge.marked ? 0.9 : edge.faint ? 0.1 : 0.4,
          "stroke-dasharray": (DASHES[edge.type] ?? []).join(" "),
        });
      }
      keep(kept.nodes, scene.nodes, (node) => node.id, (node) => made(discs, "circle", { "data-id": node.id, role: "button", tabindex: 0 }));
      for (const node of scene.nodes) {
        const disc = kept.nodes.get(node.id);
        put(disc, {
          cx: node.x, cy: node.y, r: node.r, fill: node.color, "aria-label": node.title,
          opacity: node.faint ? FAINT : 1, stroke: node.ring ? "currentColor" : "none",
          class: node.faint ? "amem-faint" : "",
        });
      }
      put(discs, { "stroke-width": 2 / Math.sqrt(k) });
      const shown = labels(scene);
      while (told.length < shown.length) told.push(made(words, "text"));
      while (told.length > shown.length) told.pop().remove();
      shown.forEach(({ node, text, x: left, y: top }, place) => {
        put(told[place], { x: left, y: top, opacity: node.faint ? 0.4 : 0.9 });
        if (told[place].textContent !== text) told[place].textContent = text;
      });
    },
    remove: () => svg.remove(),
  };
}
