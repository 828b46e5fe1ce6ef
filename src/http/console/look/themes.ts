/** Light and dark: what the person chose, and what that means on this system. */
import { makeStore, stored } from "../data/store.ts"

export const themes = ["system", "light", "dark"] as const
export type Theme = (typeof themes)[number]

const storedAs = "rungate.theme"

const system = () => matchMedia("(prefers-color-scheme: dark)")

export const chosenTheme = (): Theme => {
  const text = stored(() => localStorage.getItem(storedAs), null)
  return themes.find((one) => one === text) ?? "system"
}

const isDark = (theme: Theme) => theme === "dark" || (theme === "system" && system().matches)

/** The theme that the page shows. Charts draw with its colours, so they follow it. */
export const themeShown = makeStore<"light" | "dark">(
  document.documentElement.dataset["theme"] === "dark" ? "dark" : "light"
)

export const applyTheme = (theme: Theme): void => {
  const shown = isDark(theme) ? "dark" : "light"
  document.documentElement.dataset["theme"] = shown
  themeShown.set(shown)
}

export const chooseTheme = (theme: Theme): void => {
  stored(() => localStorage.setItem(storedAs, theme), undefined)
  applyTheme(theme)
}

/** Follows the system while the person has chosen nothing else. */
export const followSystem = (): void => system().addEventListener("change", () => applyTheme(chosenTheme()))
