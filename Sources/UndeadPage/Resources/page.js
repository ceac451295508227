
// Search, sorting, folding and keys of every page. The page can be read without it.
"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  const search = document.getElementById("search");
  const found = document.getElementById("found");

  // The choice of colours is kept, where the browser lets a file keep anything.
  const themes = all("input[name=theme]");
  const kept = (() => { try { return localStorage.getItem("undead-theme"); } catch { return null; } })();
  for (const input of themes) {
    if (input.value === kept) input.checked = true;
    input.addEventListener("change", () => { try { localStorage.setItem("undead-theme", input.value); } catch {} });
  }
  const nextTheme = () => {
    const next = themes[(themes.findIndex((input) => input.checked) + 1) % themes.length];
    next.checked = true;
    next.dispatchEvent(new Event("change"));
  };

  // Search: a finding stays if every word occurs in its text. Other parts of a page may listen, too.
  const findings = all(".finding").map((element) => ({ element, text: null }));
  const rows = new Map(all("tr[data-for]").map((row) => [row.dataset.for, row]));
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const finding of findings) {
      finding.text ??= finding.element.textContent.toLowerCase();
      const fits = words.every((word) => finding.text.includes(word));
      finding.element.hidden = !fits;
      const row = rows.get(finding.element.id);
      if (row) row.hidden = !fits;
      if (fits) shown += 1;
    }
    for (const row of all("table.searched tbody tr")) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    if (findings.length) found.textContent = words.length ? `${shown} of ${findings.length}` : "";
    document.dispatchEvent(new CustomEvent("undead-search", { detail: words }));
  };
  search.addEventListener("input", filter);

  // Sorting by the heads of columns: figures downwards first, names upwards.
  for (const table of all("table.sortable")) {
    all("thead th", table).forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(table, head, column));
    });
  }
  const sort = (table, head, column) => {
    const isNumber = head.classList.contains("number");
    const order = head.getAttribute("aria-sort") ?? (isNumber ? "ascending" : "descending");
    const next = order === "ascending" ? "descending" : "ascending";
    for (const other of all("th[aria-sort]", table)) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", next);
    const sign = next === "ascending" ? 1 : -1;
    const body = table.tBodies[0];
    const key = (row) => {
      const cell = row.cells[column];
      return isNumber ? Number(cell.dataset.value ?? cell.textContent) : cell.textContent;
    };
    const keyed = Array.from(body.rows, (row) => [key(row), row]);
    keyed.sort(([a], [b]) => sign * (isNumber ? a - b : a.localeCompare(b)));
    body.append(...keyed.map(([, row]) => row));
  };

  // Folding.
  const fold = (isOpen) => { for (const { element } of findings) element.firstElementChild.open = isOpen; };
  const reveal = () => {
    // The signatures that findings are named by need no escapes, so what is no valid escape names nothing.
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    const finding = target && target.closest(".finding");
    if (!finding) return;
    finding.hidden = false;
    finding.firstElementChild.open = true;
    target.scrollIntoView();
    finding.focus({ preventScroll: true });
  };
  window.addEventListener("hashchange", reveal);
  reveal();

  // Keys.
  const keys = [
    ["/", "search", () => { search.focus(); search.select(); }],
    ["j", "next finding", () => step(1)],
    ["k", "finding before", () => step(-1)],
    ["o", "fold or unfold it", () => toggle()],
    ["e", "unfold all", () => fold(true)],
    ["c", "fold all", () => fold(false)],
    ["t", "colours: automatic, light, dark", nextTheme],
    ["?", "these keys", () => help()],
  ];
  const step = (by) => {
    const shown = findings.map(({ element }) => element).filter((element) => !element.hidden);
    if (!shown.length) return;
    const now = shown.findIndex((element) => element.contains(document.activeElement));
    const next = shown[now < 0 ? (by > 0 ? 0 : shown.length - 1) : Math.min(Math.max(now + by, 0), shown.length - 1)];
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "start" });
  };
  const toggle = () => {
    const finding = document.activeElement.closest?.(".finding");
    if (finding) finding.firstElementChild.open = !finding.firstElementChild.open;
  };
  let dialog = null;
  const help = () => {
    if (!dialog) {
      dialog = document.createElement("dialog");
      const list = document.createElement("dl");
      list.className = "facts";
      for (const [key, what] of [...keys, ...(window.undeadKeys ?? []), ["Esc", "end of search"]]) {
        const name = document.createElement("dt");
        const box = document.createElement("kbd");
        box.textContent = key;
        name.append(box);
        const text = document.createElement("dd");
        text.textContent = what;
        list.append(name, text);
      }
      const title = document.createElement("b");
      title.textContent = "Keys";
      const close = document.createElement("button");
      close.type = "button";
      close.textContent = "Close";
      close.addEventListener("click", () => dialog.close());
      dialog.append(title, list, close);
      document.body.append(dialog);
    }
    if (!dialog.open) dialog.showModal();
  };
  document.getElementById("help").addEventListener("click", help);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === search) {
      if (event.key === "Escape") { search.value = ""; filter(); search.blur(); }
      return;
    }
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && event.target.type !== "radio") return;
    if (dialog?.open) return;
    const entry = [...keys, ...(window.undeadKeys ?? [])].find(([key]) => key === event.key);
    if (!entry) return;
    event.preventDefault();
    entry[2]();
  });
})();
