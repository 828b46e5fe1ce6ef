/** Answers history queries from rows under a GIN index (history-gin.ts), with the same summaries as segments. */
import { Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { Finder } from "../../src/layers/history/Finder.ts"
import { freshRuns } from "../../src/layers/history/FreshRuns.ts"
import { isLookup, isTouch, isUnknownTouch } from "../../src/layers/history/index/Lookups.ts"
import { type Match, type SubjectSummary, summaryOf } from "../../src/layers/history/index/SubjectSummary.ts"
import { bigints, texts } from "../../src/layers/postgres/Rows.ts"
import type { RunKind, Run } from "../../src/schema/segments/Docs.ts"
import { named, recipient } from "../../src/schema/segments/Segment.ts"

/** More matching rows than this are added up by Postgres, fewer are read. */
const rowsMax = 300
/** With so many matches, walking back in time finds the newest of them soon. Fewer are sorted. */
const walkMin = 20_000
const nothing = { newest: [], oldest: [], touch: [], contact: [], unknown: [], reusable: [] }

/** Generous types: the bench doesn't check rows. */
type Row = Record<string, any>

export const ginFinder = (table: string) =>
  Layer.effect(
    Finder,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { naming } = yield* freshRuns
      const from = sql.literal(table)
      const kinds = new Map<number, RunKind>()
      const loadKinds = Effect.gen(function* () {
        for (const {
          kind,
          status,
          capability,
          endpoint,
          provider
        } of (yield* sql`SELECT * FROM gin_kinds`) as Array<Row>)
          kinds.set(kind, { status, capability, endpoint, provider })
      })
      const kindOf = (kind: number): RunKind =>
        kinds.get(kind) ?? { status: "", capability: null, endpoint: null, provider: null }
      const kindsThat = (test: (kind: RunKind) => boolean) =>
        bigints([...kinds].flatMap(([n, kind]) => (test(kind) ? [BigInt(n)] : [])))

      const flagOf = (terms: string, n: number) =>
        `coalesce(get_byte(r.flags, array_position(r.subjects, (${terms})[${n}]) - 1), 0)`
      /** Of the first subjects' keys; no kind has more than three. */
      const flags = (terms: string, count: number) =>
        sql.literal(`(${Array.from({ length: count }, (_, n) => flagOf(terms, n + 1)).join(" | ")})`)
      /** The terms as a constant of the statement: numbers of our own. */
      const constant = (terms: ReadonlyArray<number>) => `'{${terms.join(",")}}'::bigint[]`

      const state = (org_id: string) =>
        Effect.map(
          sql`
          SELECT unnest(run_ids) AS run_id, true AS ended FROM history_queue WHERE org_id = ${org_id}
          UNION SELECT run_id, false FROM open_runs WHERE org_id = ${org_id}
          UNION SELECT m.run_id, false FROM wallets l JOIN mailbox m ON m.lane = l.lane
          WHERE l.org_id = ${org_id} AND m.org_id = ${org_id} AND m.tag = 'Reserve'`,
          (rows) => (rows as Array<Row>).map(({ run_id, ended }) => ({ run_id: String(run_id), ended: ended === true }))
        )
      const runOf = (row: Row): Run => ({
        ...{ run_id: row["run_id"], created_at: new Date(row["created_at"]).getTime() },
        ...{ kind: kindOf(row["kind"]), charged: BigInt(row["charged"]) }
      })
      const runsOf = Effect.fnUntraced(function* (org_id: string, ids: ReadonlyArray<string | null>) {
        const wanted = ids.filter((id) => id !== null)
        const rows = (yield* sql`
          SELECT run_id, created_at, kind, charged FROM ${from} WHERE org_id = ${org_id} AND run_id = ANY(${texts(wanted)})`) as Array<Row>
        const runs = new Map(rows.map((row) => [String(row["run_id"]), runOf(row)]))
        return (id: string | null | undefined): Run | null => runs.get(id ?? "") ?? null
      })

      const single = Effect.fnUntraced(function* (
        org_id: string,
        sought: ReadonlyArray<number>,
        { want, not }: Parameters<Finder["Service"]["subjects"]>[2],
        unindexed: ReadonlyArray<Match>
      ) {
        const text = constant(sought)
        const terms = sql.literal(text)
        const columns = sql`r.run_id, r.created_at, r.kind, r.charged, ${flags(text, sought.length)} AS flags`
        const found = (rows: ReadonlyArray<Row>) => rows.map((row): Match => ({ run: runOf(row), flags: row["flags"] }))
        const matching = sql`FROM ${from} r WHERE r.org_id = ${org_id} AND r.subjects && ${terms}`
        const few = (yield* sql`SELECT ${columns} ${matching} LIMIT ${rowsMax + 1}`) as Array<Row>
        if (few.length <= rowsMax)
          return summaryOf([], [...found(few), ...unindexed], { from: nothing, runOf: () => runOf({}), want, not })
        if (unindexed.length > 0) return yield* Effect.die(new Error("the bench indexes all runs first"))

        const lookups = kindsThat((kind) => isLookup({ kind, charged: 1n }, not))
        const reusable = sql`r.kind = ANY(${lookups}) AND r.charged > 0 AND ${flags(text, sought.length)} & ${sql.literal(String(named))} <> 0`
        const touches = kindsThat(isTouch)
        const unknowns = kindsThat(isUnknownTouch)
        const to = sql`${flags(text, sought.length)} & ${sql.literal(String(recipient))} <> 0`
        const sums = (yield* sql`
          SELECT r.kind, count(*)::int AS count, sum(r.charged)::bigint AS charged, min(r.run_id) AS first,
                 max(r.run_id) FILTER (WHERE r.kind = ANY(${touches})) AS touch, max(r.run_id) FILTER (WHERE r.kind = ANY(${touches}) AND ${to}) AS contact,
                 max(r.run_id) FILTER (WHERE r.kind = ANY(${unknowns}) AND ${to}) AS unknown, (count(*) FILTER (WHERE ${reusable}))::int AS reusable
          ${matching} GROUP BY r.kind`) as Array<Row>
        const walk = sql`FROM (SELECT * FROM ${from} WHERE org_id = ${org_id} ORDER BY run_id DESC OFFSET 0) r WHERE r.subjects && ${terms}`
        const latest = (of: Statement.Fragment, count: number, limit: number) =>
          count >= walkMin
            ? sql`SELECT ${columns} ${walk} AND ${of} LIMIT ${limit}`
            : sql`SELECT ${columns} ${matching} AND ${of} ORDER BY r.run_id DESC LIMIT ${limit}`
        const count = sums.reduce((sum, row) => sum + row["count"], 0)
        const many = sums.reduce((sum, row) => sum + row["reusable"], 0)
        const newest = (yield* latest(sql`true`, count, want.newest)) as Array<Row>
        const again = (many === 0 ? [] : yield* latest(reusable, many, want.reusable)) as Array<Row>
        const best = (name: string): string | null =>
          sums.reduce<string | null>(
            (max, row) => (row[name] !== null && (max === null || row[name] > max) ? row[name] : max),
            null
          )
        const first = sums.reduce<string>((min, row) => (row["first"] < min ? row["first"] : min), "~")
        const run = yield* runsOf(org_id, [first, best("touch"), best("contact"), best("unknown")])
        const groups = new Map<string, SubjectSummary["groups"][number]>()
        for (const row of sums) {
          const { status, capability, endpoint } = kindOf(row["kind"])
          const name = JSON.stringify([status, capability, endpoint])
          const { count, charged } = groups.get(name) ?? { count: 0, charged: 0n }
          groups.set(name, {
            ...{ status, capability, endpoint, count: count + row["count"], charged: charged + BigInt(row["charged"]) }
          })
        }
        return {
          ...{
            count,
            groups: [...groups.values()],
            newest: found(newest)
          },
          ...{
            oldest: run(first),
            touch: run(best("touch")),
            contact: run(best("contact")),
            unknown: run(best("unknown"))
          },
          reusable: again.map(runOf)
        }
      })

      /** Many subjects in one statement, with the newest run of each sort. */
      const batch = Effect.fnUntraced(function* (
        org_id: string,
        sought: ReadonlyArray<ReadonlyArray<number>>,
        { not }: Parameters<Finder["Service"]["subjects"]>[2]
      ) {
        const lookups = kindsThat((kind) => isLookup({ kind, charged: 1n }, not))
        const touches = kindsThat(isTouch)
        const place = flags("n.terms", 3)
        const rows = (yield* sql`
          SELECT s.* FROM unnest(${texts(sought.map((terms) => `{${terms.join(",")}}`))}) WITH ORDINALITY AS q(text, n),
            LATERAL (SELECT q.text::bigint[] AS terms) n, LATERAL (
            SELECT q.n::int, count(*)::int AS count, max(r.run_id) AS newest, max(r.run_id) FILTER (WHERE r.kind = ANY(${touches})) AS touch,
                   max(r.run_id) FILTER (WHERE r.kind = ANY(${touches}) AND ${place} & 4 <> 0) AS contact,
                   max(r.run_id) FILTER (WHERE r.kind = ANY(${kindsThat(isUnknownTouch)}) AND ${place} & 4 <> 0) AS unknown,
                   max(r.run_id) FILTER (WHERE r.kind = ANY(${lookups}) AND r.charged > 0 AND ${place} & 1 <> 0) AS reusable
            FROM ${from} r WHERE r.org_id = ${org_id} AND r.subjects && n.terms
          ) s ORDER BY 1`) as Array<Row>
        const run = yield* runsOf(
          org_id,
          rows.flatMap(({ newest, touch, contact, unknown, reusable }) => [newest, touch, contact, unknown, reusable])
        )
        return rows.map(({ count, newest, touch, contact, unknown, reusable }): SubjectSummary => {
          const [latest, again] = [run(newest), run(reusable)]
          return {
            ...{ count, groups: [], oldest: null, newest: latest === null ? [] : [{ run: latest, flags: 0 }] },
            ...{
              touch: run(touch),
              contact: run(contact),
              unknown: run(unknown),
              reusable: again === null ? [] : [again]
            }
          }
        })
      })

      return Finder.of({
        subjects: (org_id, sought, asked) =>
          Effect.orDie(
            Effect.gen(function* () {
              if (kinds.size === 0) yield* loadKinds
              const unindexed = yield* naming(org_id, yield* state(org_id), sought)
              if (!asked.want.groups) return yield* batch(org_id, sought, asked)
              return yield* Effect.forEach(sought, (terms, n) => single(org_id, terms, asked, unindexed[n] ?? []))
            })
          ),
        phrases: () => Effect.die(new Error("words stay in segments"))
      })
    })
  )
