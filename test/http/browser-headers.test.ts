/** What answers tell a browser, so that it stays on https and shows no page of the service in a frame. */
import { describe, expect, test } from "bun:test"
import { type App, withApp } from "../kit/app.ts"

const paths = ["/", "/livez", "/nothing", "/v1/wallet", "/v1/run", "/v1/runs/run_none?wait=1", "/mcp", "/docs", "/%"]
const pages = [
  "/status",
  "/top-up/success",
  "/top-up/cancelled",
  "/forgot-password",
  "/invitation?token=x",
  "/join/NOSUCHCODE",
  "/problems/not_found"
]

const headersOf = async (app: App, path: string, method = "GET") =>
  (await fetch(`${app.url}${path}`, { method, headers: { accept: "text/html" }, redirect: "manual" })).headers

describe("a service with an https address", () => {
  const app = withApp({ settings: { RUNGATE_PUBLIC_URL: "https://rungate.example.com", RUNGATE_STATUS_PAGE: "on" } })

  test("tells browsers to use https only, in every answer", async () => {
    for (const path of [...paths, ...pages])
      for (const method of ["GET", "POST"])
        expect([path, (await headersOf(app, path, method)).get("strict-transport-security")]).toEqual([
          path,
          "max-age=31536000"
        ])
  })

  test("lets no site show its pages in a frame", async () => {
    for (const path of pages) {
      const headers = await headersOf(app, path)
      expect([path, headers.get("content-type")]).toEqual([path, "text/html; charset=utf-8"])
      expect([path, headers.get("content-security-policy")]).toEqual([
        path,
        expect.stringContaining("frame-ancestors 'none'")
      ])
    }
  })
})

describe("a service without an https address", () => {
  const app = withApp({})

  test("does not, because other programs of the host may have none", async () => {
    for (const path of paths) expect((await headersOf(app, path)).get("strict-transport-security")).toBeNull()
  })
})
