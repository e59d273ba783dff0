"use strict";
(() => {
  const PAGE = 20;
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  document.documentElement.classList.add("js");

  // Without this script everything is shown; with it, what matches, and some at a time.
  for (const kind of ["domain", "group"]) {
    const input = document.querySelector(`[data-filter="${kind}"]`);
    if (!input) continue;
    const entries = all(`.${kind}`).map((element) => ({
      element,
      text: (element.dataset.name ?? element.textContent).toLowerCase(),
    }));
    const none = document.querySelector(`[data-none="${kind}"]`);
    const more = document.querySelector(`[data-more="${kind}"]`);
    let limit = more ? PAGE : Infinity;
    const show = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let matching = 0;
      for (const { element, text } of entries) {
        const matches = words.every((word) => text.includes(word));
        element.hidden = !matches || matching >= limit;
        matching += matches;
      }
      none.hidden = matching > 0;
      if (more) {
        const rest = matching - limit;
        more.parentElement.hidden = rest <= 0;
        more.textContent = `Show ${Math.min(PAGE, rest)} more of ${rest.toLocaleString("en")}`;
      }
    };
    input.addEventListener("input", () => {
      limit = more ? PAGE : Infinity;
      show();
    });
    if (more) {
      more.addEventListener("click", () => {
        limit += PAGE;
        show();
      });
    }
    show();
  }

  for (const table of all("table.sortable")) {
    const body = table.tBodies[0];
    const headings = all("th[data-key]", table);
    for (const heading of headings) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.textContent = heading.textContent;
      heading.replaceChildren(button);
      button.addEventListener("click", () => {
        const { key } = heading.dataset;
        const isText = key === "name";
        // The first click on a figure shows the largest, on a name the first.
        const before = heading.getAttribute("aria-sort");
        const ascending = before ? before === "descending" : isText;
        for (const other of headings) other.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
        const rows = all("tr", body).sort((a, b) => {
          const [one, two] = [a.dataset[key], b.dataset[key]];
          const order = isText ? one.localeCompare(two) : one - two;
          return ascending ? order : -order;
        });
        body.append(...rows);
      });
    }
  }

  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target instanceof HTMLDetailsElement) target.open = true;
  };
  window.addEventListener("hashchange", open);
  open();

  // On paper nothing can be opened.
  window.addEventListener("beforeprint", () => {
    for (const details of all("details")) details.open = true;
  });
})();
