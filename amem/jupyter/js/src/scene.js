// What is drawn of a graph at a moment: which notes show, in which colour, how large, and which are faint.

const PALETTE = [
  "#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#76b7b2",
  "#d4a017", "#ff9da7", "#9c755f", "#6b8e23", "#5c6bc0", "#c2185b",
];
const OTHER = "#8a8f98";
const KINDS = [
  "fact", "preference", "decision", "constraint", "config", "code",
  "error", "question", "chitchat", "procedure", "episode", "topic",
];

export const COLOR_BY = ["kind", "tag", "layer", "topic"];

const GROUP = {
  kind: (node) => node.kind,
  tag: (node) => node.tags[0] ?? "",
  layer: (node) => node.layer.replace("_", " "),
  topic: (node) => node.topic,
};

/** Return the groups of a colouring, the largest first: [{name, color, count}]; "" is what has none. */
export function legend(nodes, colorBy) {
  const counts = new Map();
  for (const node of nodes) {
    const name = GROUP[colorBy](node);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const names = [...counts.keys()].sort((a, b) => (a === "") - (b === "") || counts.get(b) - counts.get(a) || (a < b ? -1 : 1));
  const shown = names.slice(0, PALETTE.length);
  const groups = shown.map((name, place) => ({ name, count: counts.get(name), color: colorOf(colorBy, name, place) }));
  const rest = names.slice(PALETTE.length);
  if (rest.length) {
    const count = rest.reduce((sum, name) => sum + counts.get(name), 0);
    groups.push({ name: `${rest.length} others`, count, color: OTHER, members: new Set(rest) });
  }
  return groups;
}

function colorOf(colorBy, name, place) {
  if (name === "") return OTHER;
  return PALETTE[(colorBy === "kind" && KINDS.includes(name) ? KINDS.indexOf(name) : place) % PALETTE.length];
}

/** Return a function from a node to its group in a legend. */
export function grouping(groups, colorBy) {
  const known = new Map();
  for (const group of groups) for (const name of group.members ?? [group.name]) known.set(name, group);
  return (node) => known.get(GROUP[colorBy](node));
}

/** Say whether a note is there, and whether it still holds, at a moment (ISO 8601; "" is now). */
export function standing(node, asOf) {
  const there = !asOf || node.since <= asOf;
  const ended = asOf && node.until ? node.until <= asOf : node.status !== "active";
  return { there, ended };
}

/** Return whether a note holds all words of a query, in any field that is shown. */
export function matches(node, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const text = [node.title, node.text, node.kind, node.topic, node.id, ...node.tags.map((tag) => `#${tag}`)].join("\n").toLowerCase();
  return words.every((word) => text.includes(word));
}

/** Return the radius of a note's disc in pixels, by its strength: its area grows with it. */
export function radius(node) {
  return 4 + 7 * Math.sqrt(Math.min(1.5, Math.max(0, node.strength)));
}

/** Return the span of time of a graph as [first, last] in days since 1970; the last is today or later. */
export function span(nodes) {
  const days = nodes.flatMap((node) => [node.since, node.until]).filter(Boolean).map(toDay);
  const today = toDay(new Date().toISOString());
  return days.length ? [Math.min(...days), Math.max(today, ...days)] : [today - 1, today];
}

export const toDay = (iso) => Math.floor(Date.parse(iso) / 86400000);
// The end of a day, so that what was said on it is there.
export const fromDay = (day) => `${new Date(day * 86400000).toISOString().slice(0, 10)}T23:59:59Z`;
