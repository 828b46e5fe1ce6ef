/**
 * The organization's events while the page is visible, over one connection for the whole tab.
 *
 * A hidden tab closes it, because a browser opens only six connections to one host over HTTP/1.1, and other tabs need them. What happened
 * meanwhile is read anew when the tab is visible again.
 */
import { useEffect } from "react"
import { queries } from "./api.ts"
import { makeStore } from "./store.ts"

export interface LiveEvent {
  readonly type: string
  readonly timestamp: string
  readonly data: Readonly<Record<string, unknown>>
}

export type Connection = "off" | "connecting" | "live" | "lost"
export const connection = makeStore<Connection>("off")

const kinds = [
  "run.created",
  "run.started",
  "run.attempt",
  "run.finished",
  "wallet.changed",
  "wallet.low",
  "budget.reached",
  "topup.failed"
]
/** A busy organization changes its wallet a thousand times a second; a person reads one number. */
const refreshMillis = 1_000

type Listener = (event: LiveEvent) => void
const listeners = new Set<Listener>()

const due = new Map<string, ReturnType<typeof setTimeout>>()
/** Reads what is under this key again, once within a second. */
export const refreshSoon = (key: string): void => {
  if (due.has(key)) return
  due.set(
    key,
    setTimeout(() => {
      due.delete(key)
      void queries.invalidateQueries({ queryKey: [key] })
    }, refreshMillis)
  )
}

const parsed = (text: string): LiveEvent | null => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const received = (message: MessageEvent<string>) => {
  const event = parsed(message.data)
  if (event === null) return
  if (event.type === "wallet.changed") refreshSoon("wallet")
  if (event.type === "topup.failed") refreshSoon("topups")
  for (const listener of listeners) listener(event)
}

const open = (): EventSource => {
  connection.set("connecting")
  const source = new EventSource("/v1/events")
  source.addEventListener("open", () => connection.set("live"))
  // The browser connects again by itself, and continues after the last event.
  source.addEventListener("error", () => connection.set("lost"))
  for (const kind of kinds) source.addEventListener(kind, received)
  return source
}

/** Keeps the connection. The frame calls it, once. */
export const useLiveConnection = (): void =>
  useEffect(() => {
    let source: EventSource | null = null
    const follow = () => {
      if (document.visibilityState === "visible" && source === null) {
        source = open()
        void queries.invalidateQueries({ refetchType: "active" })
      }
      if (document.visibilityState === "hidden" && source !== null) {
        source.close()
        source = null
        connection.set("off")
      }
    }
    source = document.visibilityState === "visible" ? open() : null
    document.addEventListener("visibilitychange", follow)
    return () => {
      document.removeEventListener("visibilitychange", follow)
      source?.close()
      connection.set("off")
    }
  }, [])

/** Calls the listener with every event while the component is on the page. */
export const useLive = (listener: Listener): void =>
  useEffect(() => {
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
    }
  }, [listener])
