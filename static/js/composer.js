// The composer: Enter sends, Shift+Enter breaks the line, Escape stops. What was typed stays until
// the server has stored it; the same key again is the same message.
(() => {
  const form = document.getElementById("composer");
  if (!form) return;
  const box = form.elements.text;
  const stop = document.getElementById("stop");
  const error = document.getElementById("composer-error");
  const draftName = `draft:${form.elements.conversation.value}`;
  let waiting = null; // {key, text, images} sent and not yet accepted
  const attached = document.getElementById("attached");
  const images = () => new FormData(form).getAll("images");

  const grow = () => { box.rows = Math.min(12, Math.max(1, box.value.split("\n").length)); };
  const refuse = (text) => {
    const notice = document.createElement("p");
    notice.className = "refusal";
    notice.textContent = text;
    error.replaceChildren(notice);
  };
  const problem = (text) => {
    const longest = Number(box.dataset.longest);
    if (attached.querySelector(".loading")) return "An image is still being uploaded; send the message when it is there.";
    if (!text.trim() && !images().length) return "The message is empty; write something first.";
    if (text.length > longest) {
      return `The message has ${text.length.toLocaleString("en")} characters; at most ${longest.toLocaleString("en")} are allowed. Shorten it or send it in parts.`;
    }
    return "";
  };

  const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
  const transmit = () => form.dispatchEvent(new CustomEvent("send-by-socket"));
  const submit = () => {
    if (waiting) return;
    const wrong = problem(box.value);
    if (wrong) return refuse(wrong);
    error.replaceChildren();
    waiting = { key: newKey(), text: box.value, images: images() };
    form.elements.key.value = waiting.key;
    form.classList.add("sending");
    transmit();
  };
  const accepted = (key) => {
    if (waiting?.key !== key) return;
    if (box.value === waiting.text) box.value = "";
    sessionStorage.removeItem(draftName);
    document.dispatchEvent(new CustomEvent("memoryweb:sent", { detail: waiting.images }));
    settled();
    grow();
  };
  const settled = () => { waiting = null; form.classList.remove("sending"); };

  const wordsOf = async (answer) => {
    const refusal = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(".refusal");
    return refusal?.textContent ?? "The server refused the message; shorten it and try again.";
  };

  // Without a socket the same message goes by plain POST.
  const post = async () => {
    const { key } = waiting;
    try {
      const answer = await fetch(form.action, { method: "POST", body: new FormData(form), headers: { "HX-Request": "true" } });
      if (answer.redirected) { refuse("You are no longer logged in. Your message is kept here: reload the page and log in."); return settled(); }
      if (answer.ok) return accepted(key);
      if (answer.status === 422 || answer.status === 429) { refuse(await wordsOf(answer)); return settled(); }
      throw new Error(answer.status);
    } catch {
      refuse("The server is not answering. Your message is kept here and is sent when it is back.");
    }
  };

  form.addEventListener("submit", (event) => { event.preventDefault(); submit(); });
  document.addEventListener("htmx:ws:error", () => waiting && post());
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
      refuse("The server is not answering, so the agent was not stopped.");
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
  box.value = box.value || sessionStorage.getItem(draftName) || "";
  grow();
  if (matchMedia("(min-width: 700px)").matches) box.focus();
})();
