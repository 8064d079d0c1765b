// The keyboard belongs to the browser of notes from the start, not only after a click.
new MutationObserver((_, observer) => {
  const keyboard = document.querySelector(".xterm-helper-textarea");
  if (keyboard) {
    keyboard.focus();
    observer.disconnect();
  }
}).observe(document.documentElement, { childList: true, subtree: true, attributes: true, attributeFilter: ["class"] });
window.addEventListener("focus", () => document.querySelector(".xterm-helper-textarea")?.focus());
