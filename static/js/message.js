// What one may do with a message: copying it, and leaving the form in which it is edited.
(() => {
  const copy = async (button) => {
    const answer = await fetch(button.dataset.copy);
    if (!answer.ok || answer.redirected) throw new Error(answer.status);
    await navigator.clipboard.writeText(await answer.text());
    button.classList.add("copied");
    button.title = gettext("Copied");
    setTimeout(() => { button.classList.remove("copied"); button.title = gettext("Copy"); }, 2000);
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) copy(button).catch(() => { button.title = gettext("It could not be copied. Select the text and copy it yourself."); });
    event.target.closest("[data-close-ask]")?.closest(".message-ask").replaceChildren();
  });
})();
