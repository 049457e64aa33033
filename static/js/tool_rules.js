// Tool rules in an agent's settings: rows are added and left out.
(() => {
  const rules = document.querySelector("[data-rules]");
  const rows = () => rules.querySelectorAll(".rule");
  const number = () => rows().forEach((row, i) => row.setAttribute("aria-label", interpolate(gettext("Tool rule %(number)s"), { number: i + 1 }, true)));
  const empty = (row) => {
    for (const field of row.querySelectorAll("select")) field.selectedIndex = 0;
    for (const field of row.querySelectorAll("input")) field.value = "";
    return row;
  };
  rules?.addEventListener("click", (event) => {
    const add = event.target.closest("[data-add-rule]");
    if (add) {
      const row = empty(rows()[0].cloneNode(true));
      add.before(row);
      row.querySelector("select").focus();
    }
    const remove = event.target.closest("[data-remove-rule]");
    if (remove) {
      if (rows().length > 1) remove.closest(".rule").remove();
      else empty(rows()[0]);
      rules.querySelector("[data-add-rule]").focus();
    }
    number();
  });
})();
