/** What a configuration changes and would have blocked, as lines. The command and the console show them. */
import type { ConfigurationPreview } from "../../schema/configuration/Configuration.ts"

type Preview = typeof ConfigurationPreview.Encoded

const signs = { create: "+", change: "~", remove: "-" } as const

export const changeTitle = ({ action, section, name }: Preview["changes"][number]) =>
  `${signs[action]} ${section === name ? section : `${section} ${name}`}`

export const fieldLines = ({ action, fields }: Preview["changes"][number]) =>
  fields.map(({ field, before, after }) => {
    const was = action === "create" ? "" : `${before ?? "(none)"} → `
    return `${field}: ${was}${after ?? "(none)"}`
  })

/** What past runs tell of the changed rules. Empty if no rule changed. */
export const replayLines = ({ replay }: Preview) => {
  if (replay === null) return []
  const cut = replay.cut ? " Older runs of the 30 days are too many to replay." : ""
  return [
    ...(replay.rules.length === 0
      ? []
      : [
          `Of ${replay.runs} runs since ${replay.from.slice(0, 10)}, this would have blocked ${replay.blocked_runs}.${cut}`
        ]),
    ...replay.rules.flatMap(({ rule, blocked_runs }) => (blocked_runs > 0 ? [`${blocked_runs} by ${rule}`] : [])),
    ...replay.not_replayed.map((rule) => `Past runs don't tell what ${rule} would have blocked.`)
  ]
}
