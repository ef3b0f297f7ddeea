// What HTML does not do by itself: parts of the page that are fetched, the stream of events, keys, the theme.
// Without it every link and every form still works.
"use strict";
const byId = (id) => document.getElementById(id);
const feed = byId("feed"), pane = byId("pane"), filters = byId("filters"), news = byId("news");
const isFeed = Boolean(filters);

// The theme.
const theme = byId("theme");
theme.value = document.documentElement.dataset.theme || "";
theme.addEventListener("change", () => {
  if (theme.value) document.documentElement.dataset.theme = theme.value;
  else delete document.documentElement.dataset.theme;
  try { localStorage.setItem("theme", theme.value); } catch { /* it holds until the page is left */ }
});

// Parts of the page. What cannot be fetched is said in its place; the rest of the page stays.
const latest = new Map();
const fetchPart = async (address, target, options = {}) => {
  latest.get(target)?.abort();
  const asked = new AbortController();
  latest.set(target, asked);
  try {
    const answer = await fetch(address, { headers: { "x-part": "1" }, signal: asked.signal, ...options });
    if (!(answer.headers.get("content-type") || "").startsWith("text/html")) throw new Error(answer.status);
    return await answer.text();
  } catch (error) {
    return error.name === "AbortError" ? null : byId("failed").innerHTML;
  }
};

// The feed. Parts far from the screen keep their height and give up their cards, so that it may be of any length.
const parts = new WeakMap();
const far = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting, boundingClientRect } of entries) {
    const kept = parts.get(target);
    if (isIntersecting && kept) {
      target.innerHTML = kept;
      target.style.height = "";
      parts.delete(target);
    } else if (!isIntersecting && !kept && !target.contains(document.activeElement)) {
      parts.set(target, target.innerHTML);
      target.style.height = `${boundingClientRect.height}px`;
      target.replaceChildren();
    }
  }
}, { rootMargin: "6000px" });
const near = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) if (isIntersecting) readOn(target);
}, { rootMargin: "1200px" });
const follow = () => {
  for (const part of feed.querySelectorAll(":scope > .part:not([data-seen])")) {
    part.dataset.seen = "";
    far.observe(part);
  }
  const more = feed.querySelector(":scope > .more");
  if (more) near.observe(more);
};
const readOn = async (more) => {
  near.unobserve(more);
  const html = await fetchPart(more.firstElementChild.dataset.next, more);
  if (html === null || !more.isConnected) return;
  if (html === byId("failed").innerHTML) return;  // the link stays, and can be followed
  more.insertAdjacentHTML("afterend", html);
  more.remove();
  follow();
};
const filtered = () => new URLSearchParams([...new FormData(filters)].filter(([, value]) => value)).toString();
let unseen = 0, typed = 0, opener = null;  // the link whose pane is open
const parsed = (html) => { const part = document.createElement("template"); part.innerHTML = html; return part.innerHTML.trim(); };
let shown = feed.innerHTML.trim();  // the first part, as the browser writes it
const refresh = async (target = feed) => {
  const html = await fetchPart(`/feed?${filtered()}`, target);
  if (html !== null) renew(html);
};
const renew = (html) => {
  const before = new Set([...feed.querySelectorAll(".card a")].map((each) => each.href + each.textContent));
  shown = parsed(html);
  unseen = 0;
  news.hidden = true;
  const reading = feed.contains(document.activeElement) && document.activeElement.href;
  feed.innerHTML = html;
  if (reading) [...feed.querySelectorAll("a")].find((link) => link.href === reading)?.focus({ preventScroll: true });
  follow();
  if (opener && !opener.isConnected) {
    opener = [...feed.querySelectorAll(".card .text a")].find((link) => link.href === opener.href) || null;
    if (!pane.hidden) opener?.closest(".card").classList.add("open");
  }
  if (!before.size) return;
  for (const link of feed.querySelectorAll(".card .text a"))
    if (!before.has(link.href + link.textContent)) link.closest(".card").classList.add("new");
};

// The pane.
let isCovering = false;
const show = (html) => {
  if (html === null) return;
  pane.innerHTML = html;
  pane.hidden = false;
  pane.scrollTop = 0;
  pane.focus({ preventScroll: true });
};
const open = async (link) => {
  if (feed.contains(link)) opener = link;
  document.querySelector(".card.open")?.classList.remove("open");
  opener?.closest(".card")?.classList.add("open");
  show(await fetchPart(link.href, pane));
  if (!isCovering) history.pushState({ pane: true }, "");  // so that the browser's way back closes it
  isCovering = true;
};
const close = () => {
  if (pane.hidden) return;
  pane.hidden = true;
  pane.replaceChildren();
  document.querySelector(".card.open")?.classList.remove("open");
  (opener?.isConnected ? opener : feed).focus({ preventScroll: true });
};
const leave = () => { if (isCovering) history.back(); else close(); };
addEventListener("popstate", () => { isCovering = false; if (isFeed) close(); });
document.addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const link = event.target.closest("a");
  if (!link || !isFeed) return;
  const isRead = /^\/(read|given)\//.test(link.getAttribute("href"));
  if (!isRead && !("close" in link.dataset)) return;
  event.preventDefault();
  if (isRead) open(link); else leave();
});
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form === filters) {
    event.preventDefault();
    clearTimeout(typed);
    await refresh();
    feed.querySelector(".card .text a")?.focus();  // Enter leads from the search to what was found
    return;
  }
  if (!isFeed || !pane.contains(form)) return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form, event.submitter));
  show(await fetchPart(form.action, pane, { method: "POST", body }));
  if (scrollY <= 40) refresh();  // what one has done oneself is no news
});

// The stream. It announces; only a reader at the top, who reads nothing that would move, sees it come by itself.
if (feed.querySelector(":scope > .part")) follow();
if (isFeed) {
  let late = 0;
  const isAway = () => scrollY > 40 || byId("q").value || document.activeElement.closest(".card");
  const announce = async (count) => {
    const html = await fetchPart(`/feed?${filtered()}`, news);
    if (html === null || html === byId("failed").innerHTML || parsed(html) === shown) return;  // no news for this filter
    if (!isAway()) { renew(html); return; }
    unseen += count;
    byId("count").textContent = unseen;
    news.hidden = false;
  };
  let count = 0;
  let stream;
  const tell = (isGone) => { byId("gone").hidden = !isGone; };
  const hear = (event) => {
    if (event.data === '{"type": "connected"}') return;
    count += 1;
    late ||= setTimeout(() => { announce(count); count = late = 0; }, 50);  // a burst is one piece of news
  };
  const listen = () => {
    stream = new EventSource("/stream");  // it comes back by itself, and says what it heard last
    stream.onopen = () => tell(false);
    stream.onerror = () => tell(true);
    stream.onmessage = hear;
  };
  listen();
  // A service that hangs closes nothing: it is asked as long as somebody looks.
  setInterval(async () => {
    if (document.hidden) return;
    const isThere = await fetch("/health", { signal: AbortSignal.timeout(3000) }).then(() => true, () => false);
    if (!isThere || stream.readyState === EventSource.OPEN) tell(!isThere);
    else if (stream.readyState === EventSource.CLOSED) { listen(); announce(1); }  // it was refused for a while
  }, 5000);
  news.addEventListener("click", () => { refresh(); scrollTo(0, 0); });
  // Filters live in the address, so that it can be kept and gone back to.
  filters.addEventListener("input", () => {
    clearTimeout(typed);
    typed = setTimeout(() => { history.replaceState(null, "", `/?${filtered()}`); scrollTo(0, 0); refresh(); }, 150);
  });
  addEventListener("scroll", () => { byId("top").hidden = scrollY < 600; }, { passive: true });
  byId("top").addEventListener("click", (event) => { event.preventDefault(); scrollTo(0, 0); feed.focus({ preventScroll: true }); });
}

// Parts of other pages that take a moment.
for (const slow of document.querySelectorAll("[data-load]"))
  fetchPart(slow.dataset.load, slow).then((html) => { slow.innerHTML = html; slow.removeAttribute("aria-busy"); });

// Keys.
const help = byId("help");
byId("keys").hidden = false;
byId("keys").addEventListener("click", () => help.showModal());
const step = (by) => {
  const links = [...feed.querySelectorAll(".card .text a")];
  const at = links.indexOf(document.activeElement.closest(".card")?.querySelector(".text a") || opener);
  links[Math.max(0, Math.min(links.length - 1, at < 0 ? 0 : at + by))]?.focus();
};
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && isFeed && !pane.hidden && !help.open) { leave(); return; }
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (event.key === "Escape" && event.target === byId("q")) { feed.focus({ preventScroll: true }); return; }  // so that keys work again
  if (event.target.closest("input, textarea") || (event.target.closest("select") && !"/?".includes(event.key))) return;
  const actions = { "?": () => help.showModal() };
  if (isFeed) Object.assign(actions, { "/": () => byId("q").focus(), j: () => step(1), k: () => step(-1), t: () => { scrollTo(0, 0); feed.focus({ preventScroll: true }); } });
  if (actions[event.key]) { event.preventDefault(); actions[event.key](); }
});
