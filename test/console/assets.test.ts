/** The console's files over real HTTP: who gets the page, with which headers, how large, and how fast. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { pages } from "../../src/http/console/pages.ts"
import { type App, startApp } from "../kit/app.ts"
import { testMillis } from "../kit/slowness.ts"
import { builtConsole } from "./browser.ts"

// The console is built first if its sources changed, which takes long on a busy machine.
setDefaultTimeout(3 * testMillis)

const docs = join(import.meta.dir, "..", "..", "docs")

let app: App
let first: ReadonlyArray<string>
beforeAll(async () => {
  const folder = await builtConsole()
  first = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")).first
  app = await startApp()
})
afterAll(() => app.stop())

const asBrowser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" }
/** The bytes as they come over the network. */
const raw = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(`${app.url}${path}`, { method, headers, decompress: false, redirect: "manual" })

describe("the console's page", () => {
  test("answers browsers at every address of the console", async () => {
    for (const { path } of pages) {
      const response = await raw(path.replace(/\$[a-z_]*/g, "some-id"), asBrowser)
      expect([path, response.status, response.headers.get("content-type")]).toEqual([
        path,
        200,
        "text/html; charset=utf-8"
      ])
    }
  })

  test("leaves programs and the service's other addresses as they were", async () => {
    const short = await (await raw("/", { accept: "*/*" })).text()
    expect(short).toContain("Get an API key")
    for (const path of ["/docs/api", "/v1/wallet", "/v1/no-such-path", "/livez"]) {
      const [asked, without] = await Promise.all([raw(path, asBrowser), raw(path)])
      expect([path, asked.status]).toEqual([path, without.status])
      expect([path, (await asked.text()).includes('<div id="root">')]).toEqual([path, false])
    }
    // The pages behind links in e-mails work without JavaScript too, and their forms go to the service.
    const form = await (await raw("/reset-password?token=x", { accept: "*/*" })).text()
    expect(form).toContain('<form method="post">')
    expect(await (await raw("/reset-password", { ...asBrowser }, "POST")).text()).not.toContain('<div id="root">')
    expect((await raw("/activity", { ...asBrowser }, "POST")).status).toBe(404)
  })

  test("says at a wrong address that there is no page, and to programs in JSON", async () => {
    for (const path of ["/no-such-page", "/settings", "/docs/no-such-page", "/settings?etag"]) {
      const headers = path.endsWith("etag") ? { ...asBrowser, "if-none-match": "*" } : asBrowser
      const asked = await raw(path, headers)
      expect([path, asked.status]).toEqual([path, 404])
      expect(await asked.text()).toContain('<div id="root">')
      expect([asked.headers.get("x-frame-options"), asked.headers.get("cache-control")]).toEqual(["DENY", "no-cache"])
      const program = await raw(path, { accept: "*/*" })
      expect([program.status, (await program.json()).error.code]).toEqual([404, "not_found"])
    }
  })

  test("forbids inline scripts, other origins and frames", async () => {
    const { headers } = await raw("/", asBrowser)
    const policy = headers.get("content-security-policy") ?? ""
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'"
    ])
      expect(policy).toContain(part)
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(headers.get("x-content-type-options")).toBe("nosniff")
    expect(headers.get("referrer-policy")).toBe("no-referrer")
    const html = await (await fetch(app.url, { headers: asBrowser })).text()
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=")|<style|\sstyle=|\son[a-z]+=/)
    expect(html).not.toMatch(/(src|href)="(https?:)?\/\//)
  })
})

describe("the docs", () => {
  test("are pages for browsers, with the console's policy, and Markdown for programs", async () => {
    const text = await (await raw("/docs", asBrowser)).text()
    const paths = [...new Set(Array.from(text.matchAll(/href="(\/docs\/[^"#]+)"/g), ([, path = ""]) => path))]
    const files = readdirSync(docs).filter((name) => name.endsWith(".md"))
    // The reference is among them.
    expect(paths).toHaveLength(files.length + 1)
    paths.push("/docs/decisions/runs")
    const policy = (await raw("/", asBrowser)).headers.get("content-security-policy")
    for (const path of ["/docs", ...paths.filter((one) => one !== "/docs/api")]) {
      const page = await raw(path, { ...asBrowser, "accept-encoding": "br" })
      expect([path, page.status, page.headers.get("content-encoding")]).toEqual([path, 200, "br"])
      expect(page.headers.get("content-security-policy")).toBe(policy)
      const html = brotliDecompressSync(await page.arrayBuffer()).toString()
      expect(html).not.toMatch(/<script(?![^>]*\bsrc=")|<style|\sstyle=|\son[a-z]+=/)
      const links = Array.from(html.matchAll(/<(?:link|script)[^>]+(?:href|src)="([^"]+)"/g), ([, link = ""]) => link)
      for (const link of links) expect([path, link, (await raw(link)).status]).toEqual([path, link, 200])
    }
    const list = await raw("/docs", { accept: "*/*" })
    expect([list.headers.get("content-type"), await list.text()]).toEqual([
      "text/plain; charset=utf-8",
      await (await raw("/llms.txt")).text()
    ])
    const page = await raw("/docs/quickstart", { accept: "*/*" })
    expect(await page.text()).toBe(readFileSync(join(docs, "quickstart.md"), "utf8"))
  })
})

describe("the console's files", () => {
  test("the first page loads at most 200 kB", async () => {
    let bytes = 0
    for (const name of first) {
      const path = name === "shell.html" ? "/" : `/console/${name}`
      const response = await raw(path, { ...asBrowser, "accept-encoding": "gzip, br" })
      expect([path, response.status, response.headers.get("content-encoding")]).toEqual([path, 200, "br"])
      bytes += (await response.arrayBuffer()).byteLength
    }
    expect(bytes).toBeGreaterThan(20_000)
    expect(bytes).toBeLessThan(200_000)
  })

  test("come in the encoding that the client takes, and may be kept for ever", async () => {
    const path = `/console/${first.find((name) => name.endsWith(".css"))}`
    const plain = await raw(path, { "accept-encoding": "identity" })
    const text = await plain.text()
    expect(plain.headers.get("content-encoding")).toBeNull()
    expect(plain.headers.get("cache-control")).toBe("public, max-age=31536000, immutable")
    expect(plain.headers.get("vary")).toBe("accept-encoding")
    const gzip = await raw(path, { "accept-encoding": "gzip, br;q=0" })
    expect(gzip.headers.get("content-encoding")).toBe("gzip")
    expect(gunzipSync(await gzip.arrayBuffer()).toString()).toBe(text)
    const brotli = await raw(path, { "accept-encoding": "br" })
    expect(brotliDecompressSync(await brotli.arrayBuffer()).toString()).toBe(text)
  })

  test("have an ETag, and answer HEAD", async () => {
    const page = await raw("/", asBrowser)
    const etag = page.headers.get("etag") ?? ""
    expect(page.headers.get("cache-control")).toBe("no-cache")
    expect((await raw("/", { ...asBrowser, "if-none-match": etag })).status).toBe(304)
    expect((await raw("/", { ...asBrowser, "if-none-match": '"other"' })).status).toBe(200)
    const head = await raw("/", asBrowser, "HEAD")
    expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([
      200,
      page.headers.get("content-length"),
      ""
    ])
  })

  test("no name leads out of their folder", async () => {
    for (const path of [
      "/console/",
      "/console/manifest.json",
      "/console/shell.html",
      "/console/../package.json",
      "/console/%2e%2e/package.json",
      "/console/x.js"
    ])
      expect([path, (await raw(path)).status]).toEqual([path, 404])
  })

  test("a thousand requests are answered from memory", async () => {
    const path = `/console/${first.find((name) => name.startsWith("main-"))}`
    const began = performance.now()
    for (let round = 0; round < 10; round++)
      await Promise.all(
        Array.from({ length: 100 }, async () => (await raw(path, { "accept-encoding": "br" })).arrayBuffer())
      )
    // Each is 130 kB over loopback. The limit is far above what it takes, and far below what reading and compressing would.
    expect(performance.now() - began).toBeLessThan(10_000)
  })
})
