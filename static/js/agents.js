// The list of agents: goes on as one scrolls, is filtered, is one stop of the Tab key with the arrows
// inside, renames in place, notes what was read, and counts what was not in the page's
// title, and shows in its icon that an agent waits for the person.
(() => {
  const lists = document.getElementById("agent-lists");
  if (!lists) return;
  const first = document.getElementById("agents");
  const further = document.getElementById("agents-further");
  const found = document.getElementById("agents-found");
  const filter = document.getElementById("agents-filter");
  const archived = document.getElementById("agents-archived");
  const favicon = document.getElementById("favicon");
  const usual = favicon.getAttribute("href");
  const load = (target, query, swap = "innerHTML") => htmx.ajax("GET", `${lists.dataset.list}?${new URLSearchParams(query)}`, { target, swap });

  // -- more, as one scrolls ---------------------------------------------------------------------
  // What follows the first part is loaded anew when the first part ends elsewhere.
  let begins = null, loading = false;
  const rowsOf = (list) => list.querySelectorAll(":scope > .listed").length;
  const follow = async () => {
    const sentinel = further.querySelector("[data-further]") ?? (further.children.length ? null : first.querySelector("[data-further]"));
    if (!sentinel || loading) return;
    loading = true;
    try {
      await load(further, { start: sentinel.dataset.further }, "beforeend");
      sentinel.closest("#agents-further") && sentinel.remove();
      further.hidden = false;
    } finally { loading = false; }
  };
  const seen = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && follow(), { root: lists });
  const arrange = () => {
    const last = first.querySelector(":scope > .listed:nth-last-of-type(-n + 2)")?.id;
    const sentinel = first.querySelector("[data-further]");
    if (begins !== null && begins !== last && rowsOf(further)) {
      load(further, { start: sentinel?.dataset.further ?? 0, most: Math.min(500, rowsOf(further)) });
    }
    begins = last;
    const here = new Set([...first.querySelectorAll(":scope > .listed")].map((row) => row.dataset.agent));
    for (const row of further.querySelectorAll(".listed")) if (here.has(row.dataset.agent)) row.remove();
    if (sentinel) sentinel.hidden = further.children.length > 0;
    seen.disconnect();
    for (const each of lists.querySelectorAll("[data-further]:not([hidden])")) seen.observe(each);
  };

  // -- one stop of the Tab key ------------------------------------------------------------------
  const shownLists = () => [first, further, found].filter((list) => !list.hidden);
  const stops = () => shownLists().flatMap((list) => [...list.querySelectorAll("a, button")]).filter((each) => each.checkVisibility());
  const rove = () => {
    const all = [...lists.querySelectorAll(".agents :is(a, button)")];
    const current = all.find((each) => each === document.activeElement) ?? all.find((each) => each.matches("[aria-current=page]") && each.checkVisibility()) ?? stops()[0];
    for (const each of all) {
      const index = each === current ? "0" : "-1";
      if (each.getAttribute("tabindex") !== index) each.setAttribute("tabindex", index);
    }
  };
  lists.addEventListener("keydown", (event) => {
    const at = event.target.closest(".agents :is(a, button)");
    if (!at || event.altKey || event.ctrlKey || event.metaKey) return;
    const row = at.closest(".row");
    let to = null;
    if (row && (event.key === "ArrowRight" || event.key === "ArrowLeft")) {
      const inRow = [...row.querySelectorAll("a, button")];
      to = inRow[inRow.indexOf(at) + (event.key === "ArrowRight" ? 1 : -1)];
    } else {
      const links = stops().filter((each) => !each.closest(".row-acts"));
      const here = links.indexOf(row ? row.querySelector("a") : at);
      to = { ArrowDown: links[here + 1], ArrowUp: links[here - 1], Home: links[0], End: links.at(-1) }[event.key];
    }
    if (!to) return;
    event.preventDefault();
    to.setAttribute("tabindex", "0");
    to.focus();
  });
  lists.addEventListener("focusin", rove);

  // -- filter and archive -----------------------------------------------------------------------
  const other = (query) => {
    if (query) load(found, query);
    found.hidden = !query;
    first.hidden = Boolean(query);
    further.hidden = Boolean(query) || !further.children.length;
  };
  let typing = null;
  filter?.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => other(filter.value.trim() && { q: filter.value.trim() }), 200);
  });
  filter?.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") { event.preventDefault(); stops()[0]?.focus(); }
    if (event.key === "Escape" && filter.value) { event.stopPropagation(); filter.value = ""; other(""); }
  });
  archived.addEventListener("click", () => {
    const show = archived.getAttribute("aria-expanded") !== "true";
    archived.setAttribute("aria-expanded", String(show));
    archived.textContent = show ? archived.dataset.back : archived.dataset.show;
    if (filter) filter.value = "";
    other(show && { archived: 1 });
  });
  if (filter) filter.hidden = false;
  archived.hidden = false;
  document.addEventListener("htmx:after:request", (event) => {
    if (event.target?.closest?.("#agents-found button")) archived.getAttribute("aria-expanded") === "true" ? other({ archived: 1 }) : other(filter?.value.trim() && { q: filter.value.trim() });
  });

  // -- the conversations of the agent that is shown ---------------------------------------------
  let filtering = null;
  first.addEventListener("input", ({ target }) => {
    if (target.id !== "conversations-filter") return;
    clearTimeout(filtering);
    filtering = setTimeout(async () => {
      const q = target.value.trim(), found = document.getElementById("conversations-found");
      if (q) await htmx.ajax("GET", `${target.dataset.list}?${new URLSearchParams({ q })}`, { target: found, swap: "innerHTML" });
      if (q !== target.value.trim()) return; // typed on meanwhile
      if (!q) found.replaceChildren();
      document.getElementById("conversations").toggleAttribute("data-filtered", Boolean(q));
    }, 200);
  });

  // -- a new name -------------------------------------------------------------------------------
  const rename = document.getElementById("rename-agent");
  const refusal = rename.querySelector(".refusal");
  let renamed = null;
  lists.addEventListener("click", (event) => {
    const button = event.target.closest("[data-rename]");
    if (!button) return;
    renamed = { address: button.dataset.rename, rows: `[data-agent="${button.closest(".listed").dataset.agent}"] > .row`, list: button.closest(".agents") };
    const at = button.closest(".row").getBoundingClientRect();
    rename.elements.name.value = button.closest(".row").querySelector(".name").textContent;
    refusal.hidden = true;
    rename.showPopover();
    rename.style.left = `${at.left}px`;
    rename.style.top = `${Math.min(at.top, innerHeight - rename.offsetHeight - 8)}px`;
    rename.elements.name.select();
  });
  rename.addEventListener("submit", async (event) => {
    event.preventDefault();
    const headers = JSON.parse(document.body.getAttribute("hx-headers:inherited"));
    const answer = await fetch(renamed.address, { method: "POST", headers: { ...headers, "HX-Request": "true" }, body: new FormData(rename) }).catch(() => null);
    refusal.textContent = !answer ? gettext("The server is not answering, so the name is as it was.") : answer.ok ? "" : answer.status === 422 ? await answer.text() : gettext("The server refused the name.");
    refusal.hidden = Boolean(answer?.ok);
    if (!answer?.ok) return;
    for (const name of lists.querySelectorAll(`${renamed.rows} .name`)) name.textContent = rename.elements.name.value.trim();
    rename.hidePopover();
    renamed.list.querySelector(`${renamed.rows} a`)?.focus();
  });

  // -- what was read ----------------------------------------------------------------------------
  const read = () => {
    const due = first.querySelectorAll("[data-read-due]");
    if (!due.length) return;
    const row = due[0].closest(".listed").querySelector(".row > a");
    for (const each of due) each.removeAttribute("data-read-due");
    const headers = JSON.parse(document.body.getAttribute("hx-headers:inherited"));
    const body = new URLSearchParams({ read: 1, conversation: document.getElementById("chat")?.dataset.conversation ?? "" });
    fetch(`${row.getAttribute("href")}listed/`, { method: "POST", keepalive: true, headers: { ...headers, "HX-Request": "true" }, body }).catch(() => {});
  };
  document.addEventListener("visibilitychange", read);
  addEventListener("pagehide", read);
  if (document.visibilityState === "visible") read();

  const count = () => {
    const unread = lists.querySelectorAll(".listed > .row [data-unread]").length;
    const bare = document.title.replace(/^\(\d+\) /, "");
    const title = unread ? `(${unread}) ${bare}` : bare;
    if (document.title !== title) document.title = title;
    const icon = lists.querySelector("[data-waits]") ? favicon.dataset.waiting : usual;
    if (favicon.getAttribute("href") !== icon) favicon.setAttribute("href", icon);
  };
  let due = false;
  const changed = () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => { due = false; arrange(); rove(); count(); });
  };
  for (const list of [first, further, found]) new MutationObserver(changed).observe(list, { childList: true, subtree: true });
  new MutationObserver(changed).observe(document.querySelector("title"), { childList: true });
  changed();
  for (const open of lists.querySelectorAll("[aria-current]")) open.scrollIntoView({ block: "nearest" });
})();
