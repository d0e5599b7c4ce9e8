import type { Migration } from '../migration.ts'

/** What the bridges of a Domain consist of. `bridge_configs` holds what their hosts are to run, built from these rows. */
export const bridges: Migration = {
  name: '0024-bridges',
  sql: `
alter table bridge_relays
  add column listen_port integer not null default 51821,
  add column created_at timestamptz not null default now(),
  add column updated_at timestamptz not null default now();
alter table bridge_relays
  alter column listen_port drop default, alter column created_at drop default, alter column updated_at drop default;

create table bridge_user_access (
  resource_id uuid not null constraint bridge_user_access_resource_id_fkey references resources on delete cascade,
  slug text collate "C" not null,
  kind text not null,
  interface_name text collate "C" not null,
  listen_port integer not null,
  max_peers integer not null,
  auth_secret_ref text not null,
  routing_policy text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint bridge_user_access_pkey primary key (resource_id, slug),
  constraint bridge_user_access_interface_key unique (resource_id, interface_name)
);

-- The target may be gone: a rule outlives its node.
create table bridge_ingress_rules (
  resource_id uuid not null constraint bridge_ingress_rules_resource_id_fkey references resources on delete cascade,
  slug text collate "C" not null,
  sni_host text collate "C" not null,
  target_node_id uuid not null,
  target_port integer not null,
  acme_account_ref text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint bridge_ingress_rules_pkey primary key (resource_id, slug),
  constraint bridge_ingress_rules_host_key unique (resource_id, sni_host),
  constraint bridge_ingress_rules_target_key unique (resource_id, target_node_id, target_port)
);
create index bridge_ingress_rules_target_idx on bridge_ingress_rules (target_node_id);

create table bridge_tunnels (
  resource_id uuid not null constraint bridge_tunnels_resource_id_fkey references resources on delete cascade,
  slug text collate "C" not null,
  kind text not null,
  remote_host text not null,
  remote_port integer not null,
  auth_secret_ref text not null,
  allowed_subnets text[] not null,
  routing_policy text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint bridge_tunnels_pkey primary key (resource_id, slug)
);

-- Ports that a bridge listens on: one of the relay, one of each user-access provider.
create table bridge_listen_ports (
  resource_id uuid not null constraint bridge_listen_ports_resource_id_fkey references resources on delete cascade,
  listen_port integer not null,
  owner text not null,
  constraint bridge_listen_ports_pkey primary key (resource_id, listen_port)
);

-- A span is a range of numbers of its own for each resource, family and address, so that spans of two subnets overlap where
-- the subnets of one bridge do. The operators of inet would need an extension beside the resource.
create table bridge_tunnel_subnets (
  resource_id uuid not null,
  slug text collate "C" not null,
  span numrange not null,
  constraint bridge_tunnel_subnets_tunnel_fkey foreign key (resource_id, slug) references bridge_tunnels on delete cascade,
  constraint bridge_tunnel_subnets_span_excl exclude using gist (span with &&)
);
create index bridge_tunnel_subnets_tunnel_idx on bridge_tunnel_subnets (resource_id, slug);

-- Secrets of the bridge's own Project that its configuration names. No version: the newest.
create table bridge_secret_refs (
  resource_id uuid not null constraint bridge_secret_refs_resource_id_fkey references resources on delete cascade,
  owner text collate "C" not null,
  project_id uuid not null,
  name text collate "C" not null,
  version integer,
  constraint bridge_secret_refs_pkey primary key (resource_id, owner)
);
create index bridge_secret_refs_name_idx on bridge_secret_refs (project_id, name);
`,
}
