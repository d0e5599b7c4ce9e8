import type { Migration } from '../migration.ts'

/**
 * Positions in the streams of Domains: numbers of outbox rows above a base. A restore raises the base, so that positions which were
 * given after the backup are below everything that is kept.
 */
export const domainStreams: Migration = {
  name: '0037-domain-streams',
  sql: `
alter table outbox_head add column stream_base bigint not null default 0;
`,
}
