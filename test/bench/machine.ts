/** What a process tree cost: CPU seconds and memory, read from /proc. */
import { readdirSync, readFileSync } from "node:fs"

const ticks = 100

interface Stat {
  readonly ppid: number
  readonly cpu: number
  /** CPU of children that have ended. */
  readonly ended: number
}

const statOf = (pid: number): Stat | null => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8")
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
    const at = (index: number) => Number(fields[index])
    return { ppid: at(1), cpu: (at(11) + at(12)) / ticks, ended: (at(13) + at(14)) / ticks }
  } catch {
    return null
  }
}

/** These processes and their living descendants. */
const treesOf = (roots: ReadonlyArray<number>): ReadonlyArray<readonly [pid: number, stat: Stat]> => {
  const stats = new Map<number, Stat>()
  for (const name of readdirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : null
    if (stat !== null) stats.set(Number(name), stat)
  }
  return [...stats].filter(([pid]) => {
    let ancestor: number | undefined = pid
    while (ancestor !== undefined && ancestor > 1 && !roots.includes(ancestor)) ancestor = stats.get(ancestor)?.ppid
    return ancestor !== undefined && roots.includes(ancestor)
  })
}

/** CPU seconds of a process, its living descendants and its dead children. */
export const cpuSeconds = (roots: ReadonlyArray<number>): number =>
  treesOf(roots).reduce((total, [, { cpu, ended }]) => total + cpu + ended, 0)

/** Memory of a process and its living descendants. What several of them share counts once, such as PostgreSQL's buffers. */
export const treeMb = (roots: ReadonlyArray<number>): number => {
  let kb = 0
  for (const [pid] of treesOf(roots)) {
    try {
      kb += Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0)
    } catch {
      // It has ended.
    }
  }
  return Math.round(kb / 1024)
}

/** Microseconds of CPU that the first threads of these processes have spent. More exact than clock ticks; JavaScript runs in that thread. */
export const threadMicros = (pids: ReadonlyArray<number>): number => {
  let total = 0
  for (const pid of pids) {
    try {
      total += Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1000
    } catch {
      // It has ended.
    }
  }
  return total
}

export const rssMb = (pid: number): number => {
  try {
    const line = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
    return Math.round(Number(line ?? 0) / 1024)
  } catch {
    return 0
  }
}

export const peakRssMb = (pid: number): number => {
  const line = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
  return Math.round(Number(line ?? 0) / 1024)
}

/** CPU seconds that all programs of this machine have spent, over all cores. */
export const busySeconds = (): number => {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = (
    readFileSync("/proc/stat", "utf8").split("\n")[0] ?? ""
  )
    .split(/\s+/)
    .map(Number)
  return (user + nice + system + irq + softirq) / ticks
}
