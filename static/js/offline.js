// No way to the server: said at once, and nothing that needs it seems to work and does nothing. The
// browser's word alone does not count: without a network, a server on this machine can be reached.
(() => {
  const LONGEST_LOOK = 2000;
  const SHOWN = 8000;
  const offline = document.getElementById("offline");
  const unreachable = document.getElementById("unreachable");
  if (!offline || !unreachable) return;
  let shown = null;

  const say = (away) => {
    if (offline.hidden !== away) return;
    offline.hidden = !away;
    document.dispatchEvent(new CustomEvent(away ? "memoryweb:offline" : "memoryweb:online"));
  };
  const look = async () => {
    const answered = await fetch("/healthz", { cache: "no-store", signal: AbortSignal.timeout(LONGEST_LOOK) }).then(() => true, () => false);
    say(!answered && !navigator.onLine);
  };
  const refuse = () => {
    unreachable.hidden = false;
    clearTimeout(shown);
    shown = setTimeout(() => { unreachable.hidden = true; }, SHOWN);
  };

  addEventListener("offline", look);
  addEventListener("online", () => { say(false); unreachable.hidden = true; });
  if (!navigator.onLine) look();

  // A request that never arrived, or was not answered in time; one that another replaced is no such.
  document.addEventListener("htmx:error", ({ detail }) => {
    if (detail.ctx && ["TypeError", "TimeoutError"].includes(detail.error?.name)) refuse();
  });
  // A form of a page of its own would lead to the browser's page, and what was typed be lost.
  document.addEventListener("submit", (event) => {
    if (offline.hidden || event.target.id === "composer" || event.target.method === "dialog") return;
    event.preventDefault();
    event.stopPropagation();
    refuse();
  }, true);
})();
