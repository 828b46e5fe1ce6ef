/** The service behind an address that goes away and comes back, and what a command says meanwhile. */
import type { App } from "../../kit/app.ts"

export const doorway = (app: Pick<App, "url">) => {
  const refusals: Array<Response> = []
  let port = 0
  let asked = 0
  const open = () => {
    const server = Bun.serve({
      port,
      idleTimeout: 60,
      fetch: (request) => {
        asked++
        const { pathname, search } = new URL(request.url)
        return refusals.shift() ?? fetch(new Request(`${app.url}${pathname}${search}`, request), { decompress: false })
      }
    })
    port = server.port ?? 0
    return server
  }
  let server = open()
  return {
    url: server.url.href,
    asked: () => asked,
    /** Answers the next request like this. */
    refuse: (status: number, headers: Record<string, string>) => {
      refusals.push(new Response("busy", { status, headers }))
    },
    /** Closes all connections too. */
    close: () => server.stop(true),
    reopen: () => {
      server = open()
    }
  }
}

/** What a command says, as it says it. */
export const reading = (stream: ReadableStream<Uint8Array>) => {
  const decoder = new TextDecoder()
  let text = ""
  const ended = (async () => {
    for await (const part of stream) text += decoder.decode(part, { stream: true })
  })()
  return { text: () => text, ended }
}

export const lines = (text: string) => text.split("\n").slice(0, -1)
