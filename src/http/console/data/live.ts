/**
 * The organization's events while the page is visible, over one connection for the whole tab.
 *
 * A hidden tab closes it, because a browser opens only six connections to one host over HTTP/1.1, and other tabs need them. What happened
 * meanwhile is read anew when the tab is visible again.
 */
import { useEffect, useEffectEvent } from "react"
import { wordsOfEvents } from "../../client/operations.ts" with { type: "macro" }
import type { ReceivedEvent } from "../../client/Events.ts"
import { api, queries } from "./api.ts"
import { makeStore } from "./store.ts"

export type Connection = "off" | "connecting" | "live" | "lost"
export const connection = makeStore<Connection>("off")

const kinds = Object.keys(wordsOfEvents())
/** A busy organization changes its wallet a thousand times a second; a person reads one number. */
const refreshMillis = 1_000

export type LiveEvent = Omit<ReceivedEvent, "id">

type Listener = (event: ReceivedEvent) => void
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

const parsed = ({ data, lastEventId }: MessageEvent<string>): ReceivedEvent | null => {
  try {
    return { ...JSON.parse(data), id: lastEventId }
  } catch {
    return null
  }
}

/** Opens a stream of events. What is no event is left out. */
export const eventsAt = (address: string, onEvent: Listener): EventSource => {
  const source = new EventSource(address)
  const received = (message: MessageEvent<string>) => {
    const event = parsed(message)
    if (event !== null) onEvent(event)
  }
  for (const kind of kinds) source.addEventListener(kind, received)
  return source
}

const received = (event: ReceivedEvent) => {
  if (event.type === "wallet.changed") refreshSoon("wallet")
  if (event.type === "topup.failed") refreshSoon("topups")
  if (event.type === "budget.reached") {
    refreshSoon("guard")
    refreshSoon("keys")
  }
  for (const listener of listeners) listener(event)
}

/** A stream that the service refused is asked for again after so long. The browser itself repeats only lost connections. */
const againMillis = 5_000

/** Opens the stream, and again when it was refused. Returns what closes it. */
const follow = (): (() => void) => {
  connection.set("connecting")
  const source = eventsAt("/v1/events", received)
  let again: (() => void) | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  source.addEventListener("open", () => connection.set("live"))
  source.addEventListener("error", () => {
    connection.set("lost")
    if (source.readyState !== EventSource.CLOSED) return
    // If the session has ended, this request says so.
    void api.auth.session({}).catch(() => {})
    timer = setTimeout(() => {
      again = follow()
    }, againMillis)
  })
  return () => {
    clearTimeout(timer)
    source.close()
    again?.()
    connection.set("off")
  }
}

/** Keeps the connection. The frame calls it, once. */
export const useLiveConnection = (): void =>
  useEffect(() => {
    let close: (() => void) | null = document.visibilityState === "visible" ? follow() : null
    const changed = () => {
      if (document.visibilityState === "visible" && close === null) {
        close = follow()
        void queries.invalidateQueries({ refetchType: "active" })
      }
      if (document.visibilityState === "hidden") {
        close?.()
        close = null
      }
    }
    document.addEventListener("visibilitychange", changed)
    return () => {
      document.removeEventListener("visibilitychange", changed)
      close?.()
    }
  }, [])

/** Calls the listener that was drawn last with every event while the component is on the page. */
export const useLive = (listener: Listener): void => {
  const heard = useEffectEvent(listener)
  useEffect(() => {
    const one: Listener = (event) => heard(event)
    listeners.add(one)
    return () => {
      listeners.delete(one)
    }
  }, [])
}
