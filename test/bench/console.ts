/**
 * Measures the web console: `bun run bench:console`. It needs a Chromium (test/console/browser.ts).
 *
 * How long a clone's first start builds it, how large the first load is, how soon a page is usable, and how 100,000 runs scroll. The rows
 * come from this process in place of the API, so that only the page is measured.
 */
import { readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import type { Page, Route } from "playwright-core"
import { startApp, verify } from "../kit/app.ts"
import { hasBrowser, openBrowser, type Tab } from "../console/browser.ts"
import { visit } from "../console/visits.ts"
import { consoleFolder } from "../../scripts/console.ts"

if (!hasBrowser) process.exit(1)

const root = join(import.meta.dir, "..", "..")
const rows = 100_000
const rounds = 5
/** A frame that takes longer is seen as a stutter. */
const slowMillis = 50

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
const print = (what: string, value: unknown) => console.log(JSON.stringify({ bench: "console", what, value }))

const timedBuild = () => {
  rmSync(consoleFolder, { recursive: true, force: true })
  const began = performance.now()
  const { exitCode, resourceUsage } = Bun.spawnSync([process.execPath, "scripts/console.ts"], { cwd: root })
  if (exitCode !== 0) throw new Error("the console can't be built")
  const cpu = Math.round(Number(resourceUsage?.cpuTime.total ?? 0) / 1_000)
  return { ms: Math.round(performance.now() - began), cpu_ms: cpu }
}
print("build", Array.from({ length: 3 }, timedBuild))

const app = await startApp()
const browser = await openBrowser()

const first: ReadonlyArray<string> = JSON.parse(readFileSync(join(consoleFolder, "manifest.json"), "utf8")).first
const sizes = first.map((name) => readFileSync(join(consoleFolder, `${name}.br`)).byteLength)
print("first_load_bytes", { files: first.length, brotli: sizes.reduce((sum, one) => sum + one, 0) })

/** Until the heading and the data are there and the page answers a key. Looks in each frame: a locator looks only every 500 ms after some tries. */
const usable = async ({ page }: Tab, path: string, heading: string) => {
  const began = performance.now()
  await page.goto(path, { waitUntil: "commit" })
  await page.waitForFunction(
    (heading) =>
      document.querySelector("main h1")?.textContent === heading && document.querySelector(".skeleton") === null,
    heading
  )
  await page.keyboard.press("?")
  await page.waitForFunction(() => document.querySelector("dialog[open]")?.textContent?.includes("Keyboard shortcuts"))
  return Math.round(performance.now() - began)
}

const person = await visit(app, browser, "bench@example.com")
const { body: run } = await app.call(person.key, "POST", "/v1/run", { body: verify() })
const cache = await person.context.newCDPSession(person.page)
for (const [path, heading] of [
  ["/", "Home"],
  ["/activity", "Activity"],
  [`/runs/${run.run_id}`, "email.verify"]
] as const) {
  const times: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    // A browser that has nothing of the console yet.
    await cache.send("Network.clearBrowserCache")
    await person.page.goto("about:blank")
    times.push(await usable(person, path, heading))
  }
  print("usable_ms", { path, median: median(times), all: times })
}

/** Rows in an answer of the API, and in one that shortens the reading where only the scrolling is measured. */
const apiRows = 200
const pageRows = 2_000
/** So long the list is read with answers of the API's size. */
const readMillis = 30_000
/** A page of the list, made of one real run. The cursor is the place in the list. */
const list = JSON.parse(await (await person.context.request.get("/v1/runs?limit=1")).text())
const answerWith = (pageRows: number) => (route: Route) => {
  const query = new URL(route.request().url()).searchParams
  const at = Number(query.get("cursor") ?? 0)
  const items = Array.from({ length: Math.min(pageRows, rows - at) }, (_, n) => ({
    ...list.items[0],
    run_id: `run_${String(at + n).padStart(26, "0")}`
  }))
  return route.fulfill({ json: { items, next_cursor: at + pageRows < rows ? String(at + pageRows) : null } })
}

/** How many rows somebody gets who scrolls to the end again and again. */
const readWithApiRows = async (page: Page) => {
  const isList = (url: URL) => url.pathname === "/v1/runs"
  await page.route(isList, answerWith(apiRows))
  await page.goto("/activity")
  await page.getByRole("row").nth(20).waitFor()
  const height = await page.evaluate(async (millis) => {
    const until = performance.now() + millis
    while (performance.now() < until) {
      scrollTo(0, document.documentElement.scrollHeight)
      await new Promise((resolve) => requestAnimationFrame(resolve))
    }
    return document.documentElement.scrollHeight
  }, readMillis)
  await page.unroute(isList)
  return Math.round(height / 36)
}
const read200 = await readWithApiRows(person.page)
print("read_200", { rows: read200, per_second: Math.round(read200 / (readMillis / 1_000)) })

/** Scrolls to the end until all rows are there, and counts frames. */
const scrolled = async (page: Page) => {
  await page.route((url) => url.pathname === "/v1/runs", answerWith(pageRows))
  await page.goto("/activity")
  await page.getByRole("row").nth(20).waitFor()
  return page.evaluate(async (count) => {
    const frames: Array<number> = []
    const next = () => new Promise<number>((resolve) => requestAnimationFrame(resolve))
    let last = await next()
    const step = async (to: number) => {
      scrollTo(0, to)
      const now = await next()
      frames.push(now - last)
      last = now
    }
    const began = last
    const height = () => document.documentElement.scrollHeight
    // Reading: as fast as the next rows come.
    while (height() < count * 36) await step(height())
    const read = { millis: Math.round(last - began), frames: frames.splice(0) }
    // Then the whole list, a screen for each frame and back in long jumps.
    for (let at = 0; at < 1_000; at++) await step(at * 720)
    for (let at = 0; at < 300; at++) await step(((at * 7_919) % 100_000) * 36)
    return { read, scroll: frames, inPage: document.querySelectorAll("[role=row]").length }
  }, rows)
}
const { read, scroll, inPage } = await scrolled(person.page)
const frames = (all: ReadonlyArray<number>) => ({
  frames: all.length,
  over_50_ms: all.filter((millis) => millis > slowMillis).length,
  p50_ms: Math.round(median(all)),
  worst_ms: Math.round(Math.max(...all))
})
print("rows", {
  rows,
  in_page: inPage,
  while_reading: { ms: read.millis, ...frames(read.frames) },
  scrolling: frames(scroll)
})

await browser.close()
await app.stop()
process.exit(0)
