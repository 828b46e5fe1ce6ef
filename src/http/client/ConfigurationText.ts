/** What a configuration changes and what rules would have done with past runs, as lines. Commands and the console show them. */
import type { ConfigurationPreview } from "../../schema/configuration/Configuration.ts"
import type { Replay } from "../../schema/nouns/Simulation.ts"

type Preview = typeof ConfigurationPreview.Encoded

const signs = { create: "+", change: "~", remove: "-" } as const

export const changeTitle = ({ action, section, name }: Preview["changes"][number]) =>
  `${signs[action]} ${section === name ? section : `${section} ${name}`}`

export const fieldLines = ({ action, fields }: Preview["changes"][number]) =>
  fields.map(({ field, before, after }) => {
    const was = action === "create" ? "" : `${before ?? "(none)"} → `
    return `${field}: ${was}${after ?? "(none)"}`
  })

/** What past runs tell of rules. Empty if there are none. */
export const replayLines = (replay: typeof Replay.Encoded | null, whose = "this") => {
  if (replay === null) return []
  const waited = replay.waiting_runs === 0 ? "" : ` and made ${replay.waiting_runs} wait for a yes`
  const cut = replay.cut ? " Older runs are too many to replay." : ""
  return [
    ...(replay.rules.length === 0
      ? []
      : [
          `Of ${replay.runs} runs since ${replay.from.slice(0, 10)}, ${whose} would have blocked ${replay.blocked_runs}${waited}.${cut}`
        ]),
    ...replay.rules.flatMap(({ rule, blocked_runs, waiting_runs }) => [
      ...(blocked_runs > 0 ? [`${blocked_runs} by ${rule}`] : []),
      ...(waiting_runs > 0 ? [`${waiting_runs} made to wait by ${rule}`] : [])
    ]),
    ...replay.not_replayed.map((rule) => `Past runs don't tell what ${rule} would have done.`)
  ]
}
