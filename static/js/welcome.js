// The first message: Enter sends, Shift+Enter breaks the line; the form is sent once.
(() => {
  const form = document.getElementById("first-message");
  const box = document.getElementById("first-text");
  if (!form || !box) return;
  let sent = false;
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit(form.querySelector(".send"));
  });
  form.addEventListener("submit", (event) => {
    if (sent) event.preventDefault();
    sent = true;
  });
  addEventListener("pageshow", () => { sent = false; });
})();
