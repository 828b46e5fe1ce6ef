/** Pictures of pages for people to look at: `CONSOLE_SCREENSHOTS=<folder>` makes the tests of the console write them there. */
import { join } from "node:path"
import type { Page } from "playwright-core"

const folder = process.env["CONSOLE_SCREENSHOTS"]

export const screenshot = async (page: Page, name: string): Promise<void> => {
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}
