// The transcript stays at its newest line while the person is there, and leaves them be elsewhere.
(() => {
  const scroller = document.getElementById("scroller");
  if (!scroller) return;
  const newest = document.getElementById("to-newest");
  const NEAR = 80;
  const asked = new URLSearchParams(location.search).get("step");
  if (asked && !location.hash && document.getElementById(`step-${asked}`)) location.replace(`#step-${asked}`);
  let following = !location.hash; // a step that was asked for stays in view
  const toEnd = () => { scroller.scrollTop = scroller.scrollHeight; };

  scroller.addEventListener("scroll", () => {
    following = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR;
    newest.hidden = following;
  }, { passive: true });
  newest.addEventListener("click", () => { following = true; toEnd(); });
  new MutationObserver(() => following && toEnd()).observe(scroller, { childList: true, subtree: true, characterData: true });
  new ResizeObserver(() => following && toEnd()).observe(scroller);
  document.addEventListener("memoryweb:accepted", () => { following = true; toEnd(); });
  if (!location.hash) toEnd();
})();
