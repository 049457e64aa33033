// Terms of the glossary: an element with `data-term` is explained while the pointer or the focus is on
// it, and when it is tapped. The server puts the explanation in its `title`, which is what there is
// without this script; here one tip shows it, above whatever would cut it off.
(() => {
  const GAP = 6, EDGE = 8;
  const tip = document.createElement("div");
  tip.className = "term-tip";
  tip.popover = "manual";
  tip.setAttribute("aria-hidden", "true"); // said already, as the term's description
  document.body.append(tip);
  let shown = null;

  const explain = (term) => {
    if (term.title) {
      term.setAttribute("aria-description", term.title);
      term.removeAttribute("title");
    }
    return term.getAttribute("aria-description");
  };
  const show = (term) => {
    shown = term;
    tip.textContent = explain(term);
    tip.showPopover();
    const at = term.getBoundingClientRect(), { width, height } = tip.getBoundingClientRect();
    const below = at.bottom + GAP + height < innerHeight - EDGE;
    tip.style.left = `${Math.max(EDGE, Math.min(at.left, innerWidth - width - EDGE))}px`;
    tip.style.top = `${below ? at.bottom + GAP : Math.max(EDGE, at.top - GAP - height)}px`;
  };
  const hide = () => {
    if (shown) tip.hidePopover();
    shown = null;
  };
  const termAt = (event) => event.target.closest?.("[data-term]");

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const term = termAt(event);
    if (term && term !== shown) show(term);
    else if (!term && shown && shown !== document.activeElement) hide();
  });
  document.addEventListener("focusin", (event) => {
    const term = termAt(event);
    if (term?.matches(":focus-visible")) show(term);
  });
  document.addEventListener("focusout", hide);
  document.addEventListener("click", (event) => {
    const term = termAt(event);
    if (!term?.matches(".term")) return hide();
    event.preventDefault(); // also where it stands in a label or a summary
    show(term);
  });
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  document.addEventListener("scroll", hide, { capture: true, passive: true });
})();
