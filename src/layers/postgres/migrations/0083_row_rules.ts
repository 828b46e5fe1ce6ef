/**
 * The rules of a run's and of an entry's row, in triggers instead of CHECKs and triggers with conditions.
 *
 * PostgreSQL parses each stored CHECK and condition again for every statement that writes the table, and a run needs two such statements. A
 * PL/pgSQL function is parsed once for each connection. Entries are checked together, by the trigger that follows their chain. A broken rule is
 * reported by its name, as a CHECK's is.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ownerFunction } from "./ownerFunction.ts"

/** As in a CHECK, a rule that is null holds. */
type Rules = Readonly<Record<string, string>>

export const runRules: Rules = {
  runs_kind_check: "NEW.kind IN ('capability', 'endpoint')",
  run_kind:
    "(NEW.kind = 'capability') = (NEW.capability IS NOT NULL) AND (NEW.kind = 'endpoint') = (NEW.endpoint IS NOT NULL)",
  runs_status_check:
    "NEW.status IN ('created', 'succeeded', 'no_match', 'failed', 'timed_out', 'blocked', 'cancelled')",
  run_finished: "(NEW.finished_at IS NOT NULL) = (NEW.status <> 'created')",
  runs_hold_check: "NEW.hold >= 0",
  runs_quoted_check: "NEW.quoted >= 0",
  run_charge: "NEW.charged >= 0 AND NEW.charged <= NEW.hold",
  run_charged_only_when_delivered: "NEW.charged IS NULL OR NEW.status IN ('succeeded', 'no_match')",
  runs_provider_cost_check: "NEW.provider_cost >= 0",
  runs_idempotency_key_check: "length(NEW.idempotency_key) BETWEEN 1 AND 255"
}

export const ledgerRules: Rules = {
  ledger_seq_check: "seq > 0",
  ledger_type_check: "type IN ('reserve', 'settle', 'release', 'topup', 'bonus', 'refund')",
  ledger_sign: `CASE WHEN type IN ('reserve', 'settle') THEN amount < 0
                     WHEN type IN ('release', 'topup', 'bonus') THEN amount > 0 ELSE amount <> 0 END`,
  ledger_run: `CASE WHEN type = 'settle' THEN run_id IS NOT NULL
                    WHEN type IN ('reserve', 'release') THEN (run_id IS NOT NULL) <> (left(reference, 10) = 'allowance:')
                    ELSE run_id IS NULL END`,
  ledger_reserved_after_check: "reserved_after >= 0",
  ledger_hash_length: "length(hash) = 32",
  ledger_ids: "strpos(org_id || txn_id || coalesce(run_id, ''), '|') = 0"
}

const brokenOf = (rules: Rules) =>
  `CASE ${Object.entries(rules)
    .map(([name, rule]) => `WHEN NOT (${rule}) THEN '${name}'`)
    .join("\n           ")} END`

/** Drops the CHECKs of a table, and those of the same names that its partitions have of their own. */
const dropChecks = Effect.fnUntraced(function* (table: string, rules: Rules) {
  const sql = yield* SqlClient.SqlClient
  for (const name of Object.keys(rules)) {
    yield* sql`ALTER TABLE ${sql(table)} DROP CONSTRAINT ${sql(name)}`
    const left = yield* sql`
      SELECT relid::regclass::text AS place FROM pg_partition_tree(${table}::regclass) JOIN pg_constraint ON conrelid = relid AND conname = ${name}
      ORDER BY level`
    for (const { place } of left) yield* sql`ALTER TABLE ${sql(String(place))} DROP CONSTRAINT IF EXISTS ${sql(name)}`
  }
})

export const rowRules = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`LOCK TABLE runs, ledger IN ACCESS EXCLUSIVE MODE`
  yield* dropChecks("runs", runRules)
  for (const trigger of ["run_is_final", "run_holds_too_little"]) yield* sql`DROP TRIGGER ${sql(trigger)} ON runs`
  yield* sql.unsafe(`
    CREATE FUNCTION run_rules() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE broken text := ${brokenOf(runRules)};
    BEGIN
      IF broken IS NOT NULL THEN
        RAISE EXCEPTION 'run % breaks the rule %', NEW.run_id, broken
          USING ERRCODE = 'check_violation', CONSTRAINT = broken, TABLE = TG_TABLE_NAME;
      END IF;
      IF TG_OP = 'UPDATE' THEN
        IF OLD.finished_at IS NOT NULL AND (NEW.status IS DISTINCT FROM OLD.status OR NEW.charged IS DISTINCT FROM OLD.charged) THEN
          RAISE EXCEPTION 'run % is final (%)', OLD.run_id, OLD.status USING ERRCODE = 'check_violation';
        END IF;
      ELSIF NEW.kind = 'endpoint' AND NEW.status = 'created' THEN
        -- As in 0020_hold.
        IF NEW.hold < (CASE NEW.plan #>> '{raw,body_type}' WHEN 'actor_input' THEN 1
                       ELSE coalesce((NEW.plan #>> '{raw,estimate}')::numeric * 1000000, 1) END) THEN
          RAISE EXCEPTION 'run % holds less than its rate card says', NEW.run_id USING ERRCODE = 'check_violation';
        END IF;
      END IF;
      RETURN NEW;
    END $$`)
  yield* sql`CREATE TRIGGER run_rules BEFORE INSERT OR UPDATE ON runs FOR EACH ROW EXECUTE FUNCTION run_rules()`

  yield* dropChecks("ledger", ledgerRules)
  for (const trigger of ["credit_is_real", "audited_credit", "topup_is_paid", "warranty_is_decided"])
    yield* sql`DROP TRIGGER ${sql(trigger)} ON ledger`
  // As in 0033_ledger_months, with the rules of each entry.
  yield* ownerFunction(
    "ledger_chains() RETURNS trigger",
    `
    DECLARE wrong text; broken text; unequal text;
    BEGIN
      WITH n AS (
        SELECT org_id, seq, balance_after, reserved_after, hash, rule, lag(seq) OVER chain AS before, lead(seq) OVER chain IS NULL AS newest,
               first_value(seq - 1) OVER chain AS first_before,
               balance_after - balance_change AS balance_before, reserved_after - reserved_change AS reserved_before,
               lag(balance_after) OVER chain AS balance_of_before, lag(reserved_after) OVER chain AS reserved_of_before,
               first_value(balance_after - balance_change) OVER chain AS first_balance,
               first_value(reserved_after - reserved_change) OVER chain AS first_reserved
        FROM (SELECT *, CASE WHEN type IN ('reserve', 'release') THEN 0 ELSE amount END AS balance_change,
                     CASE WHEN type IN ('reserve', 'release') THEN -amount WHEN type = 'settle' THEN amount ELSE 0 END AS reserved_change,
                     ${brokenOf(ledgerRules)} AS rule
              FROM added) a WINDOW chain AS (PARTITION BY org_id ORDER BY seq)
      ), moved AS (
        UPDATE ledger_heads h SET seq = n.seq, balance = n.balance_after, reserved = n.reserved_after FROM n
        WHERE n.newest AND h.org_id = n.org_id AND h.seq = n.first_before AND h.balance = n.first_balance AND h.reserved = n.first_reserved
        RETURNING h.org_id
      )
      SELECT min(n.rule),
             min(n.org_id || ' entry ' || n.seq) FILTER (WHERE CASE WHEN n.before IS NULL THEN m.org_id IS NULL ELSE n.before <> n.seq - 1
               OR n.balance_of_before <> n.balance_before OR n.reserved_of_before <> n.reserved_before END),
             min(n.org_id) FILTER (WHERE n.newest AND (w.entry_seq <> n.seq OR w.balance <> n.balance_after
               OR w.reserved <> n.reserved_after OR w.head IS DISTINCT FROM n.hash))
      INTO wrong, broken, unequal
      FROM n LEFT JOIN moved m ON m.org_id = n.org_id LEFT JOIN wallets w ON n.newest AND w.org_id = n.org_id;
      IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'a ledger entry breaks the rule %', wrong
          USING ERRCODE = 'check_violation', CONSTRAINT = wrong, TABLE = TG_TABLE_NAME;
      END IF;
      IF broken IS NOT NULL THEN
        RAISE EXCEPTION 'the ledger does not continue at %', broken USING ERRCODE = 'check_violation';
      END IF;
      IF unequal IS NOT NULL THEN
        RAISE EXCEPTION 'wallet % does not equal its newest ledger entry', unequal USING ERRCODE = 'check_violation';
      END IF;
      RETURN NULL;
    END`
  )
  // After the statement, which writes the payment or the refund as well.
  yield* sql`
    CREATE FUNCTION ledger_credit_rules() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE who jsonb;
    BEGIN
      IF NEW.type = 'topup' THEN
        IF NOT EXISTS (SELECT FROM payments p WHERE p.org_id = NEW.org_id AND p.state = 'paid' AND p.amount = NEW.amount
                         AND coalesce(p.session_id, p.payment_intent, p.payment_id) = NEW.reference) THEN
          RAISE EXCEPTION 'top-up % of % has no paid payment', NEW.reference, NEW.org_id USING ERRCODE = 'check_violation';
        END IF;
        RETURN NULL;
      END IF;
      IF left(NEW.reference, 10) = 'simulated:' AND NEW.type = 'bonus' AND EXISTS (SELECT FROM service_mode WHERE mode = 'production') THEN
        RAISE EXCEPTION 'a production database accepts no simulated money (%)', TG_TABLE_NAME USING ERRCODE = 'check_violation';
      END IF;
      IF NEW.type = 'refund' AND left(NEW.reference, 9) = 'warranty:' AND NOT EXISTS (
        SELECT FROM warranty_refunds x WHERE x.run_id = substr(NEW.reference, 10) AND x.org_id = NEW.org_id AND x.amount = NEW.amount) THEN
        RAISE EXCEPTION 'no refund of the warranty was decided for %', NEW.reference USING ERRCODE = 'check_violation';
      END IF;
      who := audit_command_actor(NEW.org_id, 'Credit', NEW.reference);
      IF who IS NOT NULL THEN
        PERFORM audit_write(who, NEW.org_id, CASE NEW.type WHEN 'bonus' THEN 'wallet.credited' ELSE 'wallet.refunded' END, NEW.txn_id, NULL,
                            jsonb_build_object('amount', audit_usd(NEW.amount), 'note', NEW.note));
      END IF;
      RETURN NULL;
    END $$`
  yield* sql`
    CREATE TRIGGER ledger_credit_rules AFTER INSERT ON ledger FOR EACH ROW WHEN (NEW.type IN ('topup', 'bonus', 'refund'))
    EXECUTE FUNCTION ledger_credit_rules()`
  for (const name of ["run_is_final", "run_holds_too_little", "audit_credit", "topup_is_paid", "warranty_is_decided"])
    yield* sql`DROP FUNCTION ${sql(name)}()`
})
