// The editor of a tool's source: numbered lines, the wrong one marked, Tab indents.
(() => {
  const area = document.getElementById("id_source");
  const gutter = document.querySelector(".gutter");
  if (!area || !gutter) return;
  const INDENT = "    ";

  // -- numbers -------------------------------------------------------------------------------

  const wrongLine = () => {
    const marked = document.querySelector("#source-error [data-line]") ?? document.querySelector("#trial [data-line]");
    return Number(marked?.dataset.line ?? 0);
  };
  const number = () => {
    const count = area.value.split("\n").length;
    while (gutter.childElementCount > count) gutter.lastElementChild.remove();
    for (let line = gutter.childElementCount + 1; line <= count; line++) {
      const shown = document.createElement("span");
      shown.textContent = line;
      gutter.append(shown);
    }
    const wrong = wrongLine();
    [...gutter.children].forEach((line, i) => line.classList.toggle("bad", i + 1 === wrong));
    follow();
  };
  const follow = () => { gutter.scrollTop = area.scrollTop; };
  area.addEventListener("input", number);
  area.addEventListener("scroll", follow, { passive: true });
  new ResizeObserver(follow).observe(area);
  for (const id of ["source-error", "trial"]) {
    const shown = document.getElementById(id);
    if (shown) new MutationObserver(number).observe(shown, { childList: true, subtree: true });
  }
  number();
  // What was typed before the scripts were there, or kept by the browser across a reload, is read too.
  addEventListener("load", () => {
    if (area.value !== area.defaultValue) area.dispatchEvent(new Event("input", { bubbles: true }));
  });

  // -- keys ----------------------------------------------------------------------------------

  // As if typed, so that the browser's own undo knows of it.
  const type = (text) => document.execCommand("insertText", false, text) || area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
  const startOfLine = () => area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;
  const shift = (back) => {
    const start = startOfLine(), end = area.selectionEnd;
    const lines = area.value.slice(start, end).split("\n");
    const shifted = lines.map((line) => (back ? line.replace(/^ {1,4}/, "") : line && INDENT + line)).join("\n");
    area.setSelectionRange(start, end);
    if (shifted) type(shifted);
    else document.execCommand("delete");
    area.setSelectionRange(start, start + shifted.length);
  };
  let leaving = false;
  area.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { leaving = true; return; }
    if (event.key === "Tab" && !leaving && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      const several = area.value.slice(area.selectionStart, area.selectionEnd).includes("\n");
      if (several) shift(event.shiftKey);
      else if (event.shiftKey) {
        const start = startOfLine(), at = area.selectionStart;
        const spaces = Math.min(4, area.value.slice(start).match(/^ */)[0].length);
        if (!spaces) return;
        area.setSelectionRange(start, start + spaces);
        document.execCommand("delete");
        area.setSelectionRange(Math.max(start, at - spaces), Math.max(start, at - spaces));
      } else type(INDENT);
    } else if (event.key === "Enter" && !event.isComposing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      const before = area.value.slice(startOfLine(), area.selectionStart);
      type("\n" + before.match(/^ */)[0] + (before.trimEnd().endsWith(":") ? INDENT : ""));
    }
    if (event.key !== "Shift") leaving = false;
  });
  area.addEventListener("blur", () => { leaving = false; });
})();
