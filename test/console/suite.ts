/** What files of tests in a browser begin and end with: a built console, a service of their own, and a browser. */
import { afterAll, beforeAll } from "bun:test"
import type { Browser } from "playwright-core"
import { type App, type Options, startApp } from "../kit/app.ts"
import { builtConsole, openBrowser } from "./browser.ts"

interface Opened {
  readonly app: App
  readonly browser: Browser
}

/** Call it first in `describe`. `use` gets the service and the browser before the first test; both are closed after the last. */
export const withConsole = (use: (opened: Opened) => void, options?: Options): void => {
  let opened: Opened | null = null
  beforeAll(async () => {
    await builtConsole()
    opened = { app: await startApp(options), browser: await openBrowser() }
    use(opened)
  })
  afterAll(async () => {
    await opened?.browser.close()
    await opened?.app.stop()
  })
}
