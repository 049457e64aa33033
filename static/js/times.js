// Times, relative to now; the exact one is in the title.
(() => {
  // As the browser writes them, where that is the language of the page.
  const { lang } = document.documentElement;
  const locale = [...navigator.languages.filter((each) => each.split("-")[0] === lang), lang];
  const set = (time, name, value) => { if (time[name] !== value) time[name] = value; };
  const show = (time) => {
    const seconds = (Date.now() - new Date(time.dateTime)) / 1000;
    const date = new Date(time.dateTime);
    set(time, "textContent",
      seconds < -45 ? date.toLocaleString(locale, { ...(seconds < -43200 && { day: "numeric", month: "short" }), hour: "2-digit", minute: "2-digit" }) // still to come
      : seconds < 45 ? gettext("just now")
      : seconds < 3600 ? interpolate(gettext("%(minutes)s min ago"), { minutes: Math.max(1, Math.round(seconds / 60)) }, true)
      : seconds < 86400 ? date.toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit" })
      : date.toLocaleDateString(locale, { day: "numeric", month: "short", year: "numeric" }));
    set(time, "title", date.toLocaleString(locale));
  };
  const all = (root) => root.querySelectorAll?.("time").forEach(show);
  all(document);
  new MutationObserver((records) => {
    for (const { target, addedNodes } of records) {
      const changed = (target.closest ? target : target.parentElement)?.closest("time");
      if (changed) show(changed); // a morph writes the server's words into a time that stays
      else for (const node of addedNodes) node.nodeName === "TIME" ? show(node) : all(node);
    }
  }).observe(document.body, { childList: true, characterData: true, attributeFilter: ["title", "datetime"], subtree: true });
  setInterval(() => all(document), 30000);
})();
