// Elements made in one line. Text is always set as text: a note's words are never read as markup.

/** Make an element: `element("button", {class: "x", title: "y", onclick: f}, "words", child, ...)`. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

/** Return what may be sent at most once in so many milliseconds after the last call. */
export function settled(milliseconds, act) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...values), milliseconds);
  };
}

export const day = (iso) => iso.slice(0, 10);
