// Announcements: hidden by whoever has read them. Which those are is kept in a cookie, so that the
// server leaves them out of the next page.
(() => {
  const place = document.getElementById("announcements");
  if (!place) return;
  const MOST = 10, YEAR = 31536000;
  const hidden = () => (document.cookie.match(/(?:^|; )hidden_announcements=([^;]*)/)?.[1] ?? "").split("_").filter(Boolean);
  const clear = () => {
    const keys = hidden();
    for (const each of place.querySelectorAll("[data-announcement]")) if (keys.includes(each.dataset.announcement)) each.remove();
  };
  place.addEventListener("click", (event) => {
    if (!event.target.closest("[data-dismiss]")) return;
    const keys = [...hidden(), event.target.closest("[data-announcement]").dataset.announcement].slice(-MOST);
    document.cookie = `hidden_announcements=${keys.join("_")}; path=/; max-age=${YEAR}; samesite=lax${location.protocol === "https:" ? "; secure" : ""}`;
    clear();
  });
  // A page that comes back is told of all there are; of those that went meanwhile nobody tells it.
  let connected = false;
  document.addEventListener("htmx:after:ws:connection", () => {
    if (connected) place.replaceChildren();
    connected = true;
  });
  new MutationObserver(clear).observe(place, { childList: true });
  clear();
})();
