import type { Migration } from '../migration.ts'

/** Who may connect to a user-access provider, and the network of which each one has an address. */
export const userAccessPeers: Migration = {
  name: '0035-user-access-peers',
  sql: `
alter table bridge_user_access add column peer_subnet text;

create table bridge_user_access_peers (
  resource_id uuid not null,
  slug text collate "C" not null,
  name text collate "C" not null,
  public_key text collate "C" not null,
  address text not null,
  created_at timestamptz not null,
  constraint bridge_user_access_peers_pkey primary key (resource_id, slug, name),
  constraint bridge_user_access_peers_provider_fkey
    foreign key (resource_id, slug) references bridge_user_access on delete cascade,
  constraint bridge_user_access_peers_public_key_key unique (resource_id, slug, public_key),
  constraint bridge_user_access_peers_address_key unique (resource_id, slug, address)
);
`,
}
