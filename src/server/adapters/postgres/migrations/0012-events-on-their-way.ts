import type { Migration } from '../migration.ts'

/**
 * Undelivered events are written, read and deleted within a second: compressing their texts costs more than it saves.
 * If the stream is in the datastore, almost no event waits with its signature.
 */
export const eventsOnTheirWay: Migration = {
  name: '0012-events-on-their-way',
  sql: `
alter table outgoing_events alter column payload set storage external, alter column wire set storage external;
create index outgoing_events_signed_idx on outgoing_events (node_id) where wire is not null;
`,
}
