import type { Migration } from '../migration.ts'

/**
 * What else peers get of a node beside its endpoint: further addresses that it reports, and the subnets of the tunnels that it is
 * chosen to host. `domain_peers.subnet_basis` is a digest of what the subnets of the Domain were chosen by; empty without any.
 */
export const candidates: Migration = {
  name: '0034-candidates',
  sql: `
alter table node_endpoints add column candidates text[] not null default '{}';
alter table nodes add column hosted_subnets text[] not null default '{}';
alter table domain_peers add column subnet_basis text not null default '';
`,
}
