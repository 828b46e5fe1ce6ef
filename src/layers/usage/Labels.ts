/**
 * Decides which labels are counted on their own, so that an organization that sends a new value with every run makes few rows.
 *
 * The first names and the first values of a day are. The caller holds the lock of the rollups (UsageRollups.ts).
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { dates, ints, rowsOf, tableOf, texts } from "../postgres/Rows.ts"
import { type Fact, type Labels, namesMax, valuesMax } from "./Counted.ts"

const nameRows = rowsOf({ org_id: Schema.String, name: Schema.String })
const countRows = rowsOf({
  org_id: Schema.String,
  name: Schema.String,
  day: Schema.String,
  distinct_values: Schema.Number
})
const valueRows = rowsOf({ org_id: Schema.String, name: Schema.String, day: Schema.String, value: Schema.String })

interface Label {
  readonly org_id: string
  readonly name: string
  readonly day: string
  readonly value: string
}

/** NUL separates, because no name, day or value contains it. */
const keyOf = (...parts: ReadonlyArray<string>) => parts.join("\0")

export const labelsOf = (facts: ReadonlyArray<Fact>): ReadonlyArray<Label> =>
  facts.flatMap(({ org_id, day, metadata }) =>
    Object.entries(metadata).map(([name, value]) => ({ org_id, day, name, value }))
  )

const none: Labels = () => null

export const usageLabels = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const namesOf = Effect.fnUntraced(function* (labels: ReadonlyArray<Label>) {
    const rows = yield* nameRows(sql`
      SELECT org_id, name FROM usage_names WHERE org_id = ANY(${texts([...new Set(labels.map((one) => one.org_id))])})`)
    return new Set(rows.map(({ org_id, name }) => keyOf(org_id, name)))
  })

  /** Those of the values that are counted on their own. */
  const valuesOf = Effect.fnUntraced(function* (labels: ReadonlyArray<Label>) {
    const rows = yield* valueRows(sql`
      SELECT v.org_id, v.name, v.day::text AS day, v.value
      FROM (SELECT DISTINCT * FROM ${tableOf("n", labels, { org_id: texts, name: texts, day: dates, value: texts })}) n
      JOIN usage_values v USING (org_id, name, day, value)`)
    return new Set(rows.map(({ org_id, name, day, value }) => keyOf(org_id, name, day, value)))
  })

  const lookup =
    (names: ReadonlySet<string>, values: ReadonlySet<string>): Labels =>
    ({ org_id, day }, name, value) =>
      names.has(keyOf(org_id, name)) ? { value: values.has(keyOf(org_id, name, day, value)) ? value : null } : null

  /** How labels that were counted before are counted. */
  const storedLabels = Effect.fnUntraced(function* (facts: ReadonlyArray<Fact>) {
    const labels = labelsOf(facts)
    return labels.length === 0 ? none : lookup(yield* namesOf(labels), yield* valuesOf(labels))
  })

  /** How labels are counted, after new names and values were stored as far as there is room. */
  const admit = Effect.fnUntraced(function* (facts: ReadonlyArray<Fact>) {
    const labels = labelsOf(facts)
    if (labels.length === 0) return none
    const names = yield* namesOf(labels)
    const perOrg = new Map<string, number>()
    for (const key of names) {
      const org_id = key.split("\0")[0] ?? ""
      perOrg.set(org_id, (perOrg.get(org_id) ?? 0) + 1)
    }
    const newNames: Array<Label> = []
    for (const label of labels) {
      const used = perOrg.get(label.org_id) ?? 0
      if (names.has(keyOf(label.org_id, label.name)) || used >= namesMax) continue
      names.add(keyOf(label.org_id, label.name))
      perOrg.set(label.org_id, used + 1)
      newNames.push(label)
    }
    const counted = labels.filter((label) => names.has(keyOf(label.org_id, label.name)))
    const values = yield* valuesOf(counted)
    const rows = yield* countRows(sql`
      SELECT l.org_id, l.name, l.day::text AS day, l.distinct_values
      FROM (SELECT DISTINCT * FROM ${tableOf("n", counted, { org_id: texts, name: texts, day: dates })}) n
      JOIN usage_labels l USING (org_id, name, day)`)
    const room = new Map(rows.map((row) => [keyOf(row.org_id, row.name, row.day), row.distinct_values]))
    const changed = new Map<string, Label>()
    const newValues: Array<Label> = []
    for (const label of counted) {
      const key = keyOf(label.org_id, label.name, label.day)
      const used = room.get(key) ?? 0
      const valueKey = keyOf(label.org_id, label.name, label.day, label.value)
      if (values.has(valueKey) || used >= valuesMax) continue
      values.add(valueKey)
      room.set(key, used + 1)
      changed.set(key, label)
      newValues.push(label)
    }
    if (newNames.length > 0)
      yield* sql`
        INSERT INTO usage_names (org_id, name)
        SELECT * FROM ${tableOf("n", newNames, { org_id: texts, name: texts })}`
    if (newValues.length > 0) {
      const days = [...changed].map(([key, label]) => ({ ...label, distinct_values: room.get(key) ?? 0 }))
      yield* sql`
        INSERT INTO usage_labels (org_id, name, day, distinct_values)
        SELECT * FROM ${tableOf("n", days, { org_id: texts, name: texts, day: dates, distinct_values: ints })}
        ON CONFLICT (org_id, name, day) DO UPDATE SET distinct_values = excluded.distinct_values`
      yield* sql`
        INSERT INTO usage_values (org_id, name, day, value)
        SELECT * FROM ${tableOf("n", newValues, { org_id: texts, name: texts, day: dates, value: texts })}`
    }
    return lookup(names, values)
  })

  return { admit, storedLabels }
})
