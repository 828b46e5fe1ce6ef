/** Lists of marketplace actors, as `RUNGATE_ACTORS` and `rungate catalog import apify --allow` take them. */

/** `owner/name`, or `owner/*` for all of an owner. */
export const actorPattern = /^[\w.-]+\/([\w.-]+|\*)$/

/** Whether a list has an actor. Case is ignored. */
export const hasActor = (list: ReadonlyArray<string>): ((path: string) => boolean) => {
  const listed = new Set(list.map((one) => one.toLowerCase()))
  return (path) => {
    const actor = path.toLowerCase()
    return listed.has(actor) || listed.has(actor.replace(/\/.*$/, "/*"))
  }
}
