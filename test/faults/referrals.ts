/**
 * The flows of referrals: the newcomer's bonus for a deposit, and the referrer's share of what a run brought.
 *
 * The referrer is the pass's own tenant; the newcomer signs up with its code before anything breaks.
 */
import { type Reply, type Tenant, until } from "../kit/app.ts"
import { type Flow, openStage, patiently, type Stage } from "./stage.ts"

/** A share of nearly everything leaves this much for the bonus of a deposit of $10.00, in microdollars. */
const bonusMicros = 166
/** Shares are counted every second. */
export const openReferralStage = () =>
  openStage({
    backend: "postgres",
    settings: { RUNGATE_REFERRAL_SECONDS: "1", RUNGATE_REFERRAL_SHARE_PERCENT: "99.99" }
  })

interface Newcomer {
  readonly org_id: string
  readonly token: string
}

const newcomers = new Map<string, Newcomer>()
const newcomerOf = (tenant: Tenant): Newcomer => {
  const found = newcomers.get(tenant.org_id)
  if (found === undefined) throw new Error("nobody signed up")
  return found
}

const ok = ({ status, body, text }: Reply) => {
  if (status >= 300) throw new Error(`${status} ${text}`)
  return body
}

const signUp = async ({ direct }: Stage, tenant: Tenant) => {
  const { code } = ok(await tenant.get("/v1/referrals"))
  const email = `${crypto.randomUUID()}@example.com`
  const body = { email, password: "correct horse battery", organization: "Newcomer", referral_code: code }
  const { session_token: token } = ok(await direct.call(null, "POST", "/v1/auth/sign-up", { body }))
  const [row] = await direct.sql("SELECT referred_org FROM referrals WHERE referrer_org = $1", [tenant.org_id])
  const newcomer = { org_id: String(row?.["referred_org"]), token }
  newcomers.set(tenant.org_id, newcomer)
  return newcomer
}

const topUp = async (app: Stage["app"], token: string) =>
  ok(await patiently(() => app.call(token, "POST", "/v1/wallet/topups/checkout", { body: { amount: "25.00" } })))

const ledgerOf = async ({ direct }: Stage, org_id: string) =>
  (await direct.sql("SELECT type, amount::text, reference FROM ledger WHERE org_id = $1 ORDER BY seq", [org_id])).map(
    ({ type, amount, reference }) => ({ type: String(type), amount: Number(amount), reference: String(reference) })
  )

export const depositBonusFlow: Flow = {
  name: "deposit bonus of a referral",
  prepare: async (stage, tenant) => {
    const { token } = await signUp(stage, tenant)
    return async () => void (await topUp(stage.app, token))
  },
  check: async (stage, tenant) => {
    const entries = await ledgerOf(stage, newcomerOf(tenant).org_id)
    const bonuses = entries.filter((one) => one.type === "bonus")
    // A client that heard nothing asks for a second top-up; the bonus is for the first one only.
    const topUps = entries.filter((one) => one.type === "topup").length
    const found: Array<string> = []
    if (bonuses.length !== 1 || bonuses[0]?.amount !== bonusMicros) found.push(`bonuses: ${JSON.stringify(bonuses)}`)
    if (topUps < 1 || topUps > 2) found.push(`${topUps} top-ups`)
    return found
  }
}

export const shareFlow: Flow = {
  name: "referrer's share of a run",
  own: [/FROM referrals r JOIN wallets w/],
  prepare: async (stage, tenant) => {
    const { app, direct } = stage
    const { org_id, token } = await signUp(stage, tenant)
    await topUp(direct, token)
    const counted = () =>
      until(
        "every entry is counted",
        () =>
          direct.sql(
            "SELECT 1 FROM referrals JOIN wallets ON org_id = referred_org WHERE referred_org = $1 AND accrued_seq = entry_seq",
            [org_id]
          ),
        (rows) => rows.length === 1
      )
    await counted()
    // Not pinned to a provider: a run that is may not be tried again when nobody knows what became of it.
    const body = { capability: "people.search", input: { titles: ["buyer"], limit: 25 } }
    return async () => {
      // One alone earns less than the cent from which on a share is credited.
      for (const headers of [1, 2].map(() => ({ "idempotency-key": crypto.randomUUID() })))
        ok(await patiently(() => app.call(token, "POST", "/v1/run", { body, headers })))
      await counted()
    }
  },
  check: async (stage, tenant) => {
    const { org_id } = newcomerOf(tenant)
    const [row] = await stage.direct.sql(
      `SELECT floor(sum(greatest(charged - coalesce(provider_cost, 0), 0)) * 9999 / 10000)::text AS earned, count(*)::int AS runs,
              (SELECT credited::text FROM referrals WHERE referred_org = $1) AS credited
       FROM runs WHERE org_id = $1`,
      [org_id]
    )
    const shares = (await ledgerOf(stage, tenant.org_id)).filter((one) => one.reference.includes(":share:"))
    const found: Array<string> = []
    if (row?.["runs"] !== 2) found.push(`${row?.["runs"]} runs`)
    if (Number(row?.["earned"]) < 10_000) found.push(`too little to be credited: ${row?.["earned"]}`)
    if (shares.length !== 1 || shares[0]?.amount !== Number(row?.["earned"]) || row?.["credited"] !== row?.["earned"])
      found.push(`earned ${row?.["earned"]}, credited ${row?.["credited"]}, entries ${JSON.stringify(shares)}`)
    return found
  }
}
