/**
 * The equations that the books must satisfy, as SQL that lists violations, for all wallets or for one.
 *
 * They recompute everything from rows and share no code with the modules that write them. Run them in one snapshot. Each reads the
 * ledger once, or one wallet's part of it.
 */
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { allowanceViolations, budgetViolations } from "./budgets.ts"
import { creditViolations } from "./credits.ts"
import { optOutViolations } from "./optOuts.ts"
import { type Equation, violationRows } from "./Violation.ts"

export { Violation, violationRows } from "./Violation.ts"

/** Violations listed per equation: enough to see what is wrong. Damaged books can have millions. */
const perEquation = 50

/** Names of the equations that other modules look for among violations. */
export const equations = {
  /** `mailbox.parked` is the reason why a command was dead-lettered, null for all other commands. */
  deadLetters: "No command is dead-lettered",
  chain:
    "E9 each entry's hash is computed from the entry and the hash before it, and the newest hash is the wallet's head"
}

/** What the dropped months added to the sums of the ledger, a row for each type (migrations/LedgerRetention.ts). */
export const droppedAmounts = (sql: SqlClient.SqlClient) => sql`
    SELECT k.org_id, a.type, a.amount, a.entries FROM ledger_checkpoints k,
      LATERAL (VALUES ('reserve', k.reserve, k.entries), ('settle', k.settle, 0), ('release', k.release, 0)) AS a(type, amount, entries)`

/** Each organization's newest dropped entry. The chain is whole from there on. */
const checkpoints = (sql: SqlClient.SqlClient) => sql`
    (SELECT DISTINCT ON (org_id) org_id, seq, balance_after, reserved_after, hash FROM ledger_checkpoints ORDER BY org_id, seq DESC)`

/** What open runs and allowances hold. */
const holds = (sql: SqlClient.SqlClient) => sql`
    SELECT org_id, hold FROM open_runs UNION ALL SELECT org_id, held FROM key_budgets WHERE held > 0`

type Violations = ReturnType<Equation>

/** E7 and E9: each entry continues the one before, and the wallet names the newest one. */
const chainViolations = (
  sql: SqlClient.SqlClient,
  ofWallet: (column: string) => Statement.Fragment
): ReadonlyArray<Violations> => [
  violationRows(sql`
    SELECT e.equation, c.org_id || ' entry ' || c.seq AS subject,
           'balance_after ' || c.balance_after || ' after ' || c.balance_before || ', reserved_after ' || c.reserved_after || ' after '
             || c.reserved_before || ', previous number ' || c.previous AS detail
    FROM (
      SELECT *, hash = computed AS verifies,
             seq = previous + 1
               AND balance_after = balance_before + CASE WHEN type IN ('reserve', 'release') THEN 0 ELSE amount END
               AND reserved_after = reserved_before
                 + CASE WHEN type IN ('reserve', 'release') THEN -amount WHEN type = 'settle' THEN amount ELSE 0 END AS continues
      FROM (
        SELECT l.org_id, l.seq, l.type, l.amount, l.balance_after, l.reserved_after, l.hash, d.seq AS dropped,
               CASE WHEN l.seq = d.seq + 1 THEN d.seq ELSE coalesce(lag(l.seq) OVER chain, 0) END AS previous,
               CASE WHEN l.seq = d.seq + 1 THEN d.balance_after ELSE coalesce(lag(l.balance_after) OVER chain, 0) END AS balance_before,
               CASE WHEN l.seq = d.seq + 1 THEN d.reserved_after ELSE coalesce(lag(l.reserved_after) OVER chain, 0) END AS reserved_before,
               ledger_hash(CASE WHEN l.seq = d.seq + 1 THEN d.hash ELSE lag(l.hash) OVER chain END, l) AS computed
        FROM ledger l LEFT JOIN ${checkpoints(sql)} d ON d.org_id = l.org_id
        WHERE ${ofWallet("l.org_id")} WINDOW chain AS (PARTITION BY l.org_id ORDER BY l.seq)) entries
      -- Before the checkpoint, an entry may have lost the one before it.
      WHERE dropped IS NULL OR seq > dropped OR seq = previous + 1) c,
    LATERAL (VALUES
      ('E7 entries are numbered without gaps and each continues the one before', c.continues),
      (${equations.chain}, c.verifies)
    ) AS e(equation, holds)
    WHERE NOT (c.verifies AND c.continues) AND NOT e.holds ORDER BY c.org_id, c.seq LIMIT ${2 * perEquation}`),
  violationRows(sql`
    SELECT ${equations.chain} AS equation, w.org_id || ' entry ' || w.entry_seq AS subject,
           'the wallet names this entry as its newest, the ledger''s newest is ' || coalesce(n.seq, 0) AS detail
    FROM wallets w LEFT JOIN LATERAL (
      (SELECT seq, hash FROM ledger l WHERE l.org_id = w.org_id ORDER BY seq DESC LIMIT 1) UNION ALL
      (SELECT seq, hash FROM ledger_checkpoints k WHERE k.org_id = w.org_id) ORDER BY seq DESC LIMIT 1) n ON true
    WHERE ${ofWallet("w.org_id")} AND (w.head IS DISTINCT FROM n.hash OR w.entry_seq <> coalesce(n.seq, 0)) LIMIT ${perEquation}`)
]

/** E16. A run whose month was dropped has no charge any more to compare with. E5 compares the charges of the others with the ledger. */
const batchViolations: Equation = (sql, ofWallet, limit) =>
  violationRows(sql`
    SELECT 'E16 each batch counts its rows and what their runs were charged' AS equation, b.batch_id AS subject,
           'counted ' || b.counts::text || ', rows ' || r.counts::text || '; charged ' || b.charged || ', rows ' || r.charged
             || '; rows that differ from their runs: ' || r.wrong AS detail
    FROM (SELECT *, ARRAY[total, succeeded, no_match, failed, blocked, invalid, cancelled] AS counts FROM batches) b
    JOIN (SELECT r.batch_id, coalesce(sum(r.charged), 0) AS charged,
                 ARRAY[count(*), count(*) FILTER (WHERE r.status = 'succeeded'), count(*) FILTER (WHERE r.status = 'no_match'),
                       count(*) FILTER (WHERE r.status = 'failed'), count(*) FILTER (WHERE r.status = 'blocked'),
                       count(*) FILTER (WHERE r.status = 'invalid'), count(*) FILTER (WHERE r.status = 'cancelled')]::int[] AS counts,
                 count(*) FILTER (WHERE n.finished_at IS NULL AND n.run_id IS NOT NULL OR n.charged <> r.charged)
                   + count(r.run_id) - count(DISTINCT r.run_id) AS wrong
          FROM batch_rows r JOIN batches o USING (batch_id) LEFT JOIN runs n ON n.org_id = o.org_id AND n.run_id = r.run_id
          WHERE ${ofWallet("o.org_id")} GROUP BY r.batch_id) r USING (batch_id)
    WHERE ${ofWallet("b.org_id")}
      AND (b.counts <> r.counts OR b.charged <> r.charged OR r.wrong > 0
           OR b.finished_at IS NOT NULL AND b.total <> b.succeeded + b.no_match + b.failed + b.blocked + b.invalid + b.cancelled)
    LIMIT ${limit}`)

/** E17. An entry may be gone only if it was dropped with its month, behind a checkpoint. */
const headViolations: Equation = (sql, ofWallet, limit) =>
  violationRows(sql`
    SELECT 'E17 each signed head is an entry of the chain' AS equation, h.org_id || ' on ' || h.day AS subject,
           'entry ' || h.seq || CASE WHEN l.seq IS NULL AND k.seq IS NULL THEN ' is missing' ELSE ' has another hash than the one that was signed' END AS detail
    FROM wallet_heads h LEFT JOIN ledger l ON l.org_id = h.org_id AND l.seq = h.seq
    LEFT JOIN LATERAL (SELECT max(c.seq) AS seq FROM ledger_checkpoints c WHERE c.org_id = h.org_id) d ON true
    LEFT JOIN ledger_checkpoints k ON k.org_id = h.org_id AND k.seq = h.seq
    WHERE ${ofWallet("h.org_id")} AND (coalesce(l.hash, k.hash) <> h.hash OR (l.seq IS NULL AND h.seq > coalesce(d.seq, 0)))
    ORDER BY h.org_id, h.day LIMIT ${limit}`)

/** E19. A run may be gone with its month. A refund whose command is still queued is not entered yet. */
const warrantyViolations: Equation = (sql, ofWallet, limit) =>
  violationRows(sql`
    SELECT 'E19 each refund of the warranty is one entry of at most its run''s charge' AS equation, coalesce(x.run_id, l.reference) AS subject,
           'decided ' || coalesce(x.amount::text, 'nothing') || ', entered ' || coalesce(l.amount::text, 'nothing')
             || ', charged ' || coalesce(r.charged::text, 'nothing') AS detail
    FROM (SELECT * FROM warranty_refunds WHERE ${ofWallet("org_id")}) x
    FULL JOIN (SELECT org_id, reference, amount FROM ledger
               WHERE type = 'refund' AND run_id IS NULL AND left(reference, 9) = 'warranty:' AND ${ofWallet("org_id")}) l
      ON l.org_id = x.org_id AND l.reference = 'warranty:' || x.run_id
    LEFT JOIN runs r ON r.org_id = x.org_id AND r.run_id = x.run_id
    WHERE x.run_id IS NULL OR l.amount <> x.amount
       OR (l.reference IS NULL AND NOT EXISTS (SELECT FROM mailbox m WHERE m.org_id = x.org_id AND m.command_id = 'warranty:' || x.run_id))
       OR (r.run_id IS NOT NULL AND (x.amount > coalesce(r.charged, 0) OR r.reused_from IS NOT NULL))
    LIMIT ${limit}`)

/** E25. A run of a dropped month is gone. The time of a run's end is that of the database, as that of its approval is. */
const approvalViolations: Equation = (sql, ofWallet, limit) =>
  violationRows(sql`
    SELECT 'E25 a run that needs an approval waits with its hold until it has one, and calls nobody before' AS equation,
           coalesce(a.run_id, o.run_id) AS subject,
           coalesce(a.state, 'no approval') || ', run ' || coalesce(o.state, r.status, 'gone') || ', hold ' || coalesce(a.hold, o.hold) AS detail
    FROM (SELECT * FROM approvals WHERE ${ofWallet("org_id")}) a
    FULL JOIN (SELECT * FROM open_runs WHERE ${ofWallet("org_id")}) o USING (run_id)
    LEFT JOIN runs r ON r.org_id = a.org_id AND r.run_id = a.run_id
    WHERE (coalesce(a.state, '') = 'pending') <> (coalesce(o.state, '') = 'waiting')
       OR a.hold <> o.hold OR a.hold <> r.hold
       OR (o.state = 'waiting' AND json_array_length(o.attempts) > 0)
       OR (a.state = 'approved' AND coalesce(r.finished_at, o.since) < a.decided_at)
       OR (a.state IN ('denied', 'expired', 'cancelled')
           AND (o.run_id IS NOT NULL OR r.status <> 'cancelled' OR json_array_length(coalesce(r.attempts, '[]')) > 0))
    LIMIT ${limit}`)

/** E22. A run of a dropped month is gone. The plan's text is searched first: parsing the plans of millions of runs takes minutes. */
const agreementViolations: Equation = (sql, ofWallet, limit) =>
  violationRows(sql`
    SELECT 'E22 a run that needs two providers to agree succeeds only with the answers of two' AS equation, r.run_id AS subject,
           'answers of ' || a.providers || ' providers, charged ' || coalesce(r.charged, 0) AS detail
    FROM runs r, LATERAL (SELECT count(DISTINCT one.value ->> 'provider') AS providers FROM json_array_elements(r.attempts) AS one
                          WHERE one.value ->> 'outcome' = 'succeeded') a
    WHERE r.status = 'succeeded' AND r.reused_from IS NULL AND position('"agree":2' IN r.plan::text) > 0 AND r.plan #>> '{accept,agree}' = '2' AND a.providers <> 2
      AND ${ofWallet("r.org_id")}
    LIMIT ${limit}`)

/** Equations of one statement. */
const others = [
  creditViolations,
  headViolations,
  budgetViolations,
  batchViolations,
  approvalViolations,
  warrantyViolations,
  allowanceViolations,
  agreementViolations,
  optOutViolations
]

export const violations = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, org_id: string | null) {
  const ofWallet = (column: string) => (org_id === null ? sql.literal("true") : sql`${sql.literal(column)} = ${org_id}`)

  const deadLetters = violationRows(sql`
    SELECT ${equations.deadLetters} AS equation, tag || ' of ' || coalesce(run_id, org_id) AS subject, parked AS detail
    FROM mailbox WHERE parked IS NOT NULL AND ${ofWallet("org_id")} LIMIT ${perEquation}`)

  // A wallet may be short by at most what was clawed back, because only a clawback can take money that was already spent.
  const sums = violationRows(sql`
    SELECT e.equation, org_id AS subject, e.detail
    FROM (SELECT org_id, balance, reserved FROM wallets WHERE ${ofWallet("org_id")}) w
    FULL JOIN (SELECT org_id, coalesce(sum(amount) FILTER (WHERE type NOT IN ('reserve', 'release')), 0) AS balance,
                      coalesce(sum(amount) FILTER (WHERE type = 'settle'), 0)
                        - coalesce(sum(amount) FILTER (WHERE type IN ('reserve', 'release')), 0) AS reserved,
                      -coalesce(sum(amount) FILTER (WHERE type = 'refund' AND amount < 0), 0) AS clawed
               FROM (SELECT org_id, type, amount, 1 AS entries FROM ledger WHERE ${ofWallet("org_id")} UNION ALL ${droppedAmounts(sql)}) kept_and_dropped
               WHERE ${ofWallet("org_id")} GROUP BY org_id) l USING (org_id)
    FULL JOIN (SELECT org_id, sum(hold) AS held FROM (${holds(sql)}) holds WHERE ${ofWallet("org_id")} GROUP BY org_id) o USING (org_id),
    LATERAL (SELECT coalesce(w.balance, 0) AS balance, coalesce(w.reserved, 0) AS reserved, coalesce(l.balance, 0) AS entered,
                    coalesce(l.reserved, 0) AS entered_holds, coalesce(l.clawed, 0) AS clawed, coalesce(o.held, 0) AS held) f,
    LATERAL (VALUES
      ('E1 balance = sum of topup, bonus, refund and settle', f.balance = f.entered,
       'wallet ' || f.balance || ', ledger ' || f.entered),
      ('E2 reserved = holds on the ledger = holds of open runs and allowances', f.reserved = f.entered_holds AND f.reserved = f.held,
       'wallet ' || f.reserved || ', ledger ' || f.entered_holds || ', open runs and allowances ' || f.held),
      ('E3 available >= 0, or short by no more than was clawed back', f.reserved - f.balance <= f.clawed,
       'available ' || f.balance - f.reserved || ', clawed back ' || f.clawed)
    ) AS e(equation, holds, detail)
    WHERE NOT e.holds LIMIT ${3 * perEquation}`)

  // Wrong rows are filtered before their details are formatted, because nearly all of millions of rows are right.
  const runs = violationRows(sql`
    SELECT e.equation, b.run_id AS subject,
           'status ' || coalesce(b.status, 'no such run') || ', held ' || coalesce(b.hold, 0) || ', reserved ' || b.reserved
             || ', resolved ' || b.resolved || ', settled ' || b.settled || ', charged ' || b.charged AS detail
    FROM (
      SELECT *, status IS NOT NULL AND reserves <= 1 AND settles <= 1 AND (finished_at IS NULL OR reserved = resolved)
                  AND (finished_at IS NOT NULL OR state IS NULL OR (reserved = hold AND resolved = 0)) AS once,
                charged = settled AND (status IS NULL OR charged <= hold)
                  AND (charged = 0 OR status IN ('succeeded', 'no_match')) AS bounded
      FROM (
        SELECT run_id, r.status, r.hold, r.finished_at, o.state, coalesce(r.charged, 0) AS charged, coalesce(l.reserved, 0) AS reserved,
               coalesce(l.resolved, 0) AS resolved, coalesce(l.settled, 0) AS settled, coalesce(l.reserves, 0) AS reserves,
               coalesce(l.settles, 0) AS settles
        FROM (SELECT org_id, run_id, -coalesce(sum(amount) FILTER (WHERE type = 'reserve'), 0) AS reserved,
                     coalesce(sum(amount) FILTER (WHERE type = 'release'), 0) - coalesce(sum(amount) FILTER (WHERE type = 'settle'), 0) AS resolved,
                     -coalesce(sum(amount) FILTER (WHERE type = 'settle'), 0) AS settled,
                     count(*) FILTER (WHERE type = 'reserve') AS reserves, count(*) FILTER (WHERE type = 'settle') AS settles
              FROM ledger WHERE run_id IS NOT NULL AND ${ofWallet("org_id")} GROUP BY org_id, run_id) l
        FULL JOIN (SELECT org_id, run_id, status, hold, charged, finished_at FROM runs WHERE ${ofWallet("org_id")}) r USING (org_id, run_id)
        LEFT JOIN open_runs o USING (run_id)) both_sides) b,
    LATERAL (VALUES
      ('E4 each run is reserved at most once and resolved in full when it is final', b.once),
      ('E5 0 <= charge <= hold, and only runs that delivered are charged', b.bounded)
    ) AS e(equation, holds)
    WHERE NOT (b.once AND b.bounded) AND NOT e.holds LIMIT ${2 * perEquation}`)

  const topups = violationRows(sql`
    SELECT 'E6 each top-up is one paid payment of that amount, and each paid payment one top-up' AS equation,
           coalesce(p.payment_id, org_id || ' ' || reference) AS subject,
           CASE WHEN l.entered THEN 'entered' ELSE 'not entered' END || ', ' || CASE WHEN p.payment_id IS NULL THEN 'not paid' ELSE 'paid' END
             || ': ' || amount AS detail
    FROM (SELECT org_id, reference, amount, true AS entered FROM ledger WHERE type = 'topup' AND run_id IS NULL AND ${ofWallet("org_id")}) l
    FULL JOIN (SELECT org_id, coalesce(session_id, payment_intent, payment_id) AS reference, amount, payment_id
               FROM payments WHERE state = 'paid' AND ${ofWallet("org_id")}) p USING (org_id, reference, amount)
    WHERE l.entered IS NULL OR p.payment_id IS NULL LIMIT ${perEquation}`)

  const clawbacks = violationRows(sql`
    SELECT 'E6 the clawed back amount of each payment equals its refunds and disputes' AS equation, payment_id AS subject,
           'clawed back ' || p.clawed_back || ', entered ' || -coalesce(sum(l.amount), 0) AS detail
    FROM payments p LEFT JOIN payment_reversals r USING (payment_id)
    LEFT JOIN ledger l ON l.org_id = p.org_id AND l.type = 'refund' AND l.run_id IS NULL
      AND l.reference IN (r.reversal_id, r.reversal_id || ':returned')
    WHERE (p.clawed_back <> 0 OR r.reversal_id IS NOT NULL) AND ${ofWallet("p.org_id")}
    GROUP BY p.payment_id, p.clawed_back HAVING p.clawed_back <> -coalesce(sum(l.amount), 0) LIMIT ${perEquation}`)

  // A negative entry can bring a wallet below zero, so each one needs a reversal or a referral as its reason.
  const taken = violationRows(sql`
    SELECT 'E6 money is taken back only by a payment''s reversal or with a referral' AS equation,
           l.org_id || ' entry ' || l.seq AS subject, l.reference || ': ' || l.amount AS detail
    FROM ledger l WHERE l.type = 'refund' AND l.run_id IS NULL AND l.amount < 0 AND ${ofWallet("l.org_id")}
      AND NOT EXISTS (SELECT FROM payment_reversals r JOIN payments p USING (payment_id)
                      WHERE r.reversal_id = l.reference AND p.org_id = l.org_id)
      AND NOT EXISTS (SELECT FROM referrals f WHERE f.referral_id = split_part(l.reference, ':', 1)
                        AND l.org_id IN (f.referred_org, f.referrer_org)) LIMIT ${perEquation}`)

  const bonuses = violationRows(sql`
    SELECT 'E12 a referred organization has its bonus unless its deposit was reversed' AS equation, f.referral_id AS subject,
           'bonus of ' || f.deposit_bonus || ' ' || f.bonus_state || ', entered ' || l.given AS detail
    FROM referrals f, LATERAL (
      SELECT coalesce(sum(amount), 0) AS given FROM ledger l
      WHERE l.org_id = f.referred_org AND l.type IN ('bonus', 'refund') AND l.run_id IS NULL
        AND split_part(l.reference, ':', 1) = f.referral_id) l
    WHERE ${ofWallet("f.referred_org")} AND l.given <> CASE WHEN f.bonus_state = 'granted' THEN f.deposit_bonus ELSE 0 END
    LIMIT ${perEquation}`)

  const shares = violationRows(sql`
    SELECT 'E12 the recorded credits of a referral add up to its credited amount' AS equation, f.referral_id AS subject,
           'credited ' || f.credited || ' in ' || f.credits || ', recorded ' || coalesce(sum(c.amount), 0) || ' in ' || count(c.n) AS detail
    FROM referrals f LEFT JOIN referral_credits c USING (referral_id) WHERE ${ofWallet("f.referrer_org")}
    GROUP BY f.referral_id, f.credited, f.credits
    HAVING f.credited <> coalesce(sum(c.amount), 0) OR f.credits <> count(c.n) LIMIT ${perEquation}`)

  const credits = violationRows(sql`
    SELECT 'E12 each credit of a referral is one entry of its referrer, or a queued command' AS equation, reference AS subject,
           CASE WHEN l.entered THEN 'entered' ELSE 'not entered' END || ', ' || CASE WHEN c.recorded THEN 'recorded' ELSE 'not recorded' END
             || ': ' || amount AS detail
    FROM (SELECT f.referrer_org AS org_id, c.referral_id || ':share:' || c.n AS reference, c.amount, true AS recorded
          FROM referral_credits c JOIN referrals f USING (referral_id) WHERE ${ofWallet("f.referrer_org")}) c
    FULL JOIN (SELECT org_id, reference, amount, true AS entered FROM ledger
               WHERE type IN ('bonus', 'refund') AND run_id IS NULL AND reference LIKE 'ref\\_%:share:%' AND ${ofWallet("org_id")}) l
      USING (org_id, reference, amount)
    WHERE c.recorded IS NULL
       OR (l.entered IS NULL AND NOT EXISTS (SELECT FROM mailbox m WHERE m.org_id = c.org_id AND m.command_id = c.reference))
    LIMIT ${perEquation}`)

  const all: ReadonlyArray<Violations> = [
    ...[deadLetters, sums, runs, ...chainViolations(sql, ofWallet), topups, clawbacks, taken, bonuses, shares, credits],
    ...others.map((of) => of(sql, ofWallet, perEquation))
  ]
  return (yield* Effect.all(all)).flat()
})
