// The zones: the list of agents folds away, the inspector is a drawer on narrow pages, its width is
// the person's to choose. What they chose is remembered.
(() => {
  const wide = { sidebar: matchMedia("(min-width: 700px)"), inspector: matchMedia("(min-width: 1000px)") };
  const root = document.documentElement;
  const rightToLeft = root.dir === "rtl";
  const folded = (zone) => `${zone}-folded`;
  const open = (zone) => `${zone}-open`;

  const isOpen = (zone) => (wide[zone].matches ? !root.classList.contains(folded(zone)) : root.classList.contains(open(zone)));
  const set = (zone, shown) => {
    if (wide[zone].matches) {
      root.classList.toggle(folded(zone), !shown);
      localStorage.setItem(folded(zone), shown ? "" : "1");
    } else {
      for (const other of Object.keys(wide)) root.classList.toggle(open(other), other === zone && shown);
      root.classList.toggle("drawer-open", shown);
    }
    for (const button of document.querySelectorAll(`[data-toggle="${zone}"]`)) button.setAttribute("aria-expanded", String(shown));
    if (shown) document.dispatchEvent(new CustomEvent("memoryweb:opened", { detail: zone }));
  };

  for (const zone of Object.keys(wide)) if (localStorage.getItem(folded(zone))) root.classList.add(folded(zone));
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-toggle]");
    if (button) return set(button.dataset.toggle, !isOpen(button.dataset.toggle));
    if (!root.classList.contains("drawer-open")) return;
    for (const zone of Object.keys(wide)) {
      const drawer = document.getElementById(zone);
      if (root.classList.contains(open(zone)) && !event.composedPath().includes(drawer) && !event.target.closest("[data-show-block]")) set(zone, false);
    }
  });
  document.addEventListener("memoryweb:open", (event) => isOpen(event.detail) || set(event.detail, true));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const zone of Object.keys(wide)) if (root.classList.contains(open(zone))) set(zone, false);
  });

  // A banner that was dismissed stays away.
  const banner = document.querySelector("[data-dismissable]");
  const dismissed = banner && `dismissed-${banner.dataset.dismissable}`;
  if (banner) banner.hidden = Boolean(localStorage.getItem(dismissed));
  banner?.querySelector("[data-dismiss]").addEventListener("click", () => {
    localStorage.setItem(dismissed, "1");
    banner.hidden = true;
  });

  const inspector = document.getElementById("inspector");
  const handle = document.getElementById("resize");
  if (!inspector || !handle) return;
  const LEAST = 360, MOST = 560;
  const resize = (width) => {
    const kept = Math.round(Math.min(MOST, Math.max(LEAST, width)));
    root.style.setProperty("--inspector", `${kept}px`);
    handle.setAttribute("aria-valuenow", kept);
    localStorage.setItem("inspector-width", kept);
  };
  handle.addEventListener("pointerdown", (event) => {
    handle.setPointerCapture(event.pointerId);
    handle.onpointermove = (move) => resize(rightToLeft ? move.clientX : innerWidth - move.clientX);
  });
  handle.addEventListener("pointerup", () => { handle.onpointermove = null; });
  handle.addEventListener("keydown", (event) => {
    const step = (rightToLeft ? -1 : 1) * { ArrowLeft: 20, ArrowRight: -20 }[event.key];
    if (step) resize(inspector.getBoundingClientRect().width + step);
  });
  resize(Number(localStorage.getItem("inspector-width")) || 476);
})();
