/**
 * Compares pictures of pages with approved ones in test/console/approved. `CONSOLE_APPROVE=1` writes those instead.
 *
 * A picture is a quarter of the page in each direction, so that edges of letters, which differ between versions of Chromium, melt away.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import pixelmatch from "pixelmatch"
import type { CDPSession, Page } from "playwright-core"
import { PNG } from "pngjs"

const approvedFolder = join(import.meta.dir, "approved")
const foundFolder = join(import.meta.dir, "../../.scratch/screens")
export const isApproving = process.env["CONSOLE_APPROVE"] === "1"

/**
 * Share of the pixels that may differ, in a wide picture and in a narrow one, which has a quarter of the pixels. Tried out: a second run
 * differs in 0.00 to 0.02 %; letters without hinting, as another version of Chromium may paint them, in 0.08 % wide and 0.45 % narrow; a
 * hidden column of one row in 0.13 % and of many rows in 2 %; another accent colour in 0.25 to 0.5 % wide and 1.2 % narrow wherever a
 * button is; tables or grids that break at 360 px in 2.7 % or in the height.
 */
const sharesMax = { wide: 0.001, narrow: 0.005 } as const
/** How different two pixels must be to count: 0 any, 1 black and white. */
const threshold = 0.1
/** Rows of the picture by which heights may differ: 4 px of the page each. */
const rowsMax = 2

/** A fourth: the browser paints half of the page's pixels, and four of those become one. */
const painted = 0.5
const halved = (big: PNG): PNG => {
  const small = new PNG({ width: big.width >> 1, height: big.height >> 1 })
  const from = big.data
  const row = big.width * 4
  for (let y = 0, to = 0; y < small.height; y++)
    for (let x = 0; x < small.width; x++)
      for (let channel = 0; channel < 4; channel++, to++) {
        const at = y * 2 * row + x * 8 + channel
        small.data[to] =
          ((from[at] ?? 0) + (from[at + 4] ?? 0) + (from[at + row] ?? 0) + (from[at + row + 4] ?? 0)) >> 2
      }
  return small
}

/** The whole page in its present size and theme. */
const taken = async (page: Page, session: CDPSession): Promise<PNG> => {
  const { width, height } = await page.evaluate(() => {
    // The sidebar stays in sight, so a page that was scrolled would have it further down.
    window.scrollTo(0, 0)
    return { width: window.innerWidth, height: document.documentElement.scrollHeight }
  })
  const { data } = await session.send("Page.captureScreenshot", {
    captureBeyondViewport: true,
    optimizeForSpeed: true,
    clip: { x: 0, y: 0, width, height, scale: painted }
  })
  return halved(PNG.sync.read(Buffer.from(data, "base64")))
}

/** Eleven levels of a colour are enough, and make the file much smaller. Without a filter it is smallest. */
const step = 25.5
const packed = (picture: PNG): Buffer => {
  const plain = new PNG({ width: picture.width, height: picture.height })
  for (let at = 0; at < picture.data.length; at++)
    plain.data[at] = Math.floor(Math.round((picture.data[at] ?? 0) / step) * step)
  return PNG.sync.write(plain, { colorType: 2, deflateLevel: 9, filterType: 0 })
}

const cropped = ({ data, width }: PNG, height: number) => data.subarray(0, width * height * 4)

const difference = (found: PNG, approved: PNG) => {
  if (found.width !== approved.width || Math.abs(found.height - approved.height) > rowsMax)
    return {
      what: `is ${found.width * 4} x ${found.height * 4} px, and the approved picture ${approved.width * 4} x ${approved.height * 4} px`
    }
  const { width } = found
  const height = Math.min(found.height, approved.height)
  const picture = new PNG({ width, height })
  const count = pixelmatch(cropped(found, height), cropped(approved, height), picture.data, width, height, {
    threshold,
    includeAA: true
  })
  const share = count / (width * height)
  return { what: `differs in ${(share * 100).toFixed(2)} % of its pixels`, share, picture }
}

const written = (name: string, picture: Buffer): string => {
  mkdirSync(foundFolder, { recursive: true })
  writeFileSync(join(foundFolder, name), picture)
  return `.scratch/screens/${name}`
}

/** What a picture of the page has that the approved one has not: null, or a sentence with where to look. */
export const unlike = async (page: Page, session: CDPSession, name: string): Promise<string | null> => {
  const found = await taken(page, session)
  const path = join(approvedFolder, `${name}.png`)
  const approve = "CONSOLE_APPROVE=1 npx bun test test/slow/console/screens.test.ts"
  if (isApproving) {
    const picture = packed(found)
    // Twice the same, because nothing else says that all has arrived.
    const isSame = existsSync(path) && readFileSync(path).equals(picture)
    mkdirSync(approvedFolder, { recursive: true })
    if (!isSame) writeFileSync(path, picture)
    return isSame ? null : `${name}: the page did not stand still.`
  }
  if (!existsSync(path)) return `${name}: no picture is approved. ${approve} approves one.`
  const { what, share = 1, picture } = difference(found, PNG.sync.read(readFileSync(path)))
  if (share <= sharesMax[name.endsWith("-narrow") ? "narrow" : "wide"]) return null
  const marks =
    picture === undefined ? "" : `, the difference in ${written(`${name}-difference.png`, PNG.sync.write(picture))}`
  const place = written(`${name}.png`, PNG.sync.write(found))
  return `${name}: ${what}. The new picture is in ${place}${marks}. If it looks right, ${approve} approves it.`
}
