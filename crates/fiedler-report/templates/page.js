(function () {
  "use strict";
  var root = document.documentElement, button = document.getElementById("theme"), tip = document.getElementById("tip");

  // The switch: what the system prefers until the reader says otherwise.
  function isDark() {
    return (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  }
  function tellTheme() {
    button.setAttribute("aria-pressed", String(isDark()));
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", "Dark theme");
  }
  button.hidden = false;
  button.addEventListener("click", function () {
    root.dataset.theme = isDark() ? "light" : "dark";
    tellTheme();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tellTheme);
  tellTheme();

  // Words of a mark: its own title, or that of a group around it. The browser's own bubble would come late and twice.
  function words(mark) {
    for (var node = mark; node && node.tagName !== "svg"; node = node.parentNode) {
      if (node.dataset && node.dataset.tip) { return node.dataset.tip; }
      var title = node.querySelector && node.querySelector(":scope > title");
      if (title) {
        node.dataset.tip = title.textContent;
        title.remove();
        return node.dataset.tip;
      }
    }
    return "";
  }
  var pointed = null;
  function show(mark, x, y) {
    var text = words(mark);
    if (pointed) { pointed.classList.remove("pointed"); }
    pointed = text ? mark : null;
    if (!text) { tip.hidden = true; return; }
    mark.classList.add("pointed");
    if (tip.textContent !== text) { tip.textContent = text; }
    tip.hidden = false;
    var box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 12, innerWidth - box.width - 4)) + "px";
    tip.style.top = (y + 18 + box.height > innerHeight ? y - box.height - 10 : y + 18) + "px";
  }
  function hide() {
    if (pointed) { pointed.classList.remove("pointed"); pointed = null; }
    tip.hidden = true;
  }
  document.querySelectorAll(".picture").forEach(function (picture) {
    var place = -1, marks = null;
    picture.addEventListener("pointermove", function (event) { show(event.target, event.clientX, event.clientY); });
    picture.addEventListener("pointerleave", hide);
    picture.addEventListener("blur", function () { place = -1; hide(); });
    // Arrow keys go from mark to mark, for those who have no pointer.
    picture.addEventListener("keydown", function (event) {
      var step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") { hide(); }
      if (!step) { return; }
      marks = marks || Array.from(picture.querySelectorAll("svg *")).filter(function (node) {
        return (node.dataset && node.dataset.tip) || node.querySelector(":scope > title");
      });
      if (!marks.length) { return; }
      event.preventDefault();
      place = place < 0 && step < 0 ? marks.length - 1 : (place + step + marks.length) % marks.length;
      var box = marks[place].getBoundingClientRect();
      show(marks[place], box.left + box.width / 2, box.top + box.height / 2);
    });
  });
})();
