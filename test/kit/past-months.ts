/** Months of the past, empty, in a database whose tables are as a first start leaves them: as if the service had been there since. */
type Sql = (text: string) => Promise<unknown>

const monthStart = (back: number) => `run_id_at(date_trunc('month', now()) - make_interval(months => ${back}))`

/** Makes `count` months before the current one; `runs_first` and `ledger_first` then have the time before. */
export const pastMonths = async (sql: Sql, count: number) => {
  const bound = `format('CHECK (run_id IS NULL OR run_id < %L)', ${monthStart(count)})`
  await sql(`DO $$ BEGIN
    ALTER TABLE runs_recent DETACH PARTITION runs_first;
    ALTER TABLE runs_first DROP CONSTRAINT before_first_month;
    ALTER TABLE ledger_first DROP CONSTRAINT before_first_month;
    EXECUTE 'ALTER TABLE runs_first ADD CONSTRAINT before_first_month ' || ${bound};
    EXECUTE 'ALTER TABLE ledger_first ADD CONSTRAINT before_first_month ' || ${bound};
    EXECUTE format('ALTER TABLE runs_recent ATTACH PARTITION runs_first FOR VALUES FROM (MINVALUE) TO (%L)', ${monthStart(count)});
  END $$`)
  for (const [what, parent] of [
    ["runs", "runs_recent"],
    ["ledger", "ledger"]
  ])
    for (let back = count; back > 0; back--)
      await sql(`SELECT make_partition('${parent}', '${what}_' || to_char(date_trunc('month', now()) - make_interval(months => ${back}), 'YYYY_MM'),
        ${monthStart(back)}, ${monthStart(back - 1)})`)
}

/** Repeats a statement that gave way to others that read the table, as a worker does. */
export const patiently = async <Row>(ask: () => Promise<Row>): Promise<Row> => {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "55P03")) throw error
    }
  }
}
