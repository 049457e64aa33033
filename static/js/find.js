// Finding words in a page: those that the address asks for (`?find=`) are marked; in a chat a bar
// (Ctrl+F) goes through all that was said to the agent or by it, also what is not loaded. Marks are
// drawn over the text by the browser, so nothing that a socket draws is in their way.
(() => {
  const WORD = /[\p{L}\p{N}]+(?:\p{M}+[\p{L}\p{N}]*)*/gu;
  const UNSPACED = /[\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u2600-\u27bf\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff]/;
  const fold = (word) => word.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").normalize("NFKC").toLowerCase();
  const wordsOf = (text) => [...text.matchAll(WORD)].map(([word]) => fold(word));
  const canMark = "highlights" in CSS;

  const placesIn = (text, words) => {
    const places = [];
    for (const match of text.matchAll(WORD)) {
      const bare = fold(match[0]);
      if (UNSPACED.test(bare)) {
        for (const word of words) for (let at = match[0].indexOf(word); at >= 0; at = match[0].indexOf(word, at + 1)) places.push([match.index + at, word.length]);
      } else if (words.some((word) => bare.startsWith(word))) places.push([match.index, match[0].length]);
    }
    return places;
  };
  const rangesIn = (root, words) => {
    const ranges = [];
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node && words.length; node = texts.nextNode()) {
      for (const [start, length] of placesIn(node.data, words)) {
        const range = new Range();
        range.setStart(node, start);
        range.setEnd(node, start + length);
        ranges.push(range);
      }
    }
    return ranges;
  };
  const mark = (name, ranges) => {
    if (!canMark) return;
    if (ranges.length) CSS.highlights.set(name, new Highlight(...ranges));
    else CSS.highlights.delete(name);
  };

  const asked = new URLSearchParams(location.search).get("find") ?? "";
  const main = document.getElementById("main");
  const bar = document.getElementById("find");
  const archival = document.getElementById("panel-archival");

  // A passage that was looked for comes with its tab.
  if (asked && archival && !archival.hidden) {
    let shown = false;
    const show = () => {
      mark("found", rangesIn(archival.querySelector("#passages") ?? archival, wordsOf(asked)));
      const passage = location.hash.startsWith("#passage-") && document.getElementById(location.hash.slice(1));
      if (!passage || shown) return;
      shown = true;
      passage.scrollIntoView({ block: "center" });
      passage.focus({ preventScroll: true });
    };
    document.addEventListener("htmx:after:swap", show);
    show();
  } else if (asked && main && !bar) mark("found", rangesIn(main, wordsOf(asked)));
  if (!bar) return;

  // -- the bar -----------------------------------------------------------------------------------

  const query = document.getElementById("find-query");
  const count = document.getElementById("find-count");
  const log = document.getElementById("log");
  const scroller = document.getElementById("scroller");
  const WAIT = 150;
  const number = (count) => count.toLocaleString(document.documentElement.lang);
  let hits = [], at = -1, words = [], limited = false;
  let timer = null, asking = null, before = null;

  const elementOf = ({ message, step }) => document.getElementById(`message-${message}`) ?? document.getElementById(`step-${step}`);
  const remark = () => {
    if (bar.hidden) return;
    mark("found", rangesIn(log, words));
    const here = hits[at] && elementOf(hits[at]);
    mark("found-here", here ? rangesIn(here, words) : []);
  };
  const say = () => {
    const none = query.value.trim() ? gettext("Nothing found") : "";
    const words = limited ? gettext("%(at)s of more than %(all)s") : gettext("%(at)s of %(all)s");
    count.textContent = hits.length ? interpolate(words, { at: number(at + 1), all: number(hits.length) }, true) : none;
    for (const id of ["find-older", "find-newer"]) document.getElementById(id).disabled = !hits.length;
  };
  // Go to a hit; what is not in the page is loaded with what is around it.
  const go = (to, load) => {
    at = to;
    say();
    const hit = hits[at];
    const element = hit && elementOf(hit);
    remark();
    if (hit && !element && load) return location.assign(hit.address);
    if (!element) return;
    const [first] = rangesIn(element, words);
    for (let folded = (first?.startContainer.parentElement ?? element).closest("details:not([open])"); folded; folded = folded.parentElement.closest("details:not([open])")) folded.open = true;
    const { top } = (first ?? element).getBoundingClientRect();
    const frame = scroller.getBoundingClientRect();
    scroller.scrollTop += top - frame.top - frame.height / 3; // only this, and nothing around it
  };
  const turn = (by) => hits.length && go((at + by + hits.length) % hits.length, true);

  const search = async (start) => {
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    try {
      const answer = await fetch(`${bar.dataset.address}?${new URLSearchParams({ q: query.value })}`, { signal });
      if (answer.redirected) return location.reload();
      if (!answer.ok) throw new Error(answer.statusText);
      const found = await answer.json();
      hits = found.hits;
      words = found.looked_for;
      limited = found.is_limited;
      go(Math.min(hits.length - 1, Math.max(0, hits.findIndex(start))), false);
    } catch {
      if (!signal.aborted) count.textContent = gettext("The server is not answering");
    }
  };
  const inPage = (hit) => elementOf(hit);
  const open = () => {
    if (bar.hidden) before = document.activeElement;
    bar.hidden = false;
    query.focus();
    query.select();
    if (query.value) search(inPage);
    say();
  };
  const close = () => {
    bar.hidden = true;
    asking?.abort();
    mark("found", []);
    mark("found-here", []);
    (before?.isConnected && before !== document.body ? before : document.getElementById("message")).focus({ preventScroll: true });
  };

  query.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => search(inPage), WAIT); });
  bar.addEventListener("submit", (event) => event.preventDefault());
  bar.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); return close(); } // it stops no agent
    if (event.target !== query || event.isComposing) return;
    const by = { Enter: event.shiftKey ? -1 : 1, ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (by) { event.preventDefault(); turn(by); }
  });
  document.getElementById("find-older").addEventListener("click", () => turn(1));
  document.getElementById("find-newer").addEventListener("click", () => turn(-1));
  document.getElementById("find-close").addEventListener("click", close);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-open-find]");
    if (!button) return;
    button.closest("details")?.removeAttribute("open");
    open();
  });

  // In the bar itself the keys open the browser's own.
  document.addEventListener("keydown", (event) => {
    const keys = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "f";
    if (!keys || document.activeElement === query || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    open();
  });
  new MutationObserver(() => { clearTimeout(remark.timer); remark.timer = setTimeout(remark, WAIT); }).observe(log, { childList: true, subtree: true });

  if (asked && (!archival || archival.hidden)) {
    const [, name, number] = location.hash.match(/^#(step|message)-(\d+)$/) ?? [];
    query.value = asked;
    bar.hidden = false;
    const focus = () => query.focus({ preventScroll: true });
    focus();
    addEventListener("load", focus); // the place that the address names takes it on the way
    search((hit) => String(hit[name]) === number);
  }
})();
