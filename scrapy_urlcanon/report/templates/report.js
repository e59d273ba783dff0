"use strict";
(() => {
  const SHOWN = { domain: 10, group: 20 };
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  document.documentElement.classList.add("js");

  const hash = () => {
    try {
      return decodeURIComponent(location.hash.slice(1));
    } catch {
      return "";
    }
  };
  const target = () => document.getElementById(hash());
  // A link to the pages of a domain shows those alone.
  const OF_DOMAIN = "pages-of-";
  const domain = () => hash().startsWith(OF_DOMAIN) && hash().slice(OF_DOMAIN.length);

  for (const rest of all("details.rest")) {
    rest.previousElementSibling.tBodies[0].append(...all("tbody tr", rest));
    rest.remove();
  }

  // Without this script everything is shown; with it, what matches, and some at a time.
  for (const [kind, some] of Object.entries(SHOWN)) {
    const input = document.querySelector(`[data-filter="${kind}"]`);
    if (!input) continue;
    const texts = new Map(
      all(`.${kind}`).map((element) => [
        element,
        (element.dataset.name ?? element.textContent).toLowerCase(),
      ]),
    );
    const none = document.querySelector(`[data-none="${kind}"]`);
    const more = document.querySelector(`[data-more="${kind}"]`);
    let limit = some;
    const show = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const only = kind === "group" && domain();
      let matching = 0;
      // In the order of the page, which may have been sorted since.
      for (const element of all(`.${kind}`)) {
        const matches =
          words.every((word) => texts.get(element).includes(word)) &&
          (!only || element.dataset.domain === only);
        element.hidden = !matches || matching >= limit;
        matching += matches;
      }
      none.hidden = matching > 0;
      const rest = matching - limit;
      more.parentElement.hidden = rest <= 0;
      more.parentElement.dataset.rest = rest.toLocaleString("en");
      more.textContent = `Show ${Math.min(some, rest)} more of ${rest.toLocaleString("en")}`;
    };
    input.addEventListener("input", () => {
      limit = some;
      show();
    });
    more.addEventListener("click", () => {
      const first = all(`.${kind}:not([hidden])`).length;
      limit += some;
      show();
      // Who reads by ear, or by the keyboard, goes on there: the button has moved, or is gone.
      const next = all(`.${kind}:not([hidden])`)[first];
      next.tabIndex = -1;
      next.focus({ preventScroll: true });
    });
    document.addEventListener("sorted", show);
    window.addEventListener("hashchange", () => {
      limit = some;
      show();
    });
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
        document.dispatchEvent(new Event("sorted"));
      });
    }
  }

  const only = document.querySelector("[data-only]");
  const follow = () => {
    if (target() instanceof HTMLDetailsElement) {
      target().open = true;
      // The page has grown: what stood at its end could not be gone to.
      target().scrollIntoView();
    }
    if (!only) return;
    only.hidden = !domain();
    if (!domain()) return;
    only.querySelector("bdi").textContent = domain();
    document.querySelector("#pages").scrollIntoView({ behavior: "instant" });
    only.querySelector("a").focus({ preventScroll: true });
  };
  // What was hidden above has moved it since the browser went there.
  target()?.scrollIntoView({ behavior: "instant" });
  window.addEventListener("hashchange", follow);
  follow();

  // On paper nothing can be opened.
  window.addEventListener("beforeprint", () => {
    for (const details of all("details")) details.open = true;
  });
})();
