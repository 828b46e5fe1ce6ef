/**
 * What a page of the docs does beyond its text: search, copy buttons, and the theme. Without it the page reads the same.
 *
 * The words of the search are loaded when somebody first asks, and it runs in the browser.
 */
import MiniSearch from "minisearch"

/** A heading of a page, with the text below it (scripts/docs.ts). */
export interface Section {
  /** Its address. */
  readonly id: string
  readonly page: string
  readonly heading: string
  readonly text: string
}

const resultsMax = 12
const excerptChars = 140

const indexAt = async (address: string) => {
  const response = await fetch(address)
  const sections: ReadonlyArray<Section> = await response.json()
  const index = new MiniSearch<Section>({
    fields: ["heading", "page", "text"],
    storeFields: ["page", "heading", "text"],
    searchOptions: { boost: { heading: 4, page: 2 }, prefix: true, fuzzy: 0.15, combineWith: "AND" }
  })
  index.addAll(sections)
  return index
}

/** The text around the first word that was meant. */
const excerpt = (text: string, terms: ReadonlyArray<string>): string => {
  const lower = text.toLowerCase()
  const places = terms.map((term) => lower.indexOf(term)).filter((at) => at >= 0)
  const from = Math.max(0, Math.min(...places, text.length) - excerptChars / 3)
  const start = places.length === 0 ? 0 : from
  return `${start > 0 ? "…" : ""}${text.slice(start, start + excerptChars).trim()}`
}

const element = <K extends keyof HTMLElementTagNameMap>(
  name: K,
  className: string,
  text = ""
): HTMLElementTagNameMap[K] => {
  const node = document.createElement(name)
  node.className = className
  node.textContent = text
  return node
}

const resultLook = "block rounded px-[0.6rem] py-[0.4rem] no-underline hover:bg-hover hover:no-underline focus:bg-hover"
/** Over the page, below the field. */
const floatLook =
  "absolute right-0 mt-[0.4rem] max-h-[70vh] w-[min(34rem,92vw)] list-none overflow-y-auto rounded-lg border border-line bg-panel p-[0.4rem] shadow-float"

/** The field with its results. */
const searchIn = (address: string): HTMLElement => {
  const box = element("search", "relative")
  const field = element(
    "input",
    "w-[min(16rem,46vw)] rounded border border-line-strong bg-page px-[0.6rem] py-[0.35rem] leading-[inherit]"
  )
  Object.assign(field, { type: "search", placeholder: "Search the docs ( / )", autocomplete: "off" })
  field.setAttribute("aria-label", "Search the docs")
  const list = element("ul", floatLook)
  list.hidden = true
  const state = element("p", `${floatLook} pointer-events-none empty:opacity-0`)
  state.setAttribute("role", "status")
  box.append(field, list, state)

  let loading: ReturnType<typeof indexAt> | undefined
  const show = async () => {
    const words = field.value.trim()
    list.hidden = words === ""
    state.textContent = ""
    if (words === "") return
    loading ??= indexAt(address)
    const results = (await loading).search(words).slice(0, resultsMax)
    // Something else was typed meanwhile.
    if (words !== field.value.trim()) return
    list.replaceChildren(
      ...results.map(({ id, page, heading, text, terms }) => {
        const link = element("a", resultLook)
        link.href = String(id)
        link.append(
          element("strong", "block", heading === page ? page : `${page}: ${heading}`),
          element("span", "block text-[0.8rem] wrap-anywhere text-muted", excerpt(text, terms))
        )
        const item = element("li", "")
        item.append(link)
        return item
      })
    )
    list.hidden = results.length === 0
    state.textContent = results.length === 0 ? `Nothing in the docs has "${words}".` : ""
  }
  field.addEventListener("input", () => void show())

  const links = () => Array.from(list.querySelectorAll("a"))
  box.addEventListener("keydown", (event) => {
    const places: ReadonlyArray<HTMLElement> = [field, ...links()]
    const at = places.findIndex((one) => one === document.activeElement)
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      places[Math.min(places.length - 1, Math.max(0, at + step))]?.focus()
    } else if (event.key === "Enter" && at === 0) links()[0]?.click()
    else if (event.key === "Escape") {
      field.value = ""
      void show()
      field.focus()
    }
  })
  // A result on the same page only moves the page.
  list.addEventListener("click", () => {
    field.value = ""
    void show()
  })
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || document.activeElement === field) return
    event.preventDefault()
    field.focus()
  })
  return box
}

const shownMillis = 1_500

const button = (className: string, word: string, onClick: (self: HTMLButtonElement) => void): HTMLButtonElement => {
  const node = element("button", className, word)
  node.type = "button"
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
