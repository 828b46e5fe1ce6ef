/**
 * A real browser for tests of the console: Debian's Chromium, driven by playwright-core. Tests that need it are skipped where there is none,
 * and say so; CI installs it (.ci/run).
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import axe from "axe-core"
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core"
import { buildConsole, consoleFolder } from "../../scripts/console.ts"

const places = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
const executable = places.map((name) => Bun.which(name)).find((path) => path !== null) ?? null

export const hasBrowser = executable !== null
if (!hasBrowser) console.log("SKIPPED: tests in a browser, because no Chromium is installed (chromium-headless-shell)")

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: executable ?? "", args: ["--no-sandbox", "--disable-dev-shm-usage"] })

const newest = () =>
  Math.max(
    ...["src/http", "src/schema", "scripts", "docs"].flatMap((folder) =>
      Array.from(new Bun.Glob("**/*.{ts,tsx,css,md}").scanSync(join(import.meta.dir, "..", "..", folder))).map(
        (path) => Bun.file(join(import.meta.dir, "..", "..", folder, path)).lastModified
      )
    )
  )

/** Builds the console if a source is newer than it. The service of a test reads it when it starts. */
export const builtConsole = async (): Promise<string> => {
  const manifest = Bun.file(join(consoleFolder, "manifest.json"))
  const isFresh = existsSync(join(consoleFolder, "manifest.json")) && manifest.lastModified >= newest()
  if (!isFresh) await buildConsole()
  return consoleFolder
}

export const sizes = { narrow: { width: 360, height: 740 }, wide: { width: 1280, height: 800 } } as const

export interface Tab {
  readonly context: BrowserContext
  readonly page: Page
  /** What the page wrote to the console as an error, such as a violation of the Content-Security-Policy. */
  readonly errors: Array<string>
}

/** A tab of a browser without cookies. */
export const openTab = async (browser: Browser, url: string): Promise<Tab> => {
  const context = await browser.newContext({
    baseURL: url,
    viewport: sizes.wide,
    colorScheme: "light",
    reducedMotion: "reduce"
  })
  const page = await context.newPage()
  const errors: Array<string> = []
  // A refused request is what some tests are about; the browser logs its status.
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) errors.push(message.text())
  })
  page.on("pageerror", (error) => errors.push(String(error)))
  return { context, page, errors }
}

const all = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

const checked = async (page: Page, runOnly: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  // Through the debugger, because the page's policy allows no inline script. Asked for itself, the browser keeps the compiled script for the
  // next page; within a function of playwright it compiles it anew each time.
  if (!(await page.evaluate(() => Reflect.has(globalThis, "axe")))) {
    const session = await page.context().newCDPSession(page)
    const { exceptionDetails } = await session.send("Runtime.evaluate", { expression: axe.source })
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text)
    // It ends with the page. Ending it here would also end the virtual authenticator of another session.
  }
  return page.evaluate(async (rules) => {
    const checker: typeof axe = Reflect.get(globalThis, "axe")
    // The rest of its report, and its own copy of the style sheets, take up to half of its time.
    const { violations } = await checker.run(document, {
      runOnly: [...rules],
      resultTypes: ["violations"],
      preload: false
    })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`)
    )
  }, runOnly)
}

/** What axe-core finds on the page against WCAG 2.2 AA: nothing, or one line for each rule and place. */
export const findings = (page: Page) => checked(page, all)
/** The same for colours alone, which is what differs between themes. */
export const contrastFindings = (page: Page) => checked(page, ["color-contrast"])
