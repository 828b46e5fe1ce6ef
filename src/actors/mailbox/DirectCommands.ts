/**
 * Hands commands of this process to its own turns, so that they need not be stored in the mailbox first.
 *
 * It works only while this process takes the lane's turns. A command that no turn took is not applied: its sender stores it in the
 * mailbox, which is always safe, because a turn applies the same command a second time without effect.
 */
import { Context, Effect, Layer } from "effect"
import type { DirectCommand } from "../../layers/ledger/DirectCommands.ts"

/** A command that waits for a turn of its lane. `resume` gets the turn's time, or null when the command was not applied. */
export interface Offered {
  readonly command: DirectCommand
  readonly resume: (at: Date | null) => void
}

/** Direct commands in one turn: about what a turn takes from the mailbox. */
const directMax = 250
/** How long commands wait for the lane to come back after this process has let others have it, in milliseconds. */
const regainMillis = 15
/** Remembered lanes of organizations. */
const lanesMax = 100_000

interface LaneCommands {
  /** Wakes the process's turns of the lane. Null when this process does not take them. */
  notify: (() => void) | null
  offered: Array<Offered>
  /** Set while commands wait for the lane to come back. */
  regain: ReturnType<typeof setTimeout> | null
}

export class DirectCommands extends Context.Service<
  DirectCommands,
  {
    /**
     * Waits until a turn of this process has applied the command, and returns the time of its commit. Null when it was not applied,
     * or when its outcome is unknown: then store it in the mailbox.
     */
    readonly apply: (command: DirectCommand) => Effect.Effect<Date | null>
    /** Records an organization's lane. It changes only when the number of lanes grows; the old lane's turns then reject the command. */
    readonly learn: (org_id: string, lane: number) => void
    /** Call when this process begins to take turns of the lane. `notify` is called for each new command. */
    readonly open: (lane: number, notify: () => void) => void
    /** Call when this process stops taking turns of the lane. `returning` is true when it has asked for further turns. */
    readonly pause: (lane: number, returning: boolean) => void
    /** Takes the oldest commands of a lane for a turn, which must resume each. */
    readonly take: (lane: number) => ReadonlyArray<Offered>
    readonly waiting: (lane: number) => boolean
  }
>()("rungate/actors/mailbox/DirectCommands") {
  static readonly layer = Layer.sync(DirectCommands, () => {
    const laneOf = new Map<string, number>()
    const commands = new Map<number, LaneCommands>()
    const of = (lane: number): LaneCommands => {
      const existing = commands.get(lane)
      if (existing !== undefined) return existing
      const created: LaneCommands = { notify: null, offered: [], regain: null }
      commands.set(lane, created)
      return created
    }
    const stopRegain = (state: LaneCommands) => {
      if (state.regain !== null) clearTimeout(state.regain)
      state.regain = null
    }
    const reject = (state: LaneCommands) => {
      const { offered } = state
      state.offered = []
      for (const { resume } of offered) resume(null)
    }

    return DirectCommands.of({
      apply: (command) =>
        Effect.suspend(() => {
          const lane = laneOf.get(command.run.org_id)
          const state = lane === undefined ? undefined : of(lane)
          if (state === undefined || (state.notify === null && state.regain === null)) return Effect.succeed(null)
          return Effect.callback<Date | null>((resume) => {
            state.offered.push({ command, resume: (at) => resume(Effect.succeed(at)) })
            state.notify?.()
          })
        }),
      learn: (org_id, lane) => {
        if (laneOf.size >= lanesMax) laneOf.clear()
        laneOf.set(org_id, lane)
      },
      open: (lane, notify) => {
        const state = of(lane)
        stopRegain(state)
        state.notify = notify
      },
      pause: (lane, returning) => {
        const state = of(lane)
        stopRegain(state)
        state.notify = null
        if (!returning) return reject(state)
        state.regain = setTimeout(() => {
          state.regain = null
          reject(state)
        }, regainMillis)
      },
      take: (lane) => of(lane).offered.splice(0, directMax),
      waiting: (lane) => of(lane).offered.length > 0
    })
  })
}
