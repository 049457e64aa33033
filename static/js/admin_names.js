// Names for what Django's admin leaves without one, so that a screen reader can say them.
(() => {
  const say = document.currentScript.dataset;  // in the language of the page
  const name = (field, words) => words && field.setAttribute("aria-label", words.replace(/\s+/g, " ").trim().replace(/:$/, ""));
  const labelled = (field) => field.labels?.length || field.hasAttribute("aria-label") || field.hasAttribute("aria-labelledby");
  // in a table it is the head of its column, of a moment its label and which half it is
  const wordsFor = (field) => {
    const column = [...(field.closest("td")?.classList ?? [])].find((each) => each.startsWith("field-"));
    if (column) return field.closest("table").querySelector(`.${column.replace("field-", "column-")}`)?.textContent;
    const moment = field.closest(".datetime") && field.closest(".form-row")?.querySelector("label, legend");
    return moment && `${moment.textContent.trim().replace(/:$/, "")}, ${field.matches(".vDateField") ? say.date : say.time}`;
  };
  const nameAll = () => {
    const search = document.getElementById("searchbar");
    if (search) name(search, say.search);
    for (const field of document.querySelectorAll("td :is(input:not([type=hidden]), select, textarea), .datetime input")) {
      if (!labelled(field)) name(field, wordsFor(field));
    }
    for (const icon of document.querySelectorAll("span[aria-label]:not([role])")) icon.setAttribute("role", "img");
    for (const box of document.querySelectorAll(".select2-selection")) {
      const words = box.closest(".select2").previousElementSibling?.labels?.[0]?.textContent;
      for (const each of [box, ...box.querySelectorAll("[role=textbox]")]) name(each, words);
    }
  };
  // The admin's own scripts draw fields whenever they are ready, and more when a row is added.
  new MutationObserver(nameAll).observe(document.body, { childList: true, subtree: true });
  nameAll();
})();
