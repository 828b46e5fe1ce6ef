/**
 * The configuration files of a soak. Each file has a number, which is in every one of its parts, and is one higher than that of the
 * configuration that was exported for it.
 *
 * Only files change these parts, so one moment at which the parts differ is a file that was applied by half. Two people apply files at the
 * same time, and others change guards meanwhile: of the files with one digest, one is applied. So the number counts the files that were.
 */
import type { World } from "../chaos/world.ts"
import type { Owners } from "./owners.ts"
import type { Random } from "./plan.ts"
import type { Tell } from "./slots.ts"

export const fileLabel = "file"
const name = fileLabel
/** What the parts have besides the number: an amount in dollars, and the least time for an approval. */
const dollarsMin = 100
const secondsMin = 60

const fileOf = (number: number, daily_limit: string | null) => {
  const limit = `${dollarsMin + number}.00`
  return {
    keys: [{ name, budget: { limit, period: "total" } }],
    label_budgets: [{ label: name, value: name, limit, period: "month" }],
    approval_rules: [{ name, labels: { [name]: name }, expires_after: secondsMin + number }],
    spend_guard: { daily_limit }
  }
}
interface Exported {
  readonly digest: string
  readonly configuration: { readonly label_budgets: ReadonlyArray<{ readonly label: string; readonly limit: string }> }
}

export class Configurations {
  readonly counts = { files: 0, files_unanswered: 0, files_late: 0 }
  private readonly applied = new Map<string, { files: number; unanswered: number }>()
  private readonly world: World
  private readonly owners: Owners

  constructor(world: World, owners: Owners) {
    this.world = world
    this.owners = owners
  }

  /** Exports, and applies the next file to what it saw. */
  async apply(org_id: string, random: Random, violate: Tell): Promise<void> {
    const daily_limit = random() < 0.5 ? null : "40.00"
    const exported = await this.owners.ask(org_id, "GET", "/v1/configuration")
    if (exported === null) return
    const { digest, configuration }: Exported = exported.body
    const [before] = configuration.label_budgets.filter(({ label }) => label === name)
    const number = before === undefined ? 0 : Number(before.limit) - dollarsMin + 1
    const file = { digest, configuration: fileOf(number, daily_limit) }
    const answer = await this.owners.ask(org_id, "PUT", "/v1/configuration", file)
    const counts = this.applied.get(org_id) ?? { files: 0, unanswered: 0 }
    this.applied.set(org_id, counts)
    if (answer === null) {
      counts.unanswered += 1
      this.counts.files_unanswered += 1
    } else if (answer.status === 200) {
      counts.files += 1
      this.counts.files += 1
    } else if (answer.status === 409 && answer.body.error.code === "configuration_changed") this.counts.files_late += 1
    else violate(`a configuration was answered ${JSON.stringify(answer)}`)
  }

  /** What is wrong now, in one snapshot. `ended`: nobody applies a file any more. */
  async wrong(ended: boolean): Promise<ReadonlyArray<string>> {
    const rows = await this.world.query<{ org_id: string; parts: Array<number> }>(`
      SELECT o.org_id, array_remove(ARRAY[
        (SELECT b.amount / 1000000 - ${dollarsMin} FROM api_keys k JOIN key_budgets b USING (budget_id) WHERE k.org_id = o.org_id AND k.name = '${name}'),
        (SELECT l.amount / 1000000 - ${dollarsMin} FROM label_budgets l WHERE l.org_id = o.org_id AND l.label = '${name}'),
        (SELECT r.expires_after - ${secondsMin} FROM approval_rules r WHERE r.org_id = o.org_id AND r.name = '${name}')]::int[], NULL) AS parts
      FROM orgs o`)
    return rows.flatMap(({ org_id, parts }) => {
      const [number = -1] = parts
      if ((parts.length !== 0 && parts.length !== 3) || parts.some((part) => part !== number))
        return [`a configuration of ${org_id} was applied by half: ${parts.join(", ")}`]
      const { files, unanswered } = this.applied.get(org_id) ?? { files: 0, unanswered: 0 }
      // The first file has the number 0.
      const count = number + 1
      return ended && (count < files || count > files + unanswered)
        ? [`${org_id} has file ${number}, and ${files} files were applied, ${unanswered} had no answer`]
        : []
    })
  }
}
