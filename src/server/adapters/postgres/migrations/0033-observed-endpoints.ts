import type { Migration } from '../migration.ts'

/**
 * Where nodes see their peers. `last_endpoint` of a node is what its peers get, which need not be what the node itself has
 * reported: that is in the columns `own_…`, null where it has reported nothing.
 */
export const observedEndpoints: Migration = {
  name: '0033-observed-endpoints',
  sql: `
alter table node_endpoints
  add column own_endpoint text,
  add column own_endpoint_port integer,
  add column own_reported_at timestamptz,
  alter column nat_type drop not null;
update node_endpoints set
  own_endpoint = last_endpoint, own_endpoint_port = last_endpoint_port, own_reported_at = last_endpoint_reported_at;

create table endpoint_observations (
  node_id uuid not null constraint endpoint_observations_node_id_fkey references nodes on delete cascade,
  observer_id uuid not null constraint endpoint_observations_observer_id_fkey references nodes on delete cascade,
  endpoint text not null,
  endpoint_port integer not null,
  first_seen_at timestamptz not null,
  seen_since timestamptz not null,
  observed_at timestamptz not null,
  constraint endpoint_observations_pkey primary key (node_id, observer_id)
) with (fillfactor = 70);
create index endpoint_observations_observer_idx on endpoint_observations (observer_id);
`,
}
