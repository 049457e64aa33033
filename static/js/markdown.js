// What a model wrote: code is copied by its button, and what is wider than the page takes the keyboard.
(() => {
  const SAID_FOR = 2000;
  const WIDE = ".markdown .wide, .markdown .code > pre";

  const write = async (text) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const field = document.createElement("textarea"); // where the page did not come by HTTPS
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    if (!done) throw new Error("not copied");
  };

  document.addEventListener("click", async ({ target }) => {
    const button = target.closest?.(".copy-code");
    if (!button) return;
    const code = button.closest(".code").querySelector("pre").textContent;
    const said = await write(code.replace(/\n$/, "")).then(() => gettext("Copied"), () => gettext("Not copied"));
    button.textContent = said;
    button.focus();
    setTimeout(() => { button.textContent = gettext("Copy"); }, SAID_FOR);
  });

  const name = (element) => {
    if (!element.matches("pre")) return gettext("Table");
    const language = element.parentElement.querySelector(".code-head > span")?.textContent;
    return language ? interpolate(gettext("Code, %(language)s"), { language }, true) : gettext("Code");
  };
  const look = (element) => {
    const wide = element.scrollWidth > element.clientWidth;
    if (wide === element.hasAttribute("role")) return;
    if (!wide) return ["tabindex", "role", "aria-label"].forEach((each) => element.removeAttribute(each));
    element.tabIndex = 0;
    element.setAttribute("role", "region");
    element.setAttribute("aria-label", name(element));
  };
  const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => look(target)));
  const watch = (root) => {
    if (root.matches?.(WIDE)) sizes.observe(root);
    root.querySelectorAll?.(WIDE).forEach((each) => sizes.observe(each));
  };
  new MutationObserver((changes) => {
    for (const { type, target, addedNodes } of changes) {
      if (type === "childList") addedNodes.forEach(watch);
      else if (target.matches(WIDE)) look(target); // a new form of the message took the role away
    }
  }).observe(document.body, { childList: true, subtree: true, attributeFilter: ["role"] });
  watch(document);
})();
