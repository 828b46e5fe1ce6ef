-- Budgets of labels: what the runs with a label may charge and hold. People write them.

-- One row for each budget: of one value, or of each value by itself (value is null). The budget of a value counts instead of that of each value.
CREATE TABLE label_budgets (
  id text PRIMARY KEY,
  org_id text NOT NULL REFERENCES orgs,
  label text NOT NULL CHECK (label ~ '^[A-Za-z0-9_.-]{1,64}$'),
  value text CHECK (length(value) <= 500),
  -- The id of the value's row in `key_budgets`, a digest.
  budget_id text CHECK (left(budget_id, 4) = 'val_'),
  amount bigint NOT NULL CHECK (amount >= 0),
  period text NOT NULL CHECK (period IN ('day', 'week', 'month', 'total')),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- The changes of its own time zone, oldest first. Null: the wallet's counts.
  time_zones jsonb,
  CONSTRAINT label_budgets_value CHECK ((budget_id IS NULL) = (value IS NULL)),
  CONSTRAINT label_budgets_once UNIQUE NULLS NOT DISTINCT (org_id, label, budget_id)
);
CREATE TRIGGER audited AFTER INSERT OR UPDATE OR DELETE ON label_budgets FOR EACH ROW
EXECUTE FUNCTION audit_row('label_budget', 'id', 'id,org_id,created_at,budget_id', 'all');

-- The budget that counts for a value of a label, by the id of its row in `key_budgets`.
CREATE FUNCTION label_budget_of(org text, of_label text, of_value text) RETURNS label_budgets LANGUAGE sql STABLE AS $$
  SELECT b FROM label_budgets b WHERE b.org_id = org AND b.label = of_label AND (b.budget_id = of_value OR b.budget_id IS NULL)
  ORDER BY b.budget_id NULLS LAST LIMIT 1
$$;

-- A wallet names the labels that have a budget, so that a turn without such labels reads nothing more. The rows of values have no limit of their
-- own: who reads or writes one takes that of `label_budgets`. So a change costs the same for any number of values, and what was counted stays. The
-- wallet's new version makes a turn that has read it roll back.
CREATE FUNCTION label_budget_applies() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE org text := coalesce(NEW.org_id, OLD.org_id);
BEGIN
  UPDATE wallets w SET version = w.version + 1, budget_labels = (SELECT array_agg(DISTINCT b.label) FROM label_budgets b WHERE b.org_id = org)
  WHERE w.org_id = org;
  RETURN NULL;
END $$;
CREATE TRIGGER label_budget_applies AFTER INSERT OR UPDATE OR DELETE ON label_budgets FOR EACH ROW EXECUTE FUNCTION label_budget_applies();

-- One row for each run and value whose budget it counts in. The turn that admits the run writes it.
CREATE TABLE label_budget_runs (
  budget_id text NOT NULL REFERENCES key_budgets,
  run_id text NOT NULL,
  org_id text NOT NULL,
  PRIMARY KEY (budget_id, run_id)
);
