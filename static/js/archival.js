// The Archival tab: what its list shows stands in the address and in the tags that are ticked, and
// the keyboard stays where it was when an editor closes.
(() => {
  let changes = 0, asked = 0, answered = 0; // how often something was typed or ticked; of these, how many a request and a list know of
  const asking = () => changes !== answered;
  let missed = ""; // what happened meanwhile, which that list may not know of: the kind of event
  document.addEventListener("input", (event) => { if (event.target.closest("#archival-search")) changes++; });
  document.addEventListener("htmx:before:request", (event) => { if (event.target.id === "archival-search") asked = changes; });
  document.addEventListener("memoryweb:event", ({ detail }) => { if (asking() && detail.kind === "archival_changed") missed = detail.kind; });

  const follow = (found, panel) => {
    const query = new URLSearchParams(found.dataset.query);
    const live = new URL(panel.dataset.live, location);
    if (live.searchParams.toString() !== query.toString()) {
      live.search = query;
      panel.dataset.live = live.pathname + live.search;
      const page = new URL(location);
      const step = page.searchParams.get("step");
      page.search = new URLSearchParams({ panel: "archival", ...Object.fromEntries(query), ...(step && { step }) });
      history.replaceState(null, "", page);
    }
    const tags = JSON.parse(found.dataset.tags);
    for (const box of panel.querySelectorAll("#archival-tags input")) {
      box.checked = box.name === "all" ? query.has("all") : tags.includes(box.value);
    }
  };
  document.addEventListener("htmx:after:swap", (event) => {
    const target = event.detail?.ctx?.target;
    const found = document.getElementById("archival-found");
    const panel = found?.closest("[role=tabpanel]");
    if (!panel || panel.hidden) return;
    if (target === found) {
      answered = asked;
      if (missed) document.dispatchEvent(new CustomEvent("memoryweb:event", { detail: { kind: missed } }));
      missed = "";
    }
    if (!asking() && found.dataset.query !== undefined) follow(found, panel);
    const closed = target instanceof Element && target.matches(".block-editor:empty");
    if (closed && document.activeElement === document.body) target.closest(".kept")?.focus();
  });
  document.addEventListener("click", (event) => {
    event.target.closest("[data-close-editor]")?.closest(".kept")?.focus();
  }, true);
})();
