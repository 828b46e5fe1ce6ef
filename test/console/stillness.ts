/**
 * Makes a page stand still for its picture: everything has arrived, and what differs between two runs of a test (ids, times, amounts, charts)
 * is replaced by fixed characters. Fonts are fixed too, because the page has none of its own and takes the machine's.
 */
import type { Page } from "playwright-core"

/** Debian's fonts-liberation, which CI installs beside Chromium. */
const fonts = ["Liberation Sans", "Liberation Mono"] as const

/** Whether this machine has the fonts of the approved pictures. Without them every line of text would differ. */
export const hasFonts = (page: Page): Promise<boolean> =>
  page.evaluate((names) => {
    const canvas = document.createElement("canvas").getContext("2d")
    const width = (font: string) => {
      if (canvas !== null) canvas.font = `40px ${font}`
      return canvas?.measureText("mmmiiiWQ0.,").width
    }
    // A missing font is as wide as whichever stands behind it.
    return names.every((name) => {
      const other = name.endsWith("Mono") ? "serif" : "monospace"
      return width(`"${name}", ${other}`) !== width(other)
    })
  }, fonts)

/** Counts requests that the page waits for. A stream of events never ends, so it does not count. */
export const watched = (page: Page) => {
  const open = new Set<unknown>()
  page.on("request", (request) => {
    const isStream = (request.headers()["accept"] ?? "").includes("event-stream")
    if (!isStream) open.add(request)
  })
  page.on("requestfinished", (request) => open.delete(request))
  page.on("requestfailed", (request) => open.delete(request))
  /** Two frames without a skeleton, a busy region or an open request: an answer is drawn in the first, and asks for more until the second. */
  return async (): Promise<void> => {
    await page.locator("h1").first().waitFor()
    for (let quiet = 0; quiet < 2; ) {
      await page.waitForFunction(() => document.querySelector(".skeleton, [aria-busy=true]") === null)
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
      quiet = open.size === 0 ? quiet + 1 : 0
    }
  }
}

/** Replaces what differs. May run again on the same page, after another width or theme has drawn some of it anew. */
export const still = (page: Page): Promise<void> =>
  page.evaluate(([sans, mono]) => {
    if (!Reflect.has(globalThis, "isStill")) {
      // A constructed sheet, because the page's policy allows no inline style.
      const sheet = new CSSStyleSheet()
      sheet.replaceSync(`
        :root { --font-sans: "${sans}" !important; --font-mono: "${mono}" !important }
        *, *::before, *::after { animation: none !important; transition: none !important; caret-color: transparent !important }
        canvas { visibility: hidden !important }
        ::-webkit-scrollbar { display: none }
      `)
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
      Reflect.set(globalThis, "isStill", true)
    }
    const months = "Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec"
    const units = "seconds?|minutes?|hours?|days?|weeks?|months?"
    const rules: ReadonlyArray<readonly [RegExp, string]> = [
      [/\brg_(test|live|sess|operator)_[\w…-]+/g, "rg_$1_00000000"],
      [/\bwhsec_[\w+/=…-]+/g, "whsec_00000000"],
      [/\b([a-z]{2,5})_[0-9a-z]{26}\b/g, `$1_${"0".repeat(26)}`],
      [/\b([a-z]{2,5})_[0-9a-z]{3,}…/g, "$1_00000…"],
      [/\b[0-9a-f]{32,}\b/g, "0".repeat(40)],
      // PostgreSQL leaves out the last zeros of a fraction.
      [/T\d\d:\d\d:\d\d(\.\d+)?(?=[+-]\d\d:\d\d)/g, "T00:00:00.000000"],
      [/\b(localhost|127\.0\.0\.1):\d+/g, "$1:00000"],
      [new RegExp(`\\b\\d{1,2} (${months})( \\d{4})?`, "g"), "00 Jan 0000"],
      [new RegExp(`\\b(${months}) \\d{1,2}(, \\d{4})?`, "g"), "Jan 00, 0000"],
      [/^now$|\b(just now|yesterday|tomorrow)\b/g, "0 minutes ago"],
      [new RegExp(`\\b\\d+ (${units}) ago\\b`, "g"), "0 minutes ago"],
      [new RegExp(`\\bin \\d+ (${units})\\b`, "g"), "in 0 minutes"],
      [/\b\d+(\.\d+)? (ms|s|min|h|d)\b/g, "0 min"],
      [/\d/g, "0"]
    ]
    const fixed = (text: string) => rules.reduce((left, [what, by]) => left.replace(what, by), text)
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const text = node.nodeValue ?? ""
      const other = fixed(text)
      if (other !== text) node.nodeValue = other
    }
    for (const field of document.querySelectorAll("input, textarea")) {
      if (field instanceof HTMLInputElement && /^(date|datetime-local|month|time)$/.test(field.type)) {
        field.style.color = "transparent"
      } else if (field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement) {
        if (!/^(checkbox|radio|file)$/.test(field.type)) field.value = fixed(field.value)
      }
    }
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    // How far a list of pages is scrolled depends on where it was before.
    for (const current of document.querySelectorAll("nav [aria-current]")) {
      for (let list = current.parentElement; list !== null; list = list.parentElement) list.scrollLeft = 0
      current.scrollIntoView({ block: "nearest", inline: "nearest" })
    }
    scrollTo(0, 0)
  }, fonts)
