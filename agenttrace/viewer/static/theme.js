// Sets the theme that the reader chose before anything is drawn.
"use strict";
try {
  const theme = localStorage.getItem("agenttrace-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch { /* no storage: the system's theme */ }
