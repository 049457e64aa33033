// What a screen reader hears of a chat besides the status: a message once it is complete, with who
// speaks, and what changed in memory. The log itself is silent, as it is drawn in pieces.
(() => {
  const region = document.getElementById("heard");
  const log = document.getElementById("log");
  if (!region || !log) return;
  const LONGEST = 1000, MOST = 5; // characters of a message, lines kept
  const short = (words) => {
    const line = words.replace(/\s+/g, " ").trim();
    return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
  };
  const say = (words) => {
    const line = document.createElement("p");
    line.textContent = short(words);
    region.append(line);
    while (region.childElementCount > MOST) region.firstElementChild.remove();
  };
  const key = (message) => Number(message.id.replace("message-", ""));
  const messages = () => [...log.querySelectorAll("article.message:not(.draft)")];
  let last = Math.max(0, ...messages().map(key));

  // Looked at once an event is drawn; what a person wrote on this page they know.
  document.addEventListener("memoryweb:event", () => setTimeout(() => {
    for (const message of messages().filter((each) => key(each) > last)) {
      last = key(message);
      const who = message.querySelector(".who");
      if (!who.querySelector("[data-you]")) say(`${who.textContent.trim()}: ${message.querySelector(".text")?.textContent ?? ""}`);
    }
  }));
  document.addEventListener("memoryweb:memory-changed", ({ detail: block }) => {
    const marked = (name) => short([...block.querySelectorAll(`.value ${name}`)].map((each) => each.textContent).join(", "));
    const added = marked("ins"), removed = marked("del");
    const words = added && removed ? gettext("Memory changed: %(block)s, added %(added)s; removed %(removed)s")
      : added ? gettext("Memory changed: %(block)s, added %(added)s")
      : removed ? gettext("Memory changed: %(block)s, removed %(removed)s")
      : gettext("Memory changed: %(block)s");
    say(interpolate(words, { block: block.getAttribute("aria-label"), added, removed }, true));
  });
})();
