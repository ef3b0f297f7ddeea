// Before the first paint: the theme that was chosen, or the system's.
"use strict";
try {
  const theme = localStorage.getItem("theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch { /* a browser without storage has the system's */ }
