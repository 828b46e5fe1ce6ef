/** Sets the theme before the first paint. A file of its own that blocks nothing else, because the page has no inline script. */
const stored = () => {
  try {
    return localStorage.getItem("rungate.theme")
  } catch {
    return null
  }
}
const chosen = stored()
const isDark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches)
document.documentElement.dataset["theme"] = isDark ? "dark" : "light"
