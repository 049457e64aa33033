// The panel's tabs, and whatever names the events after which it is drawn anew: data-live is where
// from, data-kinds are the kinds. What is out of sight is drawn when it comes into sight.
(() => {
  const list = document.getElementById("panel-tabs");
  if (!list) return;
  const WAIT = 300;
  const waiting = new WeakMap(); // element → timer
  const loading = new WeakMap(); // element → {url, again, abort, done}
  const stale = new WeakSet();
  const tabs = [...list.querySelectorAll("[role=tab]")];
  const panelOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));
  const shown = (element) => element.isConnected && element.checkVisibility({ visibilityProperty: true });

  // Fetch an element's content and morph it in. What is asked for while it is on its way comes after.
  const load = async (element) => {
    const url = element.dataset.live;
    const before = loading.get(element);
    if (before?.url === url) { before.again = true; return before.done; }
    before?.abort();
    const way = new AbortController();
    const mine = { url, again: false, abort: () => way.abort() };
    loading.set(element, mine);
    stale.delete(element);
    element.setAttribute("aria-busy", "true");
    mine.done = fetched(element, mine, way.signal);
    await mine.done;
    if (loading.get(element) !== mine) return;
    loading.delete(element);
    element.removeAttribute("aria-busy");
    if (mine.again) await load(element);
  };
  const fetched = async (element, mine, signal) => {
    const { url } = mine;
    try {
      const response = await fetch(url, { headers: { "HX-Request": "true" }, signal });
      if (!response.ok || response.redirected) throw new Error(response.statusText);
      const text = await response.text();
      if (element.dataset.live !== url) { // drawn anew meanwhile, perhaps from before the event
        mine.again = !element.matches("[role=tabpanel]");
        return;
      }
      if (!text) return; // nothing new
      await htmx.swap({ sourceElement: element, target: element, text, swap: element.dataset.swap ?? "innerMorph" });
    } catch {
      if (signal.aborted) return;
      stale.add(element);
      if (!element.childElementCount && element.matches("[role=tabpanel]")) sayFailed(element);
    }
  };
  const sayFailed = (panel) => {
    const refusal = document.createElement("p");
    refusal.className = "refusal";
    refusal.setAttribute("role", "alert");
    refusal.textContent = gettext("This tab could not be loaded: the server did not answer correctly. Open it again, or reload the page.");
    panel.replaceChildren(refusal);
  };
  const freshen = (element) => {
    if (!shown(element)) return stale.add(element);
    if (!waiting.has(element)) {
      waiting.set(element, setTimeout(() => { waiting.delete(element); load(element); }, WAIT));
    }
  };
  const live = () => document.querySelectorAll("[data-live]");
  document.addEventListener("memoryweb:event", ({ detail }) => {
    for (const element of live()) {
      const empty = element.matches("[role=tabpanel]") && !element.childElementCount; // never opened
      if (!empty && element.dataset.kinds.split(" ").includes(detail.kind)) freshen(element);
    }
  });
  const catchUp = () => setTimeout(() => { for (const element of live()) if (stale.has(element) && shown(element)) load(element); }, WAIT);
  for (const moment of ["memoryweb:opened", "memoryweb:connected"]) document.addEventListener(moment, catchUp);

  // -- tabs ----------------------------------------------------------------------------------

  const address = (name, query) => {
    const url = new URL(location);
    const step = url.searchParams.get("step");
    url.search = new URLSearchParams({ ...(name !== "memory" && { panel: name }), ...query, ...(step && { step }) });
    return url;
  };
  const reveal = (tab) => list.scrollTo({ left: tab.offsetLeft - list.offsetLeft - 24 });
  // Show a tab; `query`, where it is given, is what the tab is asked for.
  const show = async (tab, query) => {
    for (const other of tabs) {
      other.setAttribute("aria-selected", String(other === tab));
      other.tabIndex = other === tab ? 0 : -1;
      panelOf(other).hidden = other !== tab;
    }
    reveal(tab);
    const panel = panelOf(tab);
    if (panel.dataset.live) {
      const source = new URL(panel.dataset.live, location);
      const before = source.search;
      if (query) source.search = new URLSearchParams(query);
      history.replaceState(null, "", address(tab.dataset.tab, Object.fromEntries(source.searchParams)));
      panel.dataset.live = source.pathname + source.search;
      if (!panel.childElementCount || source.search !== before || stale.has(panel) || panel.querySelector(":scope > .refusal")) await load(panel);
      else catchUp();
    } else {
      history.replaceState(null, "", address(tab.dataset.tab));
    }
    document.dispatchEvent(new CustomEvent("memoryweb:tab-shown", { detail: tab.dataset.tab }));
  };
  const named = (name) => tabs.find((tab) => tab.dataset.tab === name);
  document.addEventListener("memoryweb:show-tab", (event) => named(event.detail)?.getAttribute("aria-selected") === "false" && show(named(event.detail)));

  const plain = (event) => event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
  list.addEventListener("click", (event) => {
    const tab = event.target.closest("[role=tab]");
    if (!tab || !plain(event)) return;
    event.preventDefault();
    show(tab);
  });
  list.addEventListener("keydown", (event) => {
    const at = tabs.indexOf(event.target);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (event.key === " " && at >= 0) { event.preventDefault(); show(tabs[at]); }
    if (to === undefined || at < 0) return;
    event.preventDefault();
    const tab = tabs.at(to % tabs.length);
    tab.focus();
    show(tab);
  });

  // -- links into a tab, and to a step ---------------------------------------------------------

  const showMarked = (move) => {
    const marked = document.querySelector(".panel:not([hidden]) .edit[aria-current]");
    marked?.scrollIntoView({ block: "center" });
    if (move) marked?.focus({ preventScroll: true });
  };
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a[data-panel]");
    if (link && plain(event) && named(link.dataset.panel)) {
      event.preventDefault();
      const query = Object.fromEntries(new URL(link.href).searchParams);
      delete query.panel;
      document.dispatchEvent(new CustomEvent("memoryweb:open", { detail: "inspector" }));
      const tab = named(link.dataset.panel);
      const within = panelOf(tab).contains(link);
      await show(tab, query);
      if (query.edit) showMarked(true);
      else if (!within) tab.focus();
    }
    const close = event.target.closest("[data-close-blame]");
    if (close) close.closest(".blame").remove();
    const way = event.target.closest("a[data-step]");
    const step = way && plain(event) && document.getElementById(`step-${way.dataset.step}`);
    if (step) {
      event.preventDefault();
      if (location.hash === `#${step.id}`) step.scrollIntoView();
      else location.hash = step.id;
    } else if (way) {
      const panel = new URL(location).searchParams;
      panel.set("step", way.dataset.step);
      way.search = panel; // the tab that is open stays so
    }
  });
  // -- a tab's own search and filters ----------------------------------------------------------

  const ask = (form) => show(named(form.dataset.panelQuery), Object.fromEntries([...new FormData(form)].filter(([, value]) => value)));
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-panel-query]")) return;
    event.preventDefault();
    ask(event.target);
  });
  document.addEventListener("change", (event) => event.target.closest("[data-panel-query]") && ask(event.target.closest("form")));
  document.addEventListener("search", (event) => event.target.closest("[data-panel-query]") && ask(event.target.closest("form")), true);
  document.addEventListener("click", (event) => {
    const form = event.target.closest("[data-clear-query]")?.closest("form");
    if (!form) return;
    for (const field of form.elements) field.value = "";
    ask(form);
  });
  showMarked(false);
  const first = tabs.find((tab) => tab.getAttribute("aria-selected") === "true");
  if (first !== named("memory")) document.dispatchEvent(new CustomEvent("memoryweb:open", { detail: "inspector" }));
  reveal(first);
})();
