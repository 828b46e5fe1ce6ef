/**
 * The operator's account at LeadMagic during a soak: few credits, which the service reads, and more of them now and then.
 *
 * The provider counts for itself (`Account` in chaos/meter.ts). So a hit that nothing is left for was a call that the service should not
 * have made. When all runs have ended, nothing is reserved, and the service knows what is left.
 */
import { until } from "../chaos/processes.ts"
import type { World } from "../chaos/world.ts"
import type { Random } from "./plan.ts"

/** At first. Few enough that each call reserves its credit, and enough until every process has read the account. */
export const creditsAtFirst = 30
/** The most that is bought at once. */
const boughtMax = 20
/** A reading that died with its worker is made again after two minutes, and a reservation of a lost run ends within one. */
const settledMillisMax = 240_000
const readSoonEvery = 20

export class Credits {
  readonly counts = { credits_bought: 0 }
  private readonly world: World

  constructor(world: World) {
    this.world = world
  }

  /** As `rungate admin credits refresh`. */
  private async read(): Promise<void> {
    await this.world
      .query("UPDATE provider_credits SET next_read_at = now() WHERE provider = 'leadmagic'")
      .catch(() => {})
  }

  /** Buys credits when none are left, and has the account read, whether or not a reading is under way. */
  async act(random: Random): Promise<void> {
    const { account } = this.world.meter
    const bought = 1 + Math.floor(boughtMax * random())
    if (account !== null && account.left <= 0) {
      account.left = bought
      this.counts.credits_bought += bought
    }
    await this.read()
  }

  wrong(): ReadonlyArray<string> {
    const { overspent = 0 } = this.world.meter.account ?? {}
    return overspent === 0 ? [] : [`${overspent} calls of LeadMagic had no credits left`]
  }

  /** Waits until nothing is reserved and what is left is known. All runs have ended. */
  async settled(isOver: () => boolean): Promise<void> {
    let looks = 0
    await until("no credits reserved, and the provider's balance", settledMillisMax, async () => {
      if (looks % readSoonEvery === 0) await this.read()
      looks += 1
      const [row] = await this.world.query<{ reserved: number; balance: number }>(
        "SELECT reserved, balance FROM provider_credits WHERE provider = 'leadmagic'"
      )
      const left = 1_000_000 * Math.max(0, this.world.meter.account?.left ?? 0)
      if (isOver() || (row?.reserved === 0 && row.balance === left)) return true
      return Bun.sleep(100).then(() => false)
    })
  }
}
