// Voice, where the browser has it: a message is dictated, an answer is read aloud. Both are the
// browser's own; it may send what is said to a service of its maker, which the page says.
(() => {
  const root = document.documentElement;
  const plain = (element) => {
    const copy = element.cloneNode(true);
    for (const silent of copy.querySelectorAll("pre, math, button, .visually-hidden, [aria-hidden=true]")) silent.remove();
    return copy.textContent.replace(/\s+/g, " ").trim();
  };

  // -- read aloud -------------------------------------------------------------------------------
  // In sentences, as some browsers break off a long text in the middle.
  const LONGEST = 200; // characters that are spoken at once
  const voices = window.speechSynthesis;
  let speaking = null;
  const pieces = (text) => {
    const sentences = text.match(/[^.!?。！？]+[.!?。！？]*\s*/g) ?? [];
    return sentences.flatMap((sentence) => sentence.match(new RegExp(`.{1,${LONGEST}}(\\s|$)|.{1,${LONGEST}}`, "gsu")) ?? []);
  };
  const hush = () => {
    speaking?.setAttribute("aria-pressed", "false");
    speaking = null;
    voices.cancel();
  };
  const speak = (button) => {
    const said = pieces([...button.closest("article").querySelectorAll(":scope > .text")].map(plain).join(" "));
    if (!said.length) return;
    speaking = button;
    button.setAttribute("aria-pressed", "true");
    said.forEach((words, place) => {
      const utterance = new SpeechSynthesisUtterance(words);
      utterance.onend = () => { if (speaking === button && place === said.length - 1) hush(); };
      utterance.onerror = () => { if (speaking === button) hush(); };
      voices.speak(utterance);
    });
  };
  if (voices && "SpeechSynthesisUtterance" in window) {
    root.classList.add("can-speak");
    voices.cancel(); // what another page began
    document.addEventListener("click", (event) => {
      const button = event.target.closest("[data-speak]");
      if (!button) return;
      const again = button === speaking;
      hush();
      if (!again) speak(button);
    });
    addEventListener("pagehide", hush);
  }

  // -- dictate ----------------------------------------------------------------------------------
  const Recognition = window.SpeechRecognition ?? window.webkitSpeechRecognition;
  const form = document.getElementById("composer");
  const button = document.getElementById("dictate");
  const allowed = document.permissionsPolicy?.allowsFeature?.("microphone") ?? document.featurePolicy?.allowsFeature?.("microphone") ?? true;
  if (!Recognition || !form || !button || !allowed) return;
  const box = form.elements.text;
  const note = document.getElementById("dictating");
  const REFUSALS = {
    "not-allowed": gettext("The browser may not use the microphone. Allow it beside the address of this page, then try again."),
    "service-not-allowed": gettext("This browser does not offer dictation here. Type your message instead."),
    "audio-capture": gettext("No microphone was found. Connect one, then try again."),
    network: gettext("The browser’s speech service cannot be reached. Try again later, or type your message."),
    "language-not-supported": gettext("The browser’s speech service does not know your language. Type your message instead."),
  };
  let listening = null, before = "", after = "";
  const refuse = (words) => {
    const notice = document.createElement("p");
    notice.className = "refusal";
    notice.textContent = words;
    document.getElementById("composer-error").replaceChildren(notice);
  };
  const show = () => {
    button.setAttribute("aria-pressed", String(Boolean(listening)));
    note.hidden = !listening;
  };
  const stop = () => {
    const ended = listening;
    listening = null;
    ended?.abort();
    show();
  };
  const heard = (event) => {
    if (event.target !== listening) return;
    const words = [...event.results].map((result) => result[0].transcript).join("").trim();
    const space = before && !/\s$/.test(before) ? " " : "";
    box.value = `${before}${space}${words}${after}`.slice(0, Number(box.dataset.longest));
    box.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const start = () => {
    listening = new Recognition();
    listening.continuous = listening.interimResults = true;
    listening.lang = navigator.language;
    [before, after] = [box.value.slice(0, box.selectionStart), box.value.slice(box.selectionEnd)];
    listening.addEventListener("result", heard);
    listening.addEventListener("error", ({ target, error }) => {
      if (target !== listening) return;
      stop();
      if (REFUSALS[error]) refuse(REFUSALS[error]);
    });
    listening.addEventListener("end", ({ target }) => target === listening && stop());
    try { listening.start(); } catch { stop(); }
    show();
    box.focus();
  };
  button.hidden = false;
  button.addEventListener("click", () => (listening ? stop() : start()));
  form.addEventListener("submit", stop, { capture: true });
  box.addEventListener("keydown", (event) => listening && event.key !== "Tab" && !event.isComposing && stop(), { capture: true });
  addEventListener("pagehide", stop);
})();
