// The composer: Enter sends, Shift+Enter breaks the line, Escape stops. What was typed stays until
// the server has stored it; the same key again is the same message.
(() => {
  const form = document.getElementById("composer");
  if (!form) return;
  const box = form.elements.text;
  const stop = document.getElementById("stop");
  const error = document.getElementById("composer-error");
  const draftName = `draft:${form.elements.conversation.value}`;
  const sentName = `sent:${form.elements.conversation.value}`; // its key, should the page be loaded anew
  let waiting = null; // {key, text, files} sent and not yet accepted
  const attached = document.getElementById("attached");
  const files = () => ["images", "files"].flatMap((name) => new FormData(form).getAll(name));

  const grow = () => { box.rows = Math.min(12, Math.max(1, box.value.split("\n").length)); };
  const isOffline = () => !document.getElementById("offline").hidden;
  const refuse = (text, name = "refusal") => {
    const notice = document.createElement("p");
    notice.className = name;
    notice.textContent = text;
    error.replaceChildren(notice);
  };
  const problem = (text) => {
    const longest = Number(box.dataset.longest);
    if (attached.querySelector(".loading")) return gettext("A file is still being uploaded or read; send the message when that is done.");
    if (!text.trim() && !files().length) return gettext("The message is empty; write something first.");
    if (text.length > longest) {
      return interpolate(gettext("The message has %(length)s characters; at most %(most)s are allowed. Shorten it or send it in parts."), { length: text.length.toLocaleString(document.documentElement.lang), most: longest.toLocaleString(document.documentElement.lang) }, true);
    }
    return "";
  };

  const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
  const transmit = () => form.dispatchEvent(new CustomEvent("send-by-socket"));
  const keep = () => refuse(gettext("You are offline. Your message is kept here, and is sent when you are back."), "kept");
  // The same text has the key it had before the page was loaded anew: it may have arrived.
  const keyOf = (text) => {
    const sent = JSON.parse(sessionStorage.getItem(sentName) ?? "{}");
    const key = sent.text === text ? sent.key : newKey();
    sessionStorage.setItem(sentName, JSON.stringify({ key, text }));
    return key;
  };
  const submit = () => {
    if (waiting) return;
    const wrong = problem(box.value);
    if (wrong) return refuse(wrong);
    error.replaceChildren();
    waiting = { key: keyOf(box.value), text: box.value, files: files() };
    form.elements.key.value = waiting.key;
    form.classList.add("sending");
    if (isOffline()) keep();
    else transmit();
  };
  const accepted = (key) => {
    if (waiting?.key !== key) return;
    if (box.value === waiting.text) {
      box.value = "";
      sessionStorage.removeItem(draftName);
    }
    document.dispatchEvent(new CustomEvent("memoryweb:sent", { detail: waiting.files }));
    settled();
    grow();
  };
  const settled = () => { waiting = null; sessionStorage.removeItem(sentName); form.classList.remove("sending"); };

  const wordsOf = async (answer) => {
    const refusal = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(".refusal");
    return refusal?.textContent ?? gettext("The server refused the message. Reload the page, then try again.");
  };

  // Without a socket the same message goes by plain POST.
  const post = async () => {
    const { key } = waiting;
    try {
      const answer = await fetch(form.action, { method: "POST", body: new FormData(form), headers: { "HX-Request": "true" } });
      if (answer.redirected) { refuse(gettext("You are no longer logged in. Your message is kept here: reload the page and log in.")); return settled(); }
      if (answer.ok) return accepted(key);
      if (answer.status < 500) { refuse(await wordsOf(answer)); return settled(); }
      throw new Error(answer.status);
    } catch {
      if (isOffline()) return keep();
      refuse(gettext("The server is not answering. Your message is kept here and is sent when it is back."));
    }
  };

  form.addEventListener("submit", (event) => { event.preventDefault(); submit(); });
  document.addEventListener("htmx:ws:error", () => waiting && !isOffline() && post());
  document.addEventListener("memoryweb:offline", () => waiting && keep());
  document.addEventListener("memoryweb:connected", () => {
    if (!waiting) return;
    error.replaceChildren();
    transmit();
  });
  document.addEventListener("memoryweb:accepted", (event) => accepted(event.detail));
  document.addEventListener("memoryweb:refused", (event) => waiting?.key === event.detail && settled());

  box.addEventListener("input", () => { if (!waiting) error.replaceChildren(); grow(); sessionStorage.setItem(draftName, box.value); });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); submit(); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !stop.hidden && !document.querySelector(".drawer-open")) stop.click();
  });

  stop.addEventListener("click", () => {
    stop.disabled = true;
    const body = new FormData(form);
    fetch(stop.dataset.stop, { method: "POST", body, headers: { "HX-Request": "true" } }).catch(() => {
      stop.disabled = false;
      refuse(gettext("The server is not answering, so the agent was not stopped."));
    });
  });
  // Stop is there while the status line says that the agent works.
  const status = document.getElementById("status");
  new MutationObserver(() => {
    const works = Boolean(status.querySelector(".working"));
    if (stop.hidden === works || !works) stop.disabled = false;
    stop.hidden = !works;
  }).observe(status, { childList: true });

  document.addEventListener("click", (event) => {
    const offer = event.target.closest("[data-try]");
    if (!offer) return;
    box.value = offer.dataset.try;
    submit();
  });
  document.querySelector("[data-forget]")?.addEventListener("submit", () => {
    for (const name of [draftName, sentName]) sessionStorage.removeItem(name);
  });
  box.value = box.value || sessionStorage.getItem(draftName) || "";
  grow();
  if (matchMedia("(min-width: 700px)").matches) box.focus();
})();
