/**
 * Checks that a run names only objects of its organization: senders, accounts, inboxes, domains and jobs in shared provider accounts.
 *
 * The check precedes the run and its hold. For another organization an object does not exist: the message is the same either way.
 * Sandbox objects are simulated and not checked.
 */
import { Effect } from "effect"
import type { Owned, Ownership } from "../../layers/runs/Ownership.ts"
import type { Endpoint } from "../../schema/catalog/Endpoint.ts"
import { problem, type ProblemOf } from "../../schema/Errors.ts"
import { doubledName } from "../../schema/json/JsonText.ts"
import { type Named, namedBy, type NamingRequest, nouns } from "../../schema/catalog/Resources.ts"
import type { RunError } from "../../schema/runs/Run.ts"
import type { Candidate } from "../../schema/runs/Routing.ts"
import { domainOf, readFrom } from "../../schema/accounts/Sender.ts"
import { withCommands, type Sentence, sentenceOf } from "../../schema/Hints.ts"
import { addSender } from "../../schema/Steps.ts"

type Refused = ProblemOf<"invalid_request">

/** Limit of listed problems: a batch of a thousand foreign senders is one mistake. */
const detailsMax = 20

/** A detail whose message may name a request. */
interface Fault {
  readonly path: string
  readonly message: string | Sentence
}

const refused = (faults: ReadonlyArray<Fault>): Refused => {
  const [{ path = "", message = "" } = {}] = faults
  const details = faults.slice(0, detailsMax).map((one) => ({ ...one, message: sentenceOf(one.message).message }))
  return problem("invalid_request", withCommands`${path} ${message}`, details)
}

const advice = (kind: Named["kinds"][number], id: string, provider: string | null): string | Sentence => {
  const place = provider === null ? "<provider>" : provider
  switch (kind) {
    case "sender": {
      const address = readFrom(id)
      if (address === null) return ". It must be one address in ASCII, such as ada@example.com or Ada <ada@example.com>"
      return withCommands`. Prove its domain with ${addSender(domainOf(address))}, or ask the operator to assign it: rungate admin resources assign <org> sender ${address}`
    }
    case "account":
      return `. The operator assigns it: rungate admin resources assign <org> account <id> --provider ${place}`
    case "inbox":
      return ". email.inbox_list shows them"
    case "domain":
    case "job":
      return ""
  }
}

/** The same words whether the object exists or not. */
const notOwned = ({ kinds: [kind = "job"], id, path }: Named, provider: string | null, where: string): Fault => ({
  path: where === "" ? path : `${where}.${path}`,
  message: withCommands`is not ${nouns[kind]} of this organization${advice(kind, id, provider)}`
})

/** Returns how the organization owns each named object. Fails if it does not own one of them. */
export const ownedInputs = (
  ownership: Ownership["Service"],
  org_id: string,
  named: ReadonlyArray<Named>
): Effect.Effect<ReadonlyArray<ReadonlyArray<Owned>>, Refused> =>
  named.length === 0
    ? Effect.succeed([])
    : Effect.flatMap(ownership.owned(org_id, named), (owned) => {
        const details = named.flatMap((one, index) =>
          (owned[index] ?? []).length > 0 ? [] : [notOwned(one, null, "input")]
        )
        return details.length > 0 ? Effect.fail(refused(details)) : Effect.succeed(owned)
      })

/**
 * An address that is an inbox is sent from by the inbox's provider, also if its domain is a sender too: only there the message and the
 * replies to it are in the inbox. A request that names another provider may still send from the domain.
 */
export const inboxFirst = (owned: ReadonlyArray<ReadonlyArray<Owned>>): ReadonlyArray<ReadonlyArray<Owned>> =>
  owned.map((those) =>
    those.some((one) => one.kind === "inbox") ? those.filter((one) => one.kind === "inbox") : those
  )

/** Keeps the offer usable only if its provider can use all of these objects. */
export const throughOwned = (owned: ReadonlyArray<ReadonlyArray<Owned>>, candidate: Candidate): Candidate => {
  const { offer, provider } = candidate
  const usable = owned.every((those) =>
    those.some(
      (one) =>
        (one.provider === null || one.provider === provider) &&
        (offer.through === undefined || one.kind === offer.through)
    )
  )
  if (!usable) return { ...candidate, offer: { ...offer, serves: () => false } }
  return offer.through === undefined ? candidate : { ...candidate, offer: { ...offer, serves: () => true } }
}

/** A raw request as its caller wrote it. */
export interface RawNaming extends NamingRequest {
  readonly org_id: string
  /** JSON text of the input, as the provider receives it. */
  readonly input_text: string
}

/** Fails if a raw request names an object of another organization, or names one ambiguously. */
export const ownedByRaw = Effect.fnUntraced(function* (
  ownership: Ownership["Service"],
  provider: string,
  endpoint: Endpoint,
  request: RawNaming
) {
  const uses = endpoint.resources?.uses ?? []
  if (uses.length === 0) return
  const { named, issues } = namedBy(uses, endpoint, request)
  const doubled = endpoint.method === "GET" ? null : doubledName(request.input_text)
  const details = [
    ...issues,
    ...(doubled === null ? [] : [{ path: "input", message: `has the name ${JSON.stringify(doubled)} twice` }])
  ]
  if (details.length > 0) return yield* Effect.fail(refused(details))
  const owned = yield* ownership.owned(request.org_id, named)
  const foreign = named.flatMap((one, index) =>
    (owned[index] ?? []).some((as) => as.provider === null || as.provider === provider)
      ? []
      : [notOwned(one, provider, "")]
  )
  if (foreign.length > 0) return yield* Effect.fail(refused(foreign))
})

/** Why a run that has waited may not call the provider any more: the first object that is not its organization's now. Null if all are. */
export const lostObject = (
  ownership: Ownership["Service"],
  org_id: string,
  provider: string,
  named: ReadonlyArray<Named>
): Effect.Effect<RunError | null> =>
  named.length === 0
    ? Effect.succeed(null)
    : Effect.map(ownership.owned(org_id, named), (owned) => {
        const isOwned = (those: ReadonlyArray<Owned> = []) =>
          those.some((as) => as.provider === null || as.provider === provider)
        const lost = named.find((_, index) => !isOwned(owned[index]))
        return lost === undefined ? null : refused([notOwned(lost, provider, "")]).error
      })
