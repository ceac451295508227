
// The parts of a heap's page that move: the table of all types, the picture of who keeps what, the details of a type.
"use strict";
(() => {
  const source = document.getElementById("data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const { texts, details, tree, paths, stacks, frames } = data;

  const element = (name, properties = {}, ...children) => {
    const { class: style, ...rest } = properties;
    const result = Object.assign(document.createElement(name), rest);
    if (style) result.className = style;
    result.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
    return result;
  };
  const number = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, ",");
  const bytes = (value) => {
    if (value < 10240) return value === 1 ? "1 byte" : `${value} bytes`;
    let amount = value / 1024;
    for (const unit of ["KB", "MB"]) {
      if (amount < 1024) return `${amount.toFixed(1)} ${unit}`;
      amount /= 1024;
    }
    return `${amount.toFixed(1)} GB`;
  };
  const total = tree.length ? tree[0][4] : 0;
  const share = (value) => (total ? `${((value / total) * 100).toFixed(1)} %` : "");
  const fieldText = (field) => (!field || / /.test(field) || /^[+[.]/.test(field) ? field : `.${field}`);
  const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

  // Details by the name of the type.
  const detailOf = new Map(details.map((detail, index) => [detail.head[0], index]));
  const typeLink = (text, style = "type") => {
    const index = detailOf.get(text);
    if (index === undefined) return element("span", { class: style, textContent: texts[text] });
    return element("a", { class: style, href: `#type=${index}`, textContent: texts[text] });
  };

  // The table of types.
  const holder = document.getElementById("type-table");
  const body = holder.querySelector("tbody");
  const heads = Array.from(holder.querySelectorAll("thead th"));
  const state = { rows: data.folded, words: [], column: 3, isUp: false, limit: 25, open: null };
  const keys = [(row) => texts[row[0]], (row) => row[1], (row) => row[2], (row) => row[3], (row) => row[3]];
  const more = element("button", { type: "button", class: "more-rows" });
  more.addEventListener("click", () => { state.limit += 200; table(); });
  const folding = element("input", { type: "checkbox", checked: true, id: "folding" });
  folding.addEventListener("change", () => { state.rows = folding.checked ? data.folded : data.types; table(); });
  const foldingLabel = element("label", { class: "folding" }, folding,
    " count the storage of collections, strings and data with their owner");
  document.querySelector("#types h2").after(foldingLabel);
  holder.append(more);
  heads.forEach((head, column) => {
    const button = element("button", { type: "button" }, ...head.childNodes);
    if (!button.textContent) button.textContent = "Share";
    head.append(button);
    button.addEventListener("click", () => {
      const same = state.column === column;
      state.isUp = same ? !state.isUp : column === 0;
      state.column = column;
      table();
    });
  });
  const table = () => {
    const key = keys[state.column];
    const sign = state.isUp ? 1 : -1;
    const fits = state.rows.filter((row) => {
      const name = texts[row[0]].toLowerCase();
      return state.words.every((word) => name.includes(word));
    });
    const order = fits.map((row) => [key(row), row]);
    order.sort(([a], [b]) => sign * (typeof a === "string" ? a.localeCompare(b) : a - b));
    body.replaceChildren(...order.slice(0, state.limit).map(([, row]) => {
      const bar = element("i", { class: "meter" });
      bar.style.width = `${total ? (row[3] / total) * 100 : 0}%`;
      const line = element("tr", row[4] >= 0 ? { class: "link" } : {},
        element("td", {}, row[4] >= 0
          ? element("a", { class: "type", href: `#type=${row[4]}`, textContent: texts[row[0]] })
          : element("span", { class: "type", textContent: texts[row[0]] })),
        element("td", { class: "number", textContent: number(row[1]) }),
        element("td", { class: "number", textContent: bytes(row[2]) }),
        element("td", { class: "number", textContent: bytes(row[3]) }),
        element("td", { class: "number share" }, bar, share(row[3])));
      if (row[4] >= 0) {
        line.addEventListener("click", () => { location.hash = `type=${row[4]}`; });
        if (row[4] === state.open) line.classList.add("open");
      }
      return line;
    }));
    heads.forEach((head, column) => {
      if (column === state.column) head.setAttribute("aria-sort", state.isUp ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    more.hidden = order.length <= state.limit;
    more.textContent = `${number(order.length - state.limit)} more`;
    const found = document.getElementById("found");
    found.textContent = state.words.length ? `${number(order.length)} of ${plural(state.rows.length, "type")}` : "";
  };
  document.addEventListener("undead-search", (event) => {
    state.words = event.detail;
    state.limit = 25;
    table();
  });

  // Stacks and paths.
  const frameText = (index) => {
    const [symbol, place, full, system] = frames[index];
    return element("span", system ? { class: "system" } : {},
      element("code", { class: "function", textContent: texts[symbol] }), " ",
      element("span", { class: texts[full] ? "place" : "module", title: texts[full], textContent: texts[place] }));
  };
  const ownFrame = (stack) => stack.find((index) => !frames[index][3] && !texts[frames[index][0]].includes("__allocating_init("))
    ?? stack.find((index) => !frames[index][3]) ?? stack[0];
  const stackView = (index, title) => {
    if (index < 0 || !stacks[index].length) return element("span", { class: "module", textContent: "unknown" });
    const stack = stacks[index];
    return element("details", { class: "stack" },
      element("summary", {}, title ?? frameText(ownFrame(stack))),
      element("ol", { class: "frames", start: 0 }, ...stack.map((frame) => element("li", {}, frameText(frame)))));
  };
  const rootWords = { threadLocal: "thread-local", runLoop: "run loop", beforeRecording: "before recording" };
  const pathView = (index) => {
    const path = paths[index];
    const list = element("ol", { class: "path" });
    const kind = texts[path[0]];
    const name = texts[path[1]];
    list.append(element("li", { class: "root" },
      element("span", { class: "badge", textContent: rootWords[kind] ?? kind }), " ", name === kind ? "" : name));
    for (let at = 2; at < path.length - 1; at += 2) {
      list.append(path[at] < 0
        ? element("li", { textContent: `${number(-path[at])} more references` })
        : element("li", {}, typeLink(path[at]), " ",
          element("span", { class: "field", textContent: fieldText(texts[path[at + 1]]) })));
    }
    list.append(element("li", { class: "end" }, typeLink(path[path.length - 1])));
    return list;
  };

  // Details of a type.
  const panel = document.getElementById("detail");
  const part = (title, count, ...rows) => rows[0]
    ? [element("h4", {}, title, count > rows.length ? element("small", { textContent: `${rows.length} of ${number(count)}` }) : ""),
      ...rows] : [];
  const links = (list, isReferrer) => element("table", {}, element("tbody", {}, ...list.map(([kind, field, count, size]) =>
    element("tr", {},
      element("td", {}, isReferrer
        ? element("span", {}, typeLink(kind), " ", element("span", { class: "field", textContent: fieldText(texts[field]) }))
        : element("span", {}, element("span", { class: "field", textContent: fieldText(texts[field]) }), " \u2192 ", typeLink(kind))),
      element("td", { class: "number", textContent: number(count) }),
      isReferrer ? "" : element("td", { class: "number", textContent: bytes(size) })))));
  const show = (index) => {
    const detail = details[index];
    if (!detail) return;
    state.open = index;
    const [name, count, size, retained, siteCount, wayCount] = detail.head;
    const close = element("button", { type: "button", class: "close", textContent: "\u00d7", title: "Close (Esc)" });
    close.addEventListener("click", hide);
    panel.replaceChildren(
      close,
      element("h3", { class: "type", textContent: texts[name], tabIndex: -1 }),
      element("p", { class: "figures", textContent:
        `${number(count)} \u00b7 ${bytes(size)} \u00b7 retains ${bytes(retained)} (${share(retained)})` }),
      ...part("What keeps them", wayCount, ...detail.ways.map(([path, ways, sum]) =>
        element("details", { class: "way", open: path === detail.ways[0][0] },
          element("summary", {}, `${number(ways)} \u00d7`, element("small", { textContent: bytes(sum) }), " ",
            element("span", { class: "brief", textContent: brief(paths[path]) })),
          pathView(path)))),
      ...part("Allocated", siteCount, ...detail.sites.map(([stack, sites, sum]) =>
        element("div", { class: "site" },
          element("span", { class: "number", textContent: `${number(sites)} \u00d7 ${bytes(sum)}` }), stackView(stack)))),
      ...part("Held by", 0, detail.referrers.length ? links(detail.referrers, true) : ""),
      ...part("Refers to", 0, detail.references.length ? links(detail.references, false) : ""),
      ...part("Largest instances", count, ...detail.instances.map(([address, own, keeps, path, stack]) =>
        element("details", { class: "instance" },
          element("summary", {}, element("code", { textContent: address }), " ", bytes(own), ", retains ", bytes(keeps)),
          pathView(path), stackView(stack, "Where it was allocated")))));
    panel.classList.add("open");
    panel.scrollTop = 0;
    table();
    panel.querySelector("h3").focus({ preventScroll: true });
    const box = panel.getBoundingClientRect();
    if (box.top > innerHeight - 120 || box.bottom < 80) panel.scrollIntoView({ block: "nearest" });
  };
  const brief = (path) => {
    const end = path.length - 1;
    const root = texts[path[1]] === texts[path[0]] ? texts[path[0]] : texts[path[1]] || texts[path[0]];
    const last = end > 2 ? ` \u2026 ${short(texts[path[end - 2]] ?? "")} ${fieldText(texts[path[end - 1]])}` : "";
    return root + last;
  };
  const short = (type) => type.replace(/^[A-Za-z_][A-Za-z0-9_]*\.(?=.)/, "");
  const hide = () => {
    state.open = null;
    panel.classList.remove("open");
    panel.replaceChildren();
    table();
    if (location.hash.startsWith("#type=")) history.replaceState(null, "", location.pathname + location.search);
  };

  // Who keeps what: one row below the other, as wide as what is retained.
  const icicle = document.getElementById("icicle");
  const children = tree.map(() => []);
  tree.forEach((node, index) => { if (node[5] >= 0) children[node[5]].push(index); });
  const crumbs = element("nav", { class: "crumbs" });
  const canvas = element("div", { class: "boxes" });
  const tip = element("p", { class: "tip" });
  icicle.append(crumbs, canvas, tip);
  const rowHeight = 24;
  const depthLimit = 14;
  let focus = 0;
  const label = (node) => {
    const [name, field, count] = node;
    return (texts[field] ? `${fieldText(texts[field])} ` : "") + (count > 1 ? `${number(count)} \u00d7 ` : "") + texts[name];
  };
  const hue = (text) => {
    let hash = 7;
    for (let at = 0; at < text.length; at += 1) hash = (hash * 31 + text.charCodeAt(at)) >>> 0;
    return hash % 360;
  };
  const describe = (index) => {
    const node = tree[index];
    return `${label(node)}: retains ${bytes(node[4])} (${share(node[4])})`
      + (node[3] ? `, itself ${bytes(node[3])}` : "");
  };
  const draw = () => {
    const boxes = [];
    let depth = 0;
    const place = (index, left, width, row) => {
      const node = tree[index];
      depth = Math.max(depth, row);
      const box = element("button", { type: "button", class: "part", title: describe(index) },
        width > 2 ? label(node) : "");
      box.dataset.index = index;
      box.style.left = `${left}%`;
      box.style.width = `${width}%`;
      box.style.top = `${row * rowHeight}px`;
      box.tabIndex = index === focus ? 0 : -1;
      if (node[6] & 2) box.classList.add("rest");
      else if (node[6] & 1) box.classList.add("root");
      else box.style.setProperty("--hue", hue(texts[node[0]].split(".")[0] + texts[node[0]].length % 5));
      boxes.push(box);
      if (row === depthLimit) return;
      let at = left;
      const small = [];
      for (const child of children[index]) {
        const part = node[4] ? (tree[child][4] / node[4]) * width : 0;
        if (part < 0.2) { small.push(child); continue; }
        place(child, at, part, row + 1);
        at += part;
      }
      const sum = small.reduce((size, child) => size + tree[child][4], 0);
      const part = node[4] ? (sum / node[4]) * width : 0;
      if (part < 0.2) return;
      depth = Math.max(depth, row + 1);
      const rest = element("span", { class: "part rest", title: `${number(small.length)} smaller: ${bytes(sum)} (${share(sum)})` },
        part > 2 ? `${number(small.length)} smaller` : "");
      Object.assign(rest.style, { left: `${at}%`, width: `${part}%`, top: `${(row + 1) * rowHeight}px` });
      boxes.push(rest);
    };
    place(focus, 0, 100, 0);
    canvas.style.height = `${(depth + 1) * rowHeight}px`;
    canvas.replaceChildren(...boxes);
    const way = [];
    for (let at = focus; at >= 0; at = tree[at][5]) way.unshift(at);
    crumbs.replaceChildren(...way.flatMap((index, place) => {
      const crumb = element("button", { type: "button", textContent: label(tree[index]) });
      crumb.addEventListener("click", () => zoom(index));
      return place ? [" \u203a ", crumb] : [crumb];
    }));
    tip.textContent = describe(focus);
  };
  const zoom = (index) => {
    focus = index;
    draw();
    canvas.querySelector(".part")?.focus({ preventScroll: true });
  };
  canvas.addEventListener("click", (event) => {
    const index = Number(event.target.closest(".part")?.dataset.index ?? -1);
    if (index < 0) return;
    if (index === focus && tree[index][5] >= 0) return zoom(tree[index][5]);
    const known = detailOf.get(tree[index][0]);
    if (known !== undefined && !(tree[index][6] & 3)) location.hash = `type=${known}`;
    zoom(index);
  });
  const point = (event) => {
    const index = event.target.closest?.(".part")?.dataset.index;
    if (index !== undefined) tip.textContent = describe(Number(index));
  };
  canvas.addEventListener("mouseover", point);
  canvas.addEventListener("focusin", point);
  canvas.addEventListener("keydown", (event) => {
    const index = Number(event.target.dataset?.index ?? -1);
    if (index < 0) return;
    const siblings = tree[index][5] >= 0 ? children[tree[index][5]] : [index];
    const at = siblings.indexOf(index);
    const next = { ArrowDown: children[index][0], ArrowUp: tree[index][5],
      ArrowLeft: siblings[at - 1], ArrowRight: siblings[at + 1] }[event.key];
    if (next === undefined || next < 0) return;
    event.preventDefault();
    const box = canvas.querySelector(`[data-index="${next}"]`);
    if (box) box.focus({ preventScroll: true });
    else if (event.key === "ArrowUp") zoom(next);
  });

  // The way to a type stands in the address, so that going back works.
  const route = () => {
    const match = /^#type=(\d+)$/.exec(location.hash);
    if (match) show(Number(match[1]));
    else if (state.open !== null && !location.hash) hide();
  };
  window.addEventListener("hashchange", route);
  window.undeadKeys = [
    ["Escape", "close the details", hide],
    ["f", "count storage with its owner, or apart", () => folding.click()],
    ["u", "one step up in the picture", () => { if (tree[focus][5] >= 0) zoom(tree[focus][5]); }],
  ];
  const list = document.querySelector("details.tree");
  if (list) list.open = false;
  window.addEventListener("beforeprint", () => { if (list) list.open = true; });
  table();
  draw();
  route();
  document.documentElement.dataset.ready = "true";
})();
