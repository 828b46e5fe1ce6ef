/** The fields that an entry of the audit log changed, before and after. */
import type { AnswerOf } from "../../../client/Browser.ts"

export type Entry = AnswerOf<"auditLog", "list">["items"][number]

const textOf = (value: unknown): string =>
  value === undefined || value === null ? "none" : typeof value === "string" ? value : JSON.stringify(value)

export const Changes = ({ entry: { before, after } }: { readonly entry: Entry }) => {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  if (names.length === 0) return null
  return (
    <dl className="space-y-0.5">
      {names.map((name) => {
        const [old, now] = [before?.[name], after?.[name]]
        return (
          <div key={name} className="break-all">
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
