// Times, relative to now; the exact one is in the title.
(() => {
  const show = (time) => {
    const seconds = (Date.now() - new Date(time.dateTime)) / 1000;
    const date = new Date(time.dateTime);
    time.textContent =
      seconds < 45 ? "just now"
      : seconds < 3600 ? `${Math.max(1, Math.round(seconds / 60))} min ago`
      : seconds < 86400 ? date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
      : date.toLocaleDateString([], { day: "numeric", month: "short", year: "numeric" });
    time.title = date.toLocaleString();
  };
  const all = (root) => root.querySelectorAll?.("time").forEach(show);
  all(document);
  new MutationObserver((records) => {
    for (const { addedNodes } of records) for (const node of addedNodes) {
      if (node.nodeName === "TIME") show(node);
      else all(node);
    }
  }).observe(document.body, { childList: true, subtree: true });
  setInterval(() => all(document), 30000);
})();
