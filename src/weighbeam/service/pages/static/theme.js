// Before anything is painted: the theme that was chosen here before.
(() => {
  try {
    const chosen = localStorage.getItem("theme");
    if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
  } catch {
    // No storage: the system's theme it is.
  }
})();
