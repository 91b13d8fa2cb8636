// Makes pages quicker that work without it: parts are fetched from the very addresses of their links.
"use strict";
(() => {
  const $ = (query, within = document) => within.querySelector(query);
  const $$ = (query, within = document) => [...within.querySelectorAll(query)];
  const root = document.body.dataset.root || "";
  const say = (text, address) => {
    const line = $("#said");
    if (!line) return;
    line.textContent = text;
    if (address) {
      const link = document.createElement("a");
      link.href = address;
      link.textContent = "Try again";
      line.append(" ", link);
    }
  };

  // --- parts of a page, from the address of a link -------------------------------------------------------
  let asking = 0;
  async function swap(address, ids, whole = address) {
    const number = ++asking;
    const slow = setTimeout(() => say("Loading …"), 300);
    const stuck = setTimeout(() => say("This takes long.", whole), 5000);
    try {
      const answer = await fetch(address, { headers: { "X-Part": ids.join(" ") } });
      if (number !== asking) return false;
      if (!answer.ok) { say("This could not be loaded.", whole); return false; }
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (number !== asking) return false;
      for (const id of ids) {
        const fresh = page.getElementById(id), old = document.getElementById(id);
        if (fresh && old) old.replaceWith(document.adoptNode(fresh));
      }
      say("");
      return true;
    } catch {
      gone(true);
      say("This could not be loaded.", whole);
      return false;
    } finally { clearTimeout(slow); clearTimeout(stuck); }
  }

  const chosenKey = () => $("tr.selected")?.dataset.key;
  function mark(key) {
    for (const row of $$(".tree tr.selected")) { row.classList.remove("selected"); row.removeAttribute("aria-selected"); }
    for (const row of $$(`[data-span]`)) row.classList.toggle("chosen", row.dataset.span === key);
    const row = $(`.tree tr.span[data-key="${CSS.escape(key)}"]`);
    if (row) {
      row.classList.add("selected");
      row.setAttribute("aria-selected", "true");
      row.scrollIntoView({ block: "nearest" });
    }
    return row;
  }
  async function choose(key, href) {
    const trace = $("article[data-trace]")?.dataset.trace;
    if (!trace) return false;
    history.replaceState(null, "", addressWith({ s: key }));
    if (!mark(key)) { if (await swap(href, ["tree", "detail"])) mark(key); return true; }
    await swap(`${root}/t/${trace}/s/${key}`, ["detail"], href);
    return true;
  }
  function addressWith(changes) {
    const address = new URL(location.href);
    for (const [name, value] of Object.entries(changes)) address.searchParams.set(name, value);
    return address.pathname + address.search;
  }

  document.addEventListener("click", async (event) => {
    if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target.closest("a[data-choose], a[data-swap]");
    if (link) {
      const focus = link.closest("tr")?.dataset.key;
      const key = "choose" in link.dataset && (link.dataset.choose || focus);
      if (key && $("article[data-trace]")) {
        event.preventDefault();
        await choose(key, link.href);
      } else if (link.dataset.swap) {
        event.preventDefault();
        if (await swap(link.href, link.dataset.swap.split(" "))) history.replaceState(null, "", link.href);
        if (focus) (($(`.tree tr[data-key="${CSS.escape(focus)}"] a.fold`)) || $(`.tree tr[data-key="${CSS.escape(focus)}"] a`))?.focus();
      }
      return;
    }
    const row = event.target.closest("tr[data-key], tr[data-id]");
    if (row && !event.target.closest("a, button, input, summary") && !String(getSelection())) $("a.row, a.choose", row)?.click();
  });

  // --- keys ------------------------------------------------------------------------------------------------
  function step(by) {
    const links = $$("#rows a.row, .tree a.choose");
    const at = links.indexOf(document.activeElement);
    const now = at >= 0 ? at : links.findIndex((link) => link.closest("tr.selected"));
    const next = links[Math.min(Math.max(now + by, 0), links.length - 1)];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  }
  const focused = () => document.activeElement?.closest("tr") || $("tr.selected");
  function fold(open) {
    const row = focused();
    if (row && row.getAttribute("aria-expanded") === String(!open)) $("a.fold", row)?.click();
  }
  const copy = (text, words) => navigator.clipboard?.writeText(text).then(() => say(words), () => say("Could not be copied"));
  function compare() {
    const place = $("#compare-with");
    if (place?.href) place.click();
    else if (place) { place.open = true; $("#other").focus(); }
  }
  async function copyExample() {
    const link = $("#example-text");
    if (!link) return;
    $("#as-example").open = true;
    const text = $("#example")?.textContent ?? await (await fetch(link.href)).text();
    copy(text, "Copied as example");
  }
  const keys = {
    "/": () => ($("#q") || $("#find"))?.focus(),
    f: () => $("#find")?.focus(),
    j: () => step(1),
    k: () => step(-1),
    u: () => { const back = $("#back"); if (back) back.click(); else history.back(); },
    "[": () => $("a[rel=prev]")?.click(),
    "]": () => $("a[rel=next]")?.click(),
    e: () => $("#next-failure")?.click(),
    E: () => $("#previous-failure")?.click(),
    ArrowRight: () => fold(true),
    ArrowLeft: () => fold(false),
    "*": () => $(".actions a[data-swap=tree]")?.click(),
    c: compare,
    y: () => copy(location.href, "Address copied"),
    Y: copyExample,
    t: () => turn(),
    "?": () => $("#keys")?.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey || $("dialog[open]")) return;
    if (event.target.closest("input, textarea, select")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const act = keys[event.key];
    if (!act || (event.key.startsWith("Arrow") && !focused())) return;
    event.preventDefault();
    act();
  });

  // --- theme -----------------------------------------------------------------------------------------------
  function turn() {
    const isDark = document.documentElement.dataset.theme
      ? document.documentElement.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = isDark ? "light" : "dark";
    try { localStorage.setItem("agenttrace-theme", document.documentElement.dataset.theme); } catch { /* not kept */ }
  }
  for (const [id, act] of [["theme", turn], ["help", keys["?"]]]) {
    const button = document.getElementById(id);
    if (button) { button.hidden = false; button.addEventListener("click", act); }
  }
  for (const button of $$("button[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(document.getElementById(button.dataset.copy).textContent, "Copied"));
  }
  const first = $(".tree tr.selected"), box = first?.getBoundingClientRect();
  if (box && !location.hash && box.bottom > innerHeight) first.scrollIntoView({ block: "center" });
  if (matchMedia("(max-width: 70rem)").matches) $("#facets")?.removeAttribute("open");

  // --- live: asks while the page is visible ------------------------------------------------------------------
  const live = $("[data-live]");
  let quiet = 0, troubled = false;
  const gone = (is) => { const banner = $("#gone"); if (banner) banner.hidden = !is; };
  async function poll() {
    if (!live || document.hidden) return schedule();
    const asked = new URLSearchParams();
    const article = $("article[data-trace]");
    if (article) {
      asked.set("trace", article.dataset.trace);
    } else {
      asked.set("q", live.dataset.q || "");
      if (live.dataset.sort) asked.set("sort", live.dataset.sort);
      if (live.dataset.newest) asked.set("since", live.dataset.newest);
    }
    try {
      const answer = await fetch(`${root}/api/v1/changes?${asked}`);
      gone(false);
      const changes = await answer.json();
      const trouble = answer.ok ? "" : changes.error;  // of the store: the page stays as it is, and says so
      if (trouble || troubled) say(trouble);
      troubled = Boolean(trouble);
      if (answer.ok) await show(changes, article);
    } catch { gone(true); }
    schedule();
  }
  async function show(changes, article) {
    if (article) {
      const has = `${changes.spans} ${changes.scores}`;
      if (has !== `${article.dataset.spans} ${article.dataset.scores}` && changes.spans !== null) {
        quiet = 0;
        article.dataset.spans = changes.spans;
        article.dataset.scores = changes.scores;
        const key = chosenKey();
        await swap(key ? addressWith({ s: key }) : location.href, ["head", "scores", "tree"]);
      } else quiet++;
      return;
    }
    if ((changes.newer > 0 && !$("#rows")) || changes.indexing === false && $("#results progress")) {
      await swap(location.href, ["results"]);
      return;
    }
    const button = $("#newer");
    if (button && live.dataset.newest && changes.newer > 0) {
      const text = `${changes.newer}${changes.more ? "+" : ""} new`;
      if (button.textContent !== text) { button.textContent = text; quiet = 0; }
      button.hidden = false;
    } else quiet++;
  }
  const schedule = () => setTimeout(poll, quiet > 60 ? 5000 : 1000);
  if (live && (live.dataset.live === "trace" || live.dataset.newest || !$("#rows"))) schedule();
})();
