// The transcript stays at its newest line while the person is there, and leaves them be elsewhere.
(() => {
  const scroller = document.getElementById("scroller");
  if (!scroller) return;
  const newest = document.getElementById("to-newest");
  const NEAR = 80;
  let following = true;
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
