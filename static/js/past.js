// Time travel: the slider leads through the steps, Escape leads back to the present. The page knows
// no socket, so nothing that happens meanwhile touches what it shows.
(() => {
  const travel = document.getElementById("travel");
  if (!travel) return;
  const range = travel.elements.at;
  const scroller = document.getElementById("past-scroller");
  const present = travel.dataset.present;
  const label = document.getElementById("travel-at");
  const steps = () => Number(document.getElementById("past-line").dataset.steps);
  const shownAt = () => Number(document.getElementById("past-line").dataset.number);
  const address = (number) => `${travel.action}${number}/`;
  let requested = null, loading = false;

  const tell = (number) => {
    const words = number > steps() ? gettext("Now") : interpolate(gettext("Step %(number)s of %(all)s"), { number: number.toLocaleString(document.documentElement.lang), all: steps().toLocaleString(document.documentElement.lang) }, true);
    label.textContent = words;
    range.setAttribute("aria-valuetext", words);
  };
  const toStep = () => {
    const marked = scroller.querySelector(".step.at");
    if (marked) marked.scrollIntoView({ block: "center" });
    else scroller.scrollTop = scroller.scrollHeight;
  };
  // One request at a time; of what was asked for meanwhile only the last.
  const load = async () => {
    if (loading) return;
    loading = true;
    while (requested !== null) {
      const number = requested;
      requested = null;
      const response = await fetch(address(number), { headers: { "HX-Request": "true" } }).catch(() => null);
      if (requested !== null) continue;
      if (!response?.ok || response.redirected) { location.assign(address(number)); break; }
      const text = await response.text();
      const open = [...document.querySelectorAll("details.part[open]")].map((part) => part.id);
      await htmx.swap({ sourceElement: travel, target: document.getElementById("past-line"), text, swap: "none" });
      for (const id of open) document.getElementById(id)?.setAttribute("open", ""); // and is fetched anew
      history.replaceState(null, "", address(number));
      range.max = steps() + 1;
      range.value = number;
      tell(number);
      toStep();
    }
    loading = false;
    if (playing) next = setTimeout(playOn, PAUSE);
  };
  const go = (number) => {
    if (number < 1) return;
    if (number > steps()) return location.assign(present);
    range.value = number;
    tell(number);
    requested = number;
    load();
  };

  // Play: a step after the other, up to the newest. Whoever moves by hand stops it.
  const PAUSE = 1200;
  const play = document.getElementById("travel-play");
  let playing = false, next = null;
  const setPlaying = (on) => {
    playing = on;
    clearTimeout(next);
    play.setAttribute("aria-pressed", String(on));
    play.textContent = on ? gettext("Pause") : gettext("Play");
    if (on) next = setTimeout(playOn, PAUSE);
  };
  const playOn = () => {
    if (Number(range.value) >= steps()) setPlaying(false);
    else go(Number(range.value) + 1);
  };
  play.addEventListener("click", () => {
    if (!playing && Number(range.value) >= steps()) go(1);
    setPlaying(!playing);
  });
  travel.addEventListener("pointerdown", (event) => playing && event.target !== play && setPlaying(false));
  travel.addEventListener("keydown", (event) => playing && event.target !== play && setPlaying(false));

  range.addEventListener("input", () => {
    const number = Number(range.value);
    tell(number);
    if (number <= steps()) go(number);
  });
  range.addEventListener("change", () => Number(range.value) > steps() && go(Number(range.value)));
  travel.addEventListener("submit", (event) => { event.preventDefault(); go(Number(range.value)); });
  travel.addEventListener("click", (event) => {
    const by = event.target.closest("[data-by]");
    if (by) go((requested ?? Number(range.value)) + Number(by.dataset.by));
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented || document.documentElement.classList.contains("drawer-open")) return;
    const form = event.target.closest?.("details.fork[open]");
    if (form) {
      form.open = false;
      form.querySelector("summary").focus();
    } else {
      location.assign(present);
    }
  }, true);
  range.value = shownAt(); // a reload keeps what the slider stood at, whatever the address says
  tell(shownAt());
  toStep();
  if (new URLSearchParams(location.search).has("play")) setPlaying(true);
})();
