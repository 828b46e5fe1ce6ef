/**
 * Stores the accounts that organizations have at providers. Keys are encrypted with RUNGATE_ENCRYPTION_KEY and never stored without it.
 *
 * An encrypted key can be opened only for its organization and provider, so a copied row gives nobody the key. The key is read for each
 * attempt and not cached, so no process uses a key that was replaced or removed.
 */
import { Context, Effect, Layer, Redacted, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../platform/Ids.ts"
import { open, seal } from "../platform/Encryption.ts"
import { Settings } from "../platform/Settings.ts"
import { resealed } from "../postgres/resealed.ts"
import { hasRows, oneRowOf, storedAs } from "../postgres/Rows.ts"

export const AccountRow = Schema.Struct({
  provider: Schema.String,
  last_four: Schema.String,
  base_url: Schema.NullOr(Schema.String),
  fallback: Schema.Boolean,
  created_at: Schema.Date,
  changed_at: Schema.Date
})
export type AccountRow = typeof AccountRow.Type
const accountRows = storedAs(AccountRow.fields)
const accountRow = oneRowOf(AccountRow.fields)

/** What routing knows about an account. */
const RoutingAccount = Schema.Struct({
  org_id: Schema.String,
  provider: Schema.String,
  account_id: Schema.String,
  fallback: Schema.Boolean
})
export type RoutingAccount = typeof RoutingAccount.Type
const routingAccountRows = storedAs(RoutingAccount.fields)

const secretRows = storedAs({
  account_id: Schema.String,
  secret: Schema.String,
  base_url: Schema.NullOr(Schema.String)
})

export interface NewAccount {
  readonly api_key: Redacted.Redacted
  readonly base_url: string | null
  readonly fallback: boolean
}

/** An account as a call needs it. */
export interface OpenedAccount {
  readonly account_id: string
  readonly api_key: Redacted.Redacted
  readonly base_url: string | null
}

/** `unreadable`: it was encrypted with a key that RUNGATE_ENCRYPTION_KEY does not have any more. */
export type NotOpened = "removed" | "unreadable"

/** RUNGATE_ENCRYPTION_KEY is not set. */
export class NoEncryptionKey extends Schema.TaggedError<NoEncryptionKey>()("NoEncryptionKey", {}) {}

const shownCharacters = 4

const purposeOf = (org_id: string, provider: string) => `provider account ${provider} of ${org_id}`

export class ProviderAccounts extends Context.Service<
  ProviderAccounts,
  {
    /** In the order of their providers. An organization has at most one account at each provider. */
    readonly list: (org_id: string) => Effect.Effect<ReadonlyArray<AccountRow>>
    readonly find: (org_id: string, provider: string) => Effect.Effect<AccountRow | null>
    /** Replaces the organization's account at the provider. */
    readonly set: (org_id: string, provider: string, account: NewAccount) => Effect.Effect<AccountRow, NoEncryptionKey>
    readonly remove: (org_id: string, provider: string) => Effect.Effect<boolean>
    /** The account with its key, as it is now. */
    readonly open: (org_id: string, provider: string) => Effect.Effect<OpenedAccount, NotOpened>
    /** The accounts of one organization, or of all. */
    readonly routingAccounts: (org_id: string | null) => Effect.Effect<ReadonlyArray<RoutingAccount>>
    /** Encrypts keys again that an earlier encryption key has encrypted. Returns how many, and how many could not be opened. */
    readonly reseal: Effect.Effect<{ readonly resealed: number; readonly unreadable: number }>
  }
>()("rungate/layers/provideraccounts/ProviderAccounts") {
  static readonly layer = Layer.effect(
    ProviderAccounts,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const settings = yield* Settings
      const encryptionKeys = () => settings.current().encryptionKeys
      const columns = sql.literal("provider, last_four, base_url, fallback, created_at, changed_at")
      const of = (org_id: string, provider: string) => sql`org_id = ${org_id} AND provider = ${provider}`

      const openAccount = Effect.fnUntraced(function* (org_id: string, provider: string) {
        const [row] = yield* secretRows.all(
          sql`SELECT account_id, secret, base_url FROM provider_accounts WHERE ${of(org_id, provider)}`
        )
        if (row === undefined) return yield* Effect.fail("removed" as const)
        const opened = open(encryptionKeys(), purposeOf(org_id, provider), row.secret)
        if (Result.isFailure(opened)) return yield* Effect.fail("unreadable" as const)
        return { account_id: row.account_id, api_key: opened.success, base_url: row.base_url }
      })

      return ProviderAccounts.of({
        list: (org_id) =>
          accountRows.all(sql`SELECT ${columns} FROM provider_accounts WHERE org_id = ${org_id} ORDER BY provider`),
        find: (org_id, provider) =>
          Effect.map(
            accountRows.all(sql`SELECT ${columns} FROM provider_accounts WHERE ${of(org_id, provider)}`),
            ([row]) => row ?? null
          ),
        set: Effect.fnUntraced(function* (org_id, provider, { api_key, base_url, fallback }) {
          const text = Redacted.value(api_key)
          const sealed = seal(encryptionKeys(), purposeOf(org_id, provider), text)
          if (sealed === null) return yield* new NoEncryptionKey()
          return yield* accountRow(sql`
            INSERT INTO provider_accounts (org_id, provider, account_id, secret, last_four, base_url, fallback)
            VALUES (${org_id}, ${provider}, ${newId("pac")}, ${sealed}, ${text.slice(-shownCharacters)}, ${base_url}, ${fallback})
            ON CONFLICT (org_id, provider) DO UPDATE SET account_id = excluded.account_id, secret = excluded.secret,
              last_four = excluded.last_four, base_url = excluded.base_url, fallback = excluded.fallback, changed_at = now()
            RETURNING ${columns}`).pipe(
            // The detail of a refused row would have what was stored.
            Effect.catch(() => Effect.die(new Error("The database refused the account.")))
          )
        }),
        remove: (org_id, provider) =>
          hasRows(sql`DELETE FROM provider_accounts WHERE ${of(org_id, provider)} RETURNING 1`),
        open: openAccount,
        routingAccounts: (org_id) =>
          routingAccountRows.all(sql`
            SELECT org_id, provider, account_id, fallback FROM provider_accounts
            WHERE ${org_id}::text IS NULL OR org_id = ${org_id}`),
        reseal: resealed(sql, encryptionKeys, "provider_accounts", ["org_id", "provider"], ["secret"], purposeOf)
      })
    })
  )
}
