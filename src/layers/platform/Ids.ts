/** New ids of our own: the one place that reads the time for them. */
import { makeId, type Prefix } from "../../schema/Ids.ts"

export const newId = (prefix: Prefix): string => makeId(prefix, Date.now())
