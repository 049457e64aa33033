// The context window's picture: a part that is chosen in the bar opens below it, and what is opened
// is fetched. Arrow keys go from one bar to the next.
(() => {
  document.addEventListener("click", (event) => {
    const share = event.target.closest("a[data-part]");
    if (!share) return;
    event.preventDefault();
    const part = document.getElementById(share.dataset.part);
    part.open = true;
    part.querySelector("summary").focus({ preventScroll: true });
    part.scrollIntoView({ block: "nearest" });
  });
  document.addEventListener("toggle", ({ target }) => {
    if (target.open) target.querySelector(":scope > .part-text")?.dispatchEvent(new CustomEvent("part-opened"));
  }, true);
  document.addEventListener("keydown", (event) => {
    const bars = event.target.closest?.("a") && event.target.closest("[data-roving]")?.querySelectorAll("a");
    if (!bars) return;
    const at = [...bars].indexOf(event.target.closest("a"));
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: bars.length - 1 }[event.key];
    if (!bars[to]) return;
    event.preventDefault();
    event.stopPropagation();
    bars[at].setAttribute("tabindex", "-1");
    bars[to].setAttribute("tabindex", "0");
    bars[to].focus();
  });
})();
