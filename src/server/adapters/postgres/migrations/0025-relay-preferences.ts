import type { Migration } from '../migration.ts'

/**
 * Relays by label: the bridge that each node prefers, and the nodes that carry the edges to the nodes of each bridge. Readers
 * use these rows alone, so that every replica sees the same mesh at the same revision.
 */
export const relayPreferences: Migration = {
  name: '0025-relay-preferences',
  sql: `
-- Ports of the relays by which the two nodes were chosen.
alter table domain_peers add column relay_port integer, add column second_relay_port integer;
update domain_peers as peers set revision = revision + 1, whole_revision = revision + 1,
  relay_port = (select listen_port from bridge_relays as relay join resource_hosts as host using (resource_id)
    where relay.domain_id = peers.domain_id and relay.enabled and host.node_id = peers.relay_node_id
    order by resource_id limit 1),
  second_relay_port = (select listen_port from bridge_relays as relay join resource_hosts as host using (resource_id)
    where relay.domain_id = peers.domain_id and relay.enabled and host.node_id = peers.second_relay_node_id
    order by resource_id limit 1)
where relay_node_id is not null;

-- The bridge that the effective label platform/relay of a node names. A row outlives its node until the bridge has a
-- configuration without it, and its bridge, which means nothing then.
create table relay_preferences (
  node_id uuid primary key,
  domain_id uuid not null constraint relay_preferences_domain_id_fkey references domains on delete cascade,
  resource_id uuid not null
);
create index relay_preferences_resource_idx on relay_preferences (resource_id, node_id);
create index relay_preferences_domain_idx on relay_preferences (domain_id);

-- The two lowest hosts of an enabled relay that are reachable.
create table relay_choices (
  resource_id uuid primary key,
  domain_id uuid not null constraint relay_choices_domain_id_fkey references domains on delete cascade,
  relay_node_id uuid not null,
  second_relay_node_id uuid,
  listen_port integer not null
);
create index relay_choices_domain_idx on relay_choices (domain_id);

insert into relay_preferences (node_id, domain_id, resource_id)
select node_id, domain_id, value::uuid
from (
  select node.id as node_id, node.domain_id, coalesce(
    (select value from label_assignments as label
      where kind = 'node' and object_id = node.id and definition_id = definition.id),
    case when definition.inherit then coalesce(
      (select value from label_assignments as label
        where kind = 'project' and object_id = node.project_id and definition_id = definition.id),
      (select value from label_assignments as label
        where kind = 'domain' and object_id = node.domain_id and definition_id = definition.id)
    ) end
  ) as value
  from label_definitions as definition cross join nodes as node
  where definition.qualified_key = 'platform/relay'
) as labelled
where value ~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';
`,
}
