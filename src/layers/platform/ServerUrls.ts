/** Reads the addresses of PostgreSQL from the environment. */
import { type SettingsReader, secret } from "./SettingsReader.ts"

const postgres = ["postgres", "postgresql"]

export const databaseUrlsOf = (read: SettingsReader) => {
  const url = read.url("DATABASE_URL", postgres)
  const direct = read.url("DATABASE_DIRECT_URL", postgres)
  if (direct !== null && read.text("DATABASE_URL") === undefined) {
    read.problems.push(
      "DATABASE_DIRECT_URL is set, but DATABASE_URL is missing: set DATABASE_URL to the address of the connection pooler, or unset DATABASE_DIRECT_URL"
    )
  }
  return {
    databaseUrl: secret(url),
    databaseDirectUrl: secret(direct),
    migrationDatabaseUrl: secret(read.url("RUNGATE_MIGRATION_DATABASE_URL", postgres))
  }
}
