import type { Migration } from '../migration.ts'

/**
 * The networks that bridges of a Domain may lead its nodes to. What is routed by now stays routed: subnets outside of the private
 * networks are added to the setting of their Domain, or all networks where they are too many for it.
 */
export const routedNetworks: Migration = {
  name: '0039-routed-networks',
  sql: `
alter table domains add column routed_networks jsonb not null
  default '["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"]';

with routed as (
  select resource_id, unnest(allowed_subnets) as subnet from bridge_tunnels
  union select resource_id, peer_subnet from bridge_user_access where peer_subnet is not null
), others as (
  select resources.domain_id, array_agg(distinct routed.subnet order by routed.subnet) as subnets
  from routed join resources on resources.id = routed.resource_id
  where not routed.subnet::inet <<= any (array['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']::inet[])
  group by resources.domain_id
)
update domains set routed_networks = case
  when cardinality(others.subnets) > 60 then '["0.0.0.0/0", "::/0"]'::jsonb
  else domains.routed_networks || to_jsonb(others.subnets)
end
from others where others.domain_id = domains.id;
`,
}
