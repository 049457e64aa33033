// The memory panel: changed words glow, unseen changes are counted.
(() => {
  const inspector = document.getElementById("inspector");
  if (!inspector) return;
  const GLOW = 2000;
  let unseen = 0;
  const inView = () => Boolean(document.getElementById("core-memory")?.checkVisibility({ visibilityProperty: true }));
  const busy = () => inspector.contains(document.activeElement) || inspector.matches(":hover");

  const count = (number) => {
    unseen = number;
    const counted = interpolate(ngettext("%s change", "%s changes", unseen), [unseen]);
    const words = `· ${counted}`;
    for (const [id, text] of [["unseen", words], ["unseen-sheet", words], ["unseen-blocks", unseen]]) {
      const shown = document.getElementById(id);
      if (!shown) continue;
      shown.hidden = !unseen;
      shown.textContent = unseen ? text : "";
    }
  };
  const showMemory = () => {
    document.dispatchEvent(new CustomEvent("memoryweb:show-tab", { detail: "memory" }));
    document.dispatchEvent(new CustomEvent("memoryweb:open", { detail: "inspector" }));
  };
  const changed = (view) => {
    const block = view.closest(".block");
    block.dataset.glow = "";
    setTimeout(() => delete block.dataset.glow, GLOW);
    document.dispatchEvent(new CustomEvent("memoryweb:memory-changed", { detail: block }));
    if (!inView()) count(unseen + 1);
    else if (!busy()) block.scrollIntoView({ block: "nearest" });
    const editor = block.querySelector("[data-editor]");
    if (editor) warn(block);
  };
  const warn = (block) => {
    const notice = block.querySelector(".block-notice");
    const line = document.createElement("p");
    line.className = "changed-meanwhile";
    line.textContent = gettext("This block changed while you were typing. Your text is kept; when you save, you choose what to keep.");
    notice.replaceChildren(line);
  };

  new MutationObserver((records) => {
    const views = new Set(records.map((r) => r.target.closest?.(".block-view")).filter(Boolean));
    const versionOf = (view) => view.querySelector(".value")?.dataset.version;
    for (const view of views) {
      if (view.dataset.seen !== undefined && view.dataset.seen !== versionOf(view)) changed(view);
      view.dataset.seen = versionOf(view);
      view.closest(".block")?.dispatchEvent(new CustomEvent("memoryweb:block-drawn", { bubbles: true }));
    }
  }).observe(inspector, { childList: true, subtree: true });
  for (const view of inspector.querySelectorAll(".block-view")) {
    view.dataset.seen = view.querySelector(".value").dataset.version;
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-show-block]");
    if (link) {
      event.preventDefault();
      showMemory();
      const block = document.getElementById(link.dataset.showBlock);
      block?.scrollIntoView({ block: "center" });
      block?.focus({ preventScroll: true });
      if (block) { block.dataset.glow = ""; setTimeout(() => delete block.dataset.glow, GLOW); }
    }
  });
  const swapped = (event) => (event.detail?.ctx?.target instanceof Element ? event.detail.ctx.target : null);
  // A refusal is shown where the change was asked for, also when the panel is out of sight.
  document.addEventListener("htmx:after:swap", (event) => {
    if (swapped(event)?.closest(".block-notice")?.childElementCount) showMemory();
  });
  // A saved editor leaves no notice behind.
  document.addEventListener("htmx:after:swap", (event) => {
    const block = swapped(event)?.closest(".block");
    if (block && !block.querySelector("[data-editor]")) block.querySelector(".changed-meanwhile")?.remove();
  });
  document.addEventListener("memoryweb:opened", (event) => {
    if (event.detail === "inspector" && !document.getElementById("panel-memory")?.hidden) count(0);
  });
  document.addEventListener("memoryweb:tab-shown", (event) => event.detail === "memory" && inView() && count(0));
})();
