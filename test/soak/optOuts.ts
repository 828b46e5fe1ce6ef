/**
 * The opt-outs of a soak: owners put addresses and domains on their organization's list and take them away, and recipients use the link of
 * a message.
 *
 * It remembers when an entry was surely on a list: from the answer to its addition until the request that removes it. A message to the
 * recipient meanwhile is wrong if its run was asked for after that answer, or was approved after it. Both happen before the run starts.
 */
import type { World } from "../chaos/world.ts"
import type { Answer, Owners } from "./owners.ts"
import type { Random } from "./plan.ts"
import type { Tell } from "./slots.ts"

const domains = ["one.example", "mail.two.example"] as const
const recipients = domains.flatMap((domain) => [`ada@${domain}`, `bob@${domain}`])
/** The entry of two.example covers the addresses of mail.two.example. */
const values = [...recipients, "one.example", "two.example"]
const covers = (value: string, address: string) =>
  address === value || address.endsWith(`@${value}`) || address.endsWith(`.${value}`)
const digestOf = (value: string) => new Bun.CryptoHasher("sha256").update(value).digest("hex")
/** How often a value that is not listed is added when its turn comes. So about a third of the recipients are covered. */
const addShare = 0.25
const clickShare = 0.3
const clickMillisMax = 8_000

interface Entry {
  readonly org_id: string
  readonly value: string
  /** Both as `performance.now()` tells. */
  readonly from: number
  until: number
}

export class OptOuts {
  readonly counts = { opt_outs: 0, one_click_opt_outs: 0, opt_outs_removed: 0 }
  private readonly entries: Array<Entry> = []
  /** Entries whose removal got no answer: it is sent again before anything else happens to the value. */
  private readonly removals = new Map<Entry, string>()
  private readonly world: World
  private readonly owners: Owners

  constructor(world: World, owners: Owners) {
    this.world = world
    this.owners = owners
  }

  recipient(random: Random): string {
    return recipients[Math.floor(random() * recipients.length)] ?? ""
  }

  private listed(org_id: string, value: string): Entry | undefined {
    return this.entries.findLast((one) => one.org_id === org_id && one.value === value)
  }

  private note(org_id: string, value: string): void {
    const last = this.listed(org_id, value)
    if (last === undefined || last.until < Infinity)
      this.entries.push({ org_id, value, from: performance.now(), until: Infinity })
  }

  private async click(org_id: string, random: Random, violate: Tell): Promise<void> {
    const links = this.world.meter.calls.flatMap(({ key, to: [address], opt_out_path }) =>
      address !== undefined && opt_out_path !== null && this.world.asked.get(key)?.customer.org_id === org_id
        ? [{ address, opt_out_path }]
        : []
    )
    const link = links[Math.floor(random() * links.length)]
    const url = this.owners.url()
    if (link === undefined || url === undefined) return
    const { address, opt_out_path } = link
    const last = this.listed(org_id, address)
    if (last !== undefined && this.removals.has(last)) return
    const answer = await fetch(`${url}${opt_out_path}`, {
      method: "POST",
      signal: AbortSignal.timeout(clickMillisMax)
    }).catch(() => null)
    if (answer === null || answer.status >= 500 || answer.status === 429) return
    if (answer.status !== 200) return violate(`a link for opting out was answered ${answer.status}`)
    this.counts.one_click_opt_outs += 1
    this.note(org_id, address)
  }

  private async remove(entry: Entry, id: string, violate: Tell): Promise<void> {
    entry.until = Math.min(entry.until, performance.now())
    this.removals.set(entry, id)
    const answer = await this.owners.ask(entry.org_id, "DELETE", `/v1/opt-outs/${id}`)
    if (answer === null) return
    // An earlier request whose answer was lost may have removed it.
    if (answer.status !== 200 && answer.status !== 404)
      violate(`the removal of an opt-out was answered ${JSON.stringify(answer)}`)
    this.removals.delete(entry)
    this.counts.opt_outs_removed += 1
  }

  /** One change of an organization's list. Those of one organization follow each other. */
  async act(org_id: string, random: Random, violate: Tell): Promise<void> {
    const [clicks, adds] = [random() < clickShare, random() < addShare]
    const value = values[Math.floor(random() * values.length)] ?? ""
    const late = [...this.removals].find(([entry]) => entry.org_id === org_id)
    if (late !== undefined) return this.remove(...late, violate)
    const entry = this.listed(org_id, value)
    if (entry !== undefined && entry.until === Infinity) {
      const answer = await this.owners.ask(org_id, "GET", "/v1/opt-outs?limit=100")
      if (answer === null) return
      const items: ReadonlyArray<{ readonly id: string; readonly digest: string }> = answer.body.items
      const listed = items.find(({ digest }) => digest === digestOf(value))
      if (listed === undefined)
        return violate(`${value} is no longer on the list of ${org_id}, and nobody has removed it`)
      return this.remove(entry, listed.id, violate)
    }
    if (!adds) return
    if (clicks) return this.click(org_id, random, violate)
    const answer: Answer = await this.owners.ask(org_id, "POST", "/v1/opt-outs", { values: [value] })
    if (answer === null) return
    if (answer.status !== 200) return violate(`an opt-out was answered ${JSON.stringify(answer)}`)
    this.counts.opt_outs += 1
    this.note(org_id, value)
  }

  /** Messages to who had opted out. `approving`: by run, when somebody first tried to approve it. */
  wrong(approving: ReadonlyMap<string, number>): ReadonlyArray<string> {
    return this.world.meter.calls.flatMap(({ key, to, at, run_id }) => {
      const asked = this.world.asked.get(key)
      if (to.length === 0 || asked === undefined) return []
      const since = Math.max(asked.at, approving.get(run_id ?? "") ?? 0)
      const entry = this.entries.find(
        (one) =>
          one.org_id === asked.customer.org_id &&
          one.from < since &&
          at < one.until &&
          to.some((address) => covers(one.value, address))
      )
      return entry === undefined
        ? []
        : [`${run_id} wrote to ${to.join(", ")} ${Math.round(at - entry.from)} ms after the opt-out of ${entry.value}`]
    })
  }
}
