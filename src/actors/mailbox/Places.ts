/**
 * The waits of a process, by the id of the run or command whose end they wait for.
 *
 * Thousands of clients may wait in one process, so a wait is one object with one callback, and no timer of its own.
 */
import type { EndedRun } from "../../layers/ledger/Turn.ts"
import type { MicroUsd } from "../../schema/money/Money.ts"
import { Deadlines, type Due } from "./Deadlines.ts"

/** The end of a run that this process committed itself, so its waiter need not read it from the database. */
export interface CommittedEnd {
  readonly ending: EndedRun
  readonly finished_at: Date
  /** What its organization could spend after that commit. */
  readonly available: MicroUsd | null
  /** JSON text; null when the run has no result. */
  readonly result: string | null
}

/** Called once at the end of a wait. `signalled` is false when the wait ended without the signal. */
type Ended = (signalled: boolean, end: CommittedEnd | undefined) => void

/** A wait, from before the command is stored until its end. Only one id at a time. */
export interface Place {
  /** Registers for an id, so that no signal is missed from now on. Leaves the id for which it was registered before. */
  readonly at: (id: string) => void
  /** Calls `ended` at the signal, or after `millis`, or when the process stops; at once if the signal has arrived already. Releases the place before it. */
  readonly wait: (millis: number, ended: Ended) => void
  /** Ends the wait without a call. Does nothing for a place that is released already. */
  readonly release: () => void
}

/** What is known of an id that somebody waits for. */
interface Watched {
  readonly id: string
  readonly since: number
  done: boolean
  /** The result that this process's worker reported, until a turn commits it. */
  result: { readonly lease_token: string; readonly text: string } | undefined
  end: CommittedEnd | undefined
  /** The places that are registered for the id. */
  count: number
  /** The first of the places that wait. */
  first: Waiting | null
}

class Waiting implements Place, Due {
  deadline = 0
  position = -1
  private readonly places: Places
  private watched: Watched | null = null
  private ended: Ended | null = null
  // The neighbours in the list of the id. One run may have thousands of waiters, and each may leave at any time.
  next: Waiting | null = null
  private previous: Waiting | null = null

  constructor(places: Places) {
    this.places = places
  }

  at(id: string): void {
    this.release()
    this.watched = this.places.enter(id)
  }

  wait(millis: number, ended: Ended): void {
    const { watched } = this
    if (watched === null) throw new Error("a place that is registered nowhere can't wait")
    if (watched.done || this.places.closed) return this.finish(ended, watched.done)
    this.ended = ended
    this.next = watched.first
    if (watched.first !== null) watched.first.previous = this
    watched.first = this
    this.deadline = this.places.deadlines.after(millis)
    this.places.deadlines.add(this)
  }

  due(): void {
    this.wake(false)
  }

  wake(signalled: boolean): void {
    if (this.ended !== null) this.finish(this.ended, signalled)
  }

  release(): void {
    const { watched } = this
    if (watched === null) return
    if (this.ended !== null) {
      if (this.previous === null) watched.first = this.next
      else this.previous.next = this.next
      if (this.next !== null) this.next.previous = this.previous
      this.next = null
      this.previous = null
      this.ended = null
      this.places.deadlines.remove(this)
    }
    this.watched = null
    this.places.leave(watched)
  }

  private finish(ended: Ended, signalled: boolean): void {
    const end = signalled ? this.watched?.end : undefined
    this.release()
    ended(signalled, end)
  }
}

export class Places {
  readonly deadlines: Deadlines
  closed = false
  private readonly now: () => number
  private readonly byId = new Map<string, Watched>()

  /** `now` is a clock in milliseconds that never runs backwards. */
  constructor(now: () => number) {
    this.now = now
    this.deadlines = new Deadlines(now)
  }

  /** The number of ids for which somebody has a place. */
  get watched(): number {
    return this.byId.size
  }

  place(): Place {
    return new Waiting(this)
  }

  enter(id: string): Watched {
    const existing = this.byId.get(id)
    if (existing !== undefined) {
      existing.count += 1
      return existing
    }
    const entry: Watched = {
      id,
      since: this.now(),
      done: false,
      result: undefined,
      end: undefined,
      count: 1,
      first: null
    }
    this.byId.set(id, entry)
    return entry
  }

  leave(entry: Watched): void {
    entry.count -= 1
    if (entry.count === 0 && this.byId.get(entry.id) === entry) this.byId.delete(entry.id)
  }

  signal(ids: Iterable<string>): void {
    for (const id of ids) {
      const entry = this.byId.get(id)
      if (entry === undefined) continue
      entry.done = true
      this.wakeAll(entry, true)
    }
  }

  /**
   * The ids for which somebody has waited for longer than `millis`. A place that is only registered does not count: its command may not
   * be stored yet, and the poll would take a run that is being admitted for a final one.
   */
  waitingFor(millis: number): ReadonlyArray<string> {
    const now = this.now()
    return [...this.byId.values()].flatMap(({ id, since, first }) =>
      first !== null && now - since > millis ? [id] : []
    )
  }

  keepResult(run_id: string, lease_token: string, text: string): void {
    const entry = this.byId.get(run_id)
    if (entry !== undefined) entry.result = { lease_token, text }
  }

  keepEnd(ending: EndedRun, finished_at: Date, available: MicroUsd | null): void {
    const entry = this.byId.get(ending.run_id)
    if (entry === undefined) return
    // Another process has the result of a run that was delivered there, so the waiter reads it from the database.
    const result = entry.result?.lease_token === ending.lease_token ? entry.result.text : null
    const isDelivered = ending.status === "succeeded" || (ending.charged ?? 0n) > 0n
    if (isDelivered && result === null) return
    entry.end = { ending, finished_at, available, result: isDelivered ? result : null }
  }

  /** Ends every wait now, as if its deadline had passed, and every later one at once. */
  endAll(): void {
    this.closed = true
    for (const entry of [...this.byId.values()]) this.wakeAll(entry, false)
  }

  /** Stops the timer. */
  stop(): void {
    this.deadlines.close()
  }

  private wakeAll(entry: Watched, signalled: boolean): void {
    for (let place = entry.first; place !== null; place = entry.first) place.wake(signalled)
  }
}
