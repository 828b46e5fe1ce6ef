/**
 * Indexes that were added to tables which already had rows. They are built without a lock, after the migrations.
 *
 * Name, and what follows it in CREATE INDEX CONCURRENTLY, such as `ON ledger (amount)`. Code of the same release may need the index: a
 * process that may migrate is not ready before it is built.
 */
export type Indexes = Readonly<Record<string, string>>

export const indexes: Indexes = {}
