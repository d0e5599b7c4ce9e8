import type { Migration } from '../migration.ts'

/** Finds users of a Domain by their address. */
export const principalsByEmail: Migration = {
  name: '0015-principals-by-email',
  sql: `
create index principals_email_idx on principals (domain_id, email) where email is not null;
`,
}
