/** Drops the undefined or null members of an object, for optional fields of requests and records. */

/** `T` with its possibly undefined members optional and never undefined. */
export type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

export const defined = <T extends object>(members: T): Defined<T> => {
  const kept = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
  return kept as Defined<T> // justified: fromEntries loses the names, and only undefined members were dropped
}

/** Drops the members that are null: in a request, null equals leaving an optional field out. */
export const withoutNulls = <T extends object>(members: T): { [K in keyof T]: Exclude<T[K], null> } => {
  const kept = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))
  return kept as { [K in keyof T]: Exclude<T[K], null> } // justified: as above, of members that may be left out
}
