-- Approvals: which runs need a member's yes, and what the members said.

-- One row for each rule. People write it. A run that matches any active rule waits.
CREATE TABLE approval_rules (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 80),
  -- What a run must match (`Conditions` in schema/guards/Approval.ts). An empty object: every run matches.
  conditions jsonb NOT NULL CHECK (jsonb_typeof(conditions) = 'object' AND octet_length(conditions::text) <= 2000),
  -- The least role of a member who may decide.
  role text NOT NULL CHECK (role IN ('member', 'admin', 'owner')),
  -- Whether a member may approve a run that the member started.
  self_approval boolean NOT NULL,
  expires_after integer NOT NULL CHECK (expires_after BETWEEN 60 AND 604800),
  active boolean NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT approval_rules_name UNIQUE (org_id, name)
);
CREATE TRIGGER audited AFTER INSERT OR UPDATE OR DELETE ON approval_rules FOR EACH ROW
EXECUTE FUNCTION audit_row('approval_rule', 'id', 'id,org_id,created_at', 'all');

-- A wallet has the active rules, so that the turn of a wallet without rules reads nothing more. The wallet's new version makes a turn that has
-- read it roll back.
CREATE FUNCTION approval_rule_applies() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE org text := coalesce(NEW.org_id, OLD.org_id);
BEGIN
  UPDATE wallets w SET version = w.version + 1, approval_rules = (
    SELECT jsonb_agg(jsonb_build_object('id', r.id, 'name', r.name, 'role', r.role, 'self_approval', r.self_approval,
                                        'expires_after', r.expires_after, 'conditions', r.conditions) ORDER BY r.id)
    FROM approval_rules r WHERE r.org_id = org AND r.active)
  WHERE w.org_id = org;
  RETURN NULL;
END $$;
CREATE TRIGGER approval_rule_applies AFTER INSERT OR UPDATE OR DELETE ON approval_rules FOR EACH ROW
EXECUTE FUNCTION approval_rule_applies();

-- One row for each run that has needed a yes. The turn that admits the run writes it, and the turn that decides it, once. It has the rule as it
-- was then.
CREATE TABLE approvals (
  run_id text PRIMARY KEY,
  org_id text NOT NULL,
  rule_id text NOT NULL,
  rule_name text NOT NULL,
  role text NOT NULL,
  self_approval boolean NOT NULL,
  -- The member who started the run in a session. Null for an API key.
  started_by text,
  hold bigint NOT NULL CHECK (hold >= 0),
  -- Of the run's input, offers and hold: what a yes is about. A trigger writes it.
  digest text,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'denied', 'expired', 'cancelled')),
  requested_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  decided_at timestamptz,
  decided_by text,
  -- Whether the member decided in a session, or with the link of an e-mail.
  via text CHECK (via IN ('session', 'link')),
  CONSTRAINT approval_decided CHECK ((state = 'pending') = (decided_at IS NULL)),
  CONSTRAINT approval_by CHECK ((state IN ('approved', 'denied')) = (decided_by IS NOT NULL) AND (decided_by IS NULL) = (via IS NULL)),
  CONSTRAINT approval_in_time CHECK (state NOT IN ('approved', 'denied') OR decided_at < expires_at),
  CONSTRAINT approval_expired CHECK (state <> 'expired' OR decided_at >= expires_at),
  CONSTRAINT approval_of_another CHECK (state <> 'approved' OR self_approval OR decided_by IS DISTINCT FROM started_by)
);
CREATE INDEX approvals_pending ON approvals (expires_at) WHERE state = 'pending';
CREATE INDEX approvals_org ON approvals (org_id, run_id);

-- What a yes is about. Texts of JSON are stored as they came, so the digest changes with any part of them.
CREATE FUNCTION run_digest(org text, run text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT encode(sha256(convert_to(concat_ws(E'\n', r.run_id, r.hold, r.input::text, r.plan::text), 'UTF8')), 'hex')
  FROM runs r WHERE r.org_id = org AND r.run_id = run $$;

CREATE FUNCTION approval_refused(run text, rule text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'run % breaks the rule %', run, rule USING ERRCODE = 'check_violation', CONSTRAINT = rule; END $$;

-- A pending approval has its run, which holds its money and waits.
CREATE FUNCTION approval_begins() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM open_runs o WHERE o.run_id = NEW.run_id AND o.org_id = NEW.org_id AND o.state = 'waiting' AND o.hold = NEW.hold) THEN
    PERFORM approval_refused(NEW.run_id, 'approval_has_run');
  END IF;
  UPDATE approvals SET digest = run_digest(NEW.org_id, NEW.run_id) WHERE run_id = NEW.run_id;
  RETURN NULL;
END $$;
CREATE TRIGGER approval_begins AFTER INSERT ON approvals FOR EACH ROW EXECUTE FUNCTION approval_begins();

CREATE FUNCTION may_decide(has text, needed text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT array_position(ARRAY['viewer', 'member', 'admin', 'owner'], has) >= array_position(ARRAY['viewer', 'member', 'admin', 'owner'], needed) $$;

-- An approval is decided once, by a member who may. A member who lost the role meanwhile undoes the turn, which then reads it.
CREATE FUNCTION approval_changes() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE has text;
BEGIN
  IF OLD.state <> 'pending' THEN PERFORM approval_refused(OLD.run_id, 'approval_is_final'); END IF;
  IF NEW.state IN ('approved', 'denied') THEN
    SELECT m.role INTO has FROM members m WHERE m.org_id = NEW.org_id AND m.user_id = NEW.decided_by FOR KEY SHARE;
    IF may_decide(has, NEW.role) THEN RETURN NEW; END IF;
    PERFORM rungate_turn_conflict();
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER approval_changes BEFORE UPDATE ON approvals FOR EACH ROW EXECUTE FUNCTION approval_changes();

-- A run that waits starts only with a yes that is about what it is now, and ends only with its approval.
CREATE FUNCTION run_waits_for_approval() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE found approvals;
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NOT EXISTS (SELECT FROM approvals a WHERE a.run_id = NEW.run_id AND a.state = 'pending') THEN
      PERFORM approval_refused(NEW.run_id, 'waiting_run_has_approval');
    END IF;
    RETURN NULL;
  END IF;
  SELECT * INTO found FROM approvals a WHERE a.run_id = OLD.run_id;
  IF found.state IS NULL OR found.state = 'pending' OR TG_OP = 'UPDATE' AND (
    found.state <> 'approved' OR found.hold <> NEW.hold OR found.digest IS DISTINCT FROM run_digest(OLD.org_id, OLD.run_id))
  THEN
    PERFORM approval_refused(OLD.run_id, 'run_waits_for_approval');
  END IF;
  RETURN NULL;
END $$;
-- False for other runs, which cost one comparison.
CREATE TRIGGER run_begins_waiting AFTER INSERT ON open_runs FOR EACH ROW WHEN (NEW.state = 'waiting') EXECUTE FUNCTION run_waits_for_approval();
CREATE TRIGGER run_stops_waiting AFTER UPDATE ON open_runs FOR EACH ROW WHEN (OLD.state = 'waiting' AND NEW.state <> 'waiting')
EXECUTE FUNCTION run_waits_for_approval();
CREATE TRIGGER waiting_run_ends AFTER DELETE ON open_runs FOR EACH ROW WHEN (OLD.state = 'waiting') EXECUTE FUNCTION run_waits_for_approval();

-- One row for each link that was sent to a member, by the digest of its token. It decides one run, once.
CREATE TABLE approval_links (
  token_hash bytea PRIMARY KEY CHECK (length(token_hash) = 32),
  run_id text NOT NULL REFERENCES approvals ON DELETE CASCADE,
  user_id text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX approval_links_run ON approval_links (run_id);
