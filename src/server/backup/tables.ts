/**
 * Tables whose rows are in no backup, each with the reason. Every other table of the schema is in every backup: a new one
 * needs no entry. A restore leaves these as the migrations made them.
 */
export const TABLES_LEFT_OUT: Readonly<Record<string, string>> = {
  authz_index_marks: 'names the authorization indexes on the disks of replicas: after a restore they are rebuilt',
  capacity_replicas: 'names the processes that run: each enters itself again',
  event_log: 'undelivered and kept events of the undone time: a restore drops them, and nodes pull their state',
  outgoing_events: 'events on their way: a restore drops them, and nodes pull their state',
  schema_migrations: 'the migrations of a restore write it; the names are in backup.json',
}
