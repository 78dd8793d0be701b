"use strict";
// Shows the claims, figures and tables that a reader asks for. Tables with a column of verdicts are searched row by row.
(() => {
  const form = document.querySelector(".search");
  const studies = [...document.querySelectorAll(".study")].map((section) => ({
    section,
    things: [...section.querySelectorAll(".claim, .figure, section.table")].map((thing) => {
      const rows = thing.querySelector("td .badge") ? [...thing.querySelectorAll("tbody tr")] : [];
      return { thing, parts: (rows.length ? rows : [thing]).map(described) };
    }),
  }));

  const repeated = [...document.querySelectorAll(".again")].map((one) => [one, one.textContent]);

  function described(part) {
    const data = part.querySelector(".figure-data");
    const again = [...part.querySelectorAll(".again")].map((one) => one.title);
    const text = [part.textContent.replace(data ? data.textContent : "", ""), ...again].join(" ").toLowerCase();
    const badges = [...part.querySelectorAll(".badge")].map((badge) => badge.classList[1]);
    return { part, text, badges };
  }

  function search() {
    const asked = Object.fromEntries(new FormData(form));
    const words = asked.text.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = ({ text, badges }) =>
      words.every((word) => text.includes(word)) && (!asked.verdict || badges.includes(asked.verdict));
    let found = 0;
    for (const { section, things } of studies) {
      const here = !asked.paper || section.id === asked.paper;
      let any = 0;
      for (const { thing, parts } of things) {
        const kind = here && (!asked.kind || thing.classList.contains(asked.kind));
        const shown = parts.filter((one) => (one.part.hidden = !(kind && wanted(one))) === false).length;
        thing.hidden = !shown;
        any += shown;
      }
      for (const group of section.querySelectorAll(":scope > div:has(> h3)")) {
        group.hidden = ![...group.querySelectorAll(".claim, .figure, section.table")].some((thing) => !thing.hidden);
      }
      section.hidden = !any;
      found += any;
    }
    const asking = Object.values(asked).some(Boolean); // then the row above may be hidden
    for (const [one, short] of repeated) one.textContent = asking ? one.title : short;
    form.querySelector("output").textContent = `${found} found`;
  }

  form.hidden = false;
  form.addEventListener("input", search);
  form.addEventListener("submit", (event) => event.preventDefault());
  search();
})();
