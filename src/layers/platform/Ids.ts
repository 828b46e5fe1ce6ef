/** Creates ids that begin with the current time, such as `run_…`. No other module reads the clock for an id. */
import { makeId, type Prefix } from "../../schema/Ids.ts"

export const newId = (prefix: Prefix): string => makeId(prefix, Date.now())
