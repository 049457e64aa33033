// A block in the panel and on its own page: what was deleted is shown when it is asked for, all of a
// long value comes when it is asked for, and its value is copied. Many blocks are filtered.
(() => {
  const wholes = new WeakMap(); // block → the part of its value that stood there
  const mark = (block) => {
    block.querySelector("[data-show-change]")?.setAttribute("aria-pressed", String("changes" in block.dataset));
  };
  const valueOf = (block) => block.querySelector(".value");

  const showAll = async (block) => {
    const version = valueOf(block).dataset.version;
    const response = await fetch(`${block.dataset.at}whole/`).catch(() => null);
    if (!response?.ok || response.redirected) return refuse(block, gettext("The rest of this block could not be loaded. Try again."));
    const html = await response.text();
    const value = valueOf(block);
    if (value.dataset.version !== version) return; // it is drawn anew, and asks again
    if (block.querySelector("[data-show-all][aria-expanded=true]")) return; // asked for twice
    wholes.set(block, value.innerHTML);
    block.dataset.whole = "";
    label(block, true); // first: it tells what was drawn here from what the server draws anew
    await htmx.swap({ sourceElement: block, target: value, text: html, swap: "innerHTML" });
  };
  const label = (block, whole) => {
    const button = block.querySelector("[data-show-all]");
    if (!button) return;
    button.textContent = whole ? gettext("Show less") : gettext("Show all");
    button.setAttribute("aria-expanded", String(whole));
  };
  const showPart = (block) => {
    delete block.dataset.whole;
    valueOf(block).innerHTML = wholes.get(block);
    label(block, false);
  };
  const refuse = (block, words) => {
    const line = document.createElement("p");
    line.className = "refusal";
    line.textContent = words;
    block.querySelector(".block-notice").replaceChildren(line);
  };

  // The clipboard takes a promise of the text, so that the click still counts when the text comes.
  const copy = async (block, button) => {
    const text = fetch(`${block.dataset.at}whole/?plain`).then((response) => {
      if (!response.ok || response.redirected) throw new Error(response.statusText);
      return response.text();
    });
    try {
      if (!navigator.clipboard) throw new Error("no clipboard");
      const blob = text.then((value) => new Blob([value], { type: "text/plain" }));
      await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
      button.textContent = gettext("Copied");
      setTimeout(() => { button.textContent = gettext("Copy"); }, 2000);
    } catch {
      text.catch(() => null);
      refuse(block, gettext("The value could not be copied: the browser allows that only on secure pages, and with your leave."));
    }
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest(".block button");
    const block = button?.closest(".block");
    if (!block) return;
    if (button.matches("[data-show-change]")) {
      if ("changes" in block.dataset) delete block.dataset.changes;
      else block.dataset.changes = "";
      mark(block);
    } else if (button.matches("[data-show-all]")) {
      if ("whole" in block.dataset) showPart(block);
      else showAll(block);
    } else if (button.matches("[data-copy-value]")) {
      copy(block, button);
    } else if (button.matches("[data-undo]")) {
      const path = new URL(`../../edits/${button.dataset.undo}/undo/`, new URL(block.dataset.at, location)).pathname;
      htmx.ajax("POST", path, { source: button, target: block.querySelector(".block-notice") });
    } else if (button.matches("[data-open]")) {
      const target = block.querySelector(".block-editor");
      htmx.ajax("GET", block.dataset.at + button.dataset.open, { source: button, target });
    }
  });
  document.addEventListener("memoryweb:block-drawn", ({ target }) => {
    mark(target);
    if ("whole" in target.dataset && target.querySelector("[data-show-all][aria-expanded=false]")) showAll(target);
  });

  // -- many blocks -----------------------------------------------------------------------------

  const filter = () => {
    const box = document.getElementById("block-filter");
    if (!box) return;
    const words = box.value.trim().toLowerCase();
    let found = 0;
    for (const block of document.querySelectorAll("#blocks > .block")) {
      const said = `${block.getAttribute("aria-label")} ${block.querySelector(".description")?.textContent ?? ""}`;
      block.hidden = !said.toLowerCase().includes(words);
      found += !block.hidden;
    }
    for (const link of document.querySelectorAll("#block-index a")) {
      link.parentElement.hidden = Boolean(document.querySelector(`${link.hash}[hidden]`));
    }
    document.getElementById("block-filter-none").hidden = found > 0;
  };
  document.addEventListener("input", (event) => event.target.id === "block-filter" && filter());
  document.addEventListener("htmx:after:swap", filter);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("#block-index a");
    const block = link && document.querySelector(link.hash);
    if (!block) return;
    event.preventDefault();
    block.scrollIntoView({ block: "start" });
    block.focus({ preventScroll: true });
  });
})();
