// What HTML does not do by itself: the stream of events, keys, the theme, and the pane that opens and closes.
"use strict";
const byId = (id) => document.getElementById(id);
const feed = byId("feed"), pane = byId("pane"), news = byId("news"), filters = byId("filters");
let unseen = 0, opener = null;

// The theme.
const theme = byId("theme");
theme.value = document.documentElement.dataset.theme || "";
theme.addEventListener("change", () => {
  if (theme.value) document.documentElement.dataset.theme = theme.value;
  else delete document.documentElement.dataset.theme;
  try { localStorage.setItem("theme", theme.value); } catch { /* it holds until the page is left */ }
});

// The stream. It announces; only a reader at the top, who reads nothing that would move, sees it come by itself.
const filtered = () => new URLSearchParams([...new FormData(filters)].filter(([, value]) => value)).toString();
const refresh = () => {
  unseen = 0;
  news.hidden = true;
  htmx.ajax("GET", `/feed?${filtered()}`, { target: "#feed", swap: "innerHTML" });
};
const announce = () => {
  unseen += 1;
  if (scrollY < 40 && !byId("q").value && document.activeElement.closest("#feed, #pane") === null) { refresh(); return; }
  byId("count").textContent = unseen;
  news.hidden = false;
};
if (filters) {
  news.addEventListener("click", () => { refresh(); scrollTo(0, 0); });
  let late = 0;
  const stream = new EventSource("/stream");
  stream.onopen = () => { byId("gone").hidden = true; };
  stream.onerror = () => { byId("gone").hidden = false; };
  stream.onmessage = (event) => {
    if (JSON.parse(event.data).type === "connected") return;
    clearTimeout(late);
    late = setTimeout(announce, 50);  // a burst is one piece of news
  };
  // Filters live in the address, so that it can be kept and gone back to.
  filters.addEventListener("input", () => history.replaceState(null, "", `/?${filtered()}`));
}

// The pane.
const close = () => {
  pane.hidden = true;
  pane.replaceChildren();
  if (opener && opener.isConnected) opener.focus();
};
if (pane && !pane.classList.contains("alone")) {
  feed.addEventListener("click", (event) => { opener = event.target.closest("a") || opener; });
  new MutationObserver(() => {
    if (!pane.childElementCount || !pane.hidden) return;
    pane.hidden = false;
    pane.focus();
  }).observe(pane, { childList: true });
  pane.addEventListener("click", (event) => {
    if (event.target.closest("[data-close]")) { event.preventDefault(); close(); }
  });
}

// Keys.
const step = (by) => {
  const links = [...feed.querySelectorAll(".card .text a")];
  const at = links.indexOf(document.activeElement);
  const next = links[Math.max(0, Math.min(links.length - 1, at < 0 ? 0 : at + by))];
  if (next) next.focus();
};
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && pane && !pane.hidden && filters) { close(); return; }
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  const deeds = { "/": () => byId("q").focus(), j: () => step(1), k: () => step(-1), t: () => scrollTo(0, 0) };
  if (filters && deeds[event.key]) { event.preventDefault(); deeds[event.key](); }
});
