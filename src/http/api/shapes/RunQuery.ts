/** The query of `GET /v1/runs`: named filters, and one parameter `metadata.<name>` for each label. */
import { Schema } from "effect"
import { Moment } from "../../../schema/Period.ts"
import { RunStatus } from "../../../schema/runs/Run.ts"
import { listQuery } from "./Common.ts"

const Slug = Schema.NonEmptyString.check(Schema.isMaxLength(200))

/** Shared by lists and usage. */
export const periodQuery = { from: Schema.optionalKey(Moment), to: Schema.optionalKey(Moment) }

/** One parameter `metadata.<name>` for each label. */
export const LabelQuery = Schema.Record(Schema.TemplateLiteral(["metadata.", Schema.String]), Schema.String)

export const RunQuery = Schema.StructWithRest(
  Schema.Struct({
    ...listQuery,
    ...periodQuery,
    status: Schema.optionalKey(RunStatus),
    capability: Schema.optionalKey(Slug),
    provider: Schema.optionalKey(Slug),
    endpoint: Schema.optionalKey(Schema.NonEmptyString.check(Schema.isMaxLength(1_000))),
    key_id: Schema.optionalKey(Slug)
  }),
  [LabelQuery]
)
export type RunQuery = typeof RunQuery.Type
