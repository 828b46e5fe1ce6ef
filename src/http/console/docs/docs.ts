/** What a page of the docs does beyond its text: search, copy buttons, and the theme. Without it the page reads the same. */
import { searchIn } from "./search.ts"

const shownMillis = 1_500

const button = (className: string, word: string, onClick: (self: HTMLButtonElement) => void): HTMLButtonElement => {
  const node = document.createElement("button")
  node.type = "button"
  node.className = className
  node.textContent = word
  node.addEventListener("click", () => onClick(node))
  return node
}

const copyOf = (code: string) =>
  button("absolute top-[0.4rem] right-[0.4rem] px-2 py-[0.1rem]", "Copy", (self) => {
    const say = (word: string) => {
      self.textContent = word
      setTimeout(() => {
        self.textContent = "Copy"
      }, shownMillis)
    }
    // Browsers refuse it where the page is not served securely.
    Promise.resolve(navigator.clipboard?.writeText(code)).then(
      () => say(navigator.clipboard === undefined ? "Select and copy" : "Copied"),
      () => say("Select and copy")
    )
  })

for (const block of document.querySelectorAll(".code"))
  block.append(copyOf(block.querySelector("code")?.textContent.trimEnd() ?? ""))

/** The console keeps the choice under the same name. */
const toggleTheme = () => {
  const { dataset } = document.documentElement
  dataset["theme"] = dataset["theme"] === "dark" ? "light" : "dark"
  try {
    localStorage.setItem("rungate.theme", dataset["theme"])
  } catch {
    // Storage may be off in this browser.
  }
}

const tools = document.querySelector<HTMLElement>("#tools")
if (tools !== null) {
  tools.append(searchIn(tools.dataset["sections"] ?? ""))
  tools.append(button("", "Light or dark", toggleTheme))
}
