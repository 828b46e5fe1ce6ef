/**
 * Calls back at deadlines, with one timer for all of them. A timer for each of thousands of waiting clients takes more memory than the rest of the wait.
 *
 * A binary heap: adding and removing takes O(log n) steps, and O(1) when deadlines are added in their order.
 */

/** Something with a deadline. It belongs to one `Deadlines` at a time. */
export interface Due {
  /** Milliseconds on the clock of the `Deadlines`. Must not change while it is in there. */
  deadline: number
  /** Its index in the heap; -1 outside. Only `Deadlines` writes it. */
  position: number
  /** Called once at the deadline, when it has left the heap already. */
  readonly due: () => void
}

/** A timer may fire a little early. Waiting again for less than this would only spin. */
const toleranceMillis = 1
/** `setTimeout` takes no more. */
const timerMillisMax = 2 ** 31 - 1

export class Deadlines {
  private readonly heap: Array<Due> = []
  private timer: ReturnType<typeof setTimeout> | null = null
  /** When the timer fires. */
  private firesAt = Number.POSITIVE_INFINITY
  private readonly now: () => number

  /** `now` is a clock in milliseconds that never runs backwards. */
  constructor(now: () => number) {
    this.now = now
  }

  get size(): number {
    return this.heap.length
  }

  /** The deadline that is `millis` away. */
  after(millis: number): number {
    return this.now() + millis
  }

  add(entry: Due): void {
    this.place(entry, this.heap.length)
    this.up(entry)
    if (entry.deadline < this.firesAt) this.arm(entry.deadline)
  }

  /** Does nothing for an entry that is not in the heap. */
  remove(entry: Due): void {
    const { position } = entry
    if (position < 0) return
    entry.position = -1
    const last = this.heap.pop()
    if (last === undefined || last === entry) return
    this.place(last, position)
    this.up(last)
    this.down(last)
  }

  /** Stops the timer. Deadlines that are left are not called. */
  close(): void {
    if (this.timer !== null) clearTimeout(this.timer)
    this.timer = null
    this.heap.length = 0
  }

  private place(entry: Due, position: number): void {
    this.heap[position] = entry
    entry.position = position
  }

  private up(entry: Due): void {
    while (entry.position > 0) {
      const { position } = entry
      const above = (position - 1) >> 1
      const parent = this.heap[above]
      if (parent === undefined || parent.deadline <= entry.deadline) return
      this.place(parent, position)
      this.place(entry, above)
    }
  }

  private down(entry: Due): void {
    while (true) {
      const { position } = entry
      const left = this.heap[2 * position + 1]
      const right = this.heap[2 * position + 2]
      const child = right !== undefined && left !== undefined && right.deadline < left.deadline ? right : left
      if (child === undefined || child.deadline >= entry.deadline) return
      const below = child.position
      this.place(child, position)
      this.place(entry, below)
    }
  }

  /** A removed entry leaves its timer, which then waits for the next one. So few waits set a timer of their own. */
  private arm(deadline: number): void {
    if (this.timer !== null) clearTimeout(this.timer)
    this.firesAt = deadline
    const millis = Math.max(1, Math.ceil(deadline - this.now()))
    this.timer = setTimeout(() => this.fire(), Math.min(millis, timerMillisMax))
  }

  private fire(): void {
    this.timer = null
    this.firesAt = Number.POSITIVE_INFINITY
    const until = this.now() + toleranceMillis
    try {
      for (let first = this.heap[0]; first !== undefined && first.deadline <= until; first = this.heap[0]) {
        this.remove(first)
        first.due()
      }
    } finally {
      const [next] = this.heap
      if (next !== undefined && next.deadline < this.firesAt) this.arm(next.deadline)
    }
  }
}
