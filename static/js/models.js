// The models to choose from: asked for when somebody comes to the field of a model for the first time.
(() => {
  document.addEventListener("focusin", (event) => {
    const field = event.target.closest?.("[data-models]");
    const list = field?.parentElement.querySelector(".model-list");
    if (!list || list.dataset.asked) return;
    list.dataset.asked = "1";
    htmx.ajax("GET", field.dataset.models, { target: list, swap: "innerHTML" });
  });
})();
