/** The fields that an entry of the audit log changed, before and after. */
import type { AnswerOf } from "../../../client/Browser.ts"

export type Entry = AnswerOf<"auditLog", "list">["items"][number]

const textOf = (value: unknown): string =>
  value === undefined || value === null ? "none" : typeof value === "string" ? value : JSON.stringify(value)

export const Changes = ({ entry: { before, after } }: { readonly entry: Pick<Entry, "before" | "after"> }) => {
  const all = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  // Of an object that was made or removed, the fields without a value say nothing.
  const names = [...all].filter((name) => (before?.[name] ?? null) !== null || (after?.[name] ?? null) !== null)
  if (names.length === 0) return null
  return (
    <dl className="min-w-48 space-y-0.5">
      {names.map((name) => {
        const [old, now] = [before?.[name], after?.[name]]
        return (
          <div key={name} className="wrap-anywhere">
            <dt className="inline text-muted">{name}: </dt>
            <dd className="inline">
              {before !== null && <del className="text-muted">{textOf(old)}</del>}
              {before !== null && after !== null && <span aria-hidden="true"> → </span>}
              {after !== null && <ins className="no-underline">{textOf(now)}</ins>}
            </dd>
          </div>
        )
      })}
    </dl>
  )
}
