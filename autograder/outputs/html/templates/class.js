"use strict";
(() => {
  const table = document.getElementById("table");
  const body = table.tBodies[0];
  const find = document.getElementById("find");
  const kind = document.getElementById("kind");
  const clear = document.getElementById("clear");
  const counted = document.getElementById("counted");
  const picked = document.getElementById("picked");
  const headings = [...table.tHead.rows[0].cells];
  const plain = (text) => text.normalize("NFKC").toLocaleLowerCase();
  const collator = new Intl.Collator(document.documentElement.lang, { numeric: true, sensitivity: "base" });

  // Read once: reading cells again for every key pressed would be slow with thousands of rows.
  const learners = [...body.rows].map((row) => ({
    row,
    text: plain(`${row.cells[0].textContent} ${row.cells[row.cells.length - 1].textContent}`),
    values: [...row.cells].map((cell) => cell.textContent.trim()),
  }));
  let chosen = null;

  const show = () => {
    const words = plain(find.value).split(/\s+/).filter(Boolean);
    let shown = 0;
    learners.forEach(({ row, text }, place) => {
      const fits =
        words.every((word) => text.includes(word)) &&
        (!kind.value || row.classList.contains(kind.value)) &&
        (!chosen || chosen.has(place));
      row.hidden = !fits;
      shown += fits;
    });
    counted.textContent = counted.dataset.said.replace("#", shown);
    clear.disabled = !(words.length || kind.value || chosen);
  };

  const compare = (column, down) => (one, other) => {
    const [first, second] = [one.values[column], other.values[column]];
    // What is not there comes last in either order.
    if (!first || !second) return Number(!first) - Number(!second);
    const [left, right] = [Number(first), Number(second)];
    const order = Number.isNaN(left) || Number.isNaN(right) ? collator.compare(first, second) : left - right;
    return down ? -order : order;
  };

  const sort = (heading) => {
    const column = headings.indexOf(heading);
    const was = heading.getAttribute("aria-sort");
    // Marks are looked at from the best, names from the first letter.
    const numbers = learners.some(({ row }) => row.cells[column].classList.contains("n"));
    const down = was ? was === "ascending" : numbers;
    headings.forEach((each) => each.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...[...learners].sort(compare(column, down)).map(({ row }) => row));
  };

  const pick = (button) => {
    chosen = new Set(button.dataset.rows.split(" ").map(Number));
    const group = button.closest(".group");
    picked.textContent = [...group.querySelectorAll(":scope > .what")].map((each) => each.textContent).join(" · ");
    picked.hidden = false;
    find.value = kind.value = "";
    show();
    document.getElementById("learners").scrollIntoView();
    clear.focus({ preventScroll: true });
  };

  const everyone = () => {
    find.value = kind.value = "";
    chosen = null;
    picked.hidden = true;
    show();
    find.focus();
  };

  find.addEventListener("input", show);
  kind.addEventListener("input", show);
  clear.addEventListener("click", everyone);
  headings.forEach((heading) => heading.firstElementChild.addEventListener("click", () => sort(heading)));
  document.querySelectorAll(".pick").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", () => pick(button));
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input[type=search], select, textarea");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      find.focus();
    } else if (event.key === "Escape" && (event.target === find || event.target === clear)) {
      everyone();
    }
  });
  document.querySelector(".tools").hidden = false;
  // A browser that comes back to the page keeps what was typed.
  show();
})();
