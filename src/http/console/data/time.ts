/** Times in words, relative to now, and exact ones for whoever points at them. */
import { makeStore, useStore } from "./store.ts"

const minute = 60
const hour = 60 * minute
const day = 24 * hour

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" })

/** Such as "2 minutes ago" or "in 3 days". Both are milliseconds since 1970. */
export const inWords = (millis: number, now: number): string => {
  const seconds = Math.round((millis - now) / 1_000)
  const size = Math.abs(seconds)
  if (size < 5) return seconds > 0 ? "now" : "just now"
  if (size < minute) return relative.format(seconds, "second")
  if (size < hour) return relative.format(Math.round(seconds / minute), "minute")
  if (size < day) return relative.format(Math.round(seconds / hour), "hour")
  if (size < 30 * day) return relative.format(Math.round(seconds / day), "day")
  return new Date(millis).toISOString().slice(0, 10)
}

const shortUnits: ReadonlyArray<readonly [number, string]> = [
  [day, "d"],
  [hour, "h"],
  [minute, "min"],
  [1, "s"]
]

/** For tables: "3 min", "2 h", "5 d". */
export const inShort = (millis: number, now: number): string => {
  const seconds = Math.max(0, Math.round((now - millis) / 1_000))
  if (seconds < 1) return "now"
  if (seconds >= 30 * day) return new Date(millis).toISOString().slice(0, 10)
  const [size, unit] = shortUnits.find(([length]) => seconds >= length) ?? [1, "s"]
  return `${Math.floor(seconds / size)} ${unit}`
}

/** One for all times: making one takes forty times as long as using it, and every row of a list has a time. */
const local = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" })

/** The exact time in the person's zone and in UTC. */
export const exactly = (iso: string): string => {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return iso
  return `${local.format(date)}\n${date.toISOString()}`
}

export const duration = (millis: number): string => {
  if (millis < 1_000) return `${millis} ms`
  if (millis < 60_000) return `${(millis / 1_000).toFixed(millis < 10_000 ? 2 : 1)} s`
  return `${Math.floor(millis / 60_000)} min ${Math.round((millis % 60_000) / 1_000)} s`
}

const dayForm = (timeZone: string) => new Intl.DateTimeFormat("en-CA", { timeZone, dateStyle: "short" })

/** Today in a time zone. */
export const zoneDay = (zone: string, now: number): string => dayForm(zone).format(now)

/** A day of UTC, so many days before now. */
export const utcDay = (now: number, daysBefore = 0): string =>
  new Date(now - daysBefore * day * 1_000).toISOString().slice(0, 10)

const stepMillis = 10_000

const now = makeStore(new Date().getTime())
const step = () => {
  if (document.visibilityState === "visible") now.set(new Date().getTime())
}
if (typeof document !== "undefined") {
  setInterval(step, stepMillis)
  document.addEventListener("visibilitychange", step)
}

/** Milliseconds since 1970. */
export const useNow = (): number => useStore(now)
export const present = (): number => new Date().getTime()
