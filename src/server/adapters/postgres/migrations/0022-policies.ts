import type { Migration } from '../migration.ts'

/**
 * Policies as people write them, with their compiled rules and the nodes that they match. A peer selector is a group: a
 * number of the Domain that is never given twice. Which groups a node is in is in its own row, as its peers see it.
 */
export const policies: Migration = {
  name: '0022-policies',
  sql: `
alter table domains add column peer_visibility text not null default 'all'
  constraint domains_peer_visibility_check check (peer_visibility in ('all', 'reachable'));

-- Nothing has created a policy so far.
drop table policies;
drop table policy_revisions;

create table policies (
  id uuid primary key,
  domain_id uuid not null constraint policies_domain_id_fkey references domains on delete cascade,
  slug text collate "C" not null,
  revision_id uuid not null,
  applied_revision_id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint policies_domain_slug_key unique (domain_id, slug)
);

-- A Definition is held by the policies that name it. Before the deletion, so that a Domain can go with both at once.
create function release_policy_definitions() returns trigger language plpgsql as $$
begin
  delete from selector_definitions where holder = 'policy:' || old.id;
  return old;
end $$;
create trigger release_policy_definitions before delete on policies
  for each row execute function release_policy_definitions();

create table policy_revisions (
  id uuid primary key,
  policy_id uuid not null constraint policy_revisions_policy_id_fkey references policies on delete cascade,
  domain_id uuid not null,
  number integer not null,
  display_name text not null,
  selector text not null,
  document jsonb not null,
  rules text not null,
  fingerprint text not null,
  created_by text not null,
  created_at timestamptz not null,
  constraint policy_revisions_number_key unique (policy_id, number)
);

create table policy_matches (
  policy_id uuid not null constraint policy_matches_policy_id_fkey references policies on delete cascade,
  node_id uuid not null constraint policy_matches_node_id_fkey references nodes on delete cascade,
  constraint policy_matches_pkey primary key (policy_id, node_id)
);
create index policy_matches_node_idx on policy_matches (node_id);

create table policy_groups (
  domain_id uuid not null constraint policy_groups_domain_id_fkey references domains on delete cascade,
  number integer not null constraint policy_groups_number_check check (number > 0),
  selector text collate "C" not null,
  constraint policy_groups_pkey primary key (domain_id, number),
  constraint policy_groups_selector_key unique (domain_id, selector)
);

-- Domains whose nodes are to be matched again after a change of labels that concerns many of them: those after the node, in
-- the order of their ids. A definition that no policy of the Domain names concerns none.
create table policy_rematches (
  id uuid primary key,
  domain_id uuid not null constraint policy_rematches_domain_id_fkey references domains on delete cascade,
  project_id uuid,
  definition_id uuid,
  after_node_id uuid
);
create index policy_rematches_domain_idx on policy_rematches (domain_id);

-- A changed group is a change of many peers at once.
alter table peer_hints alter column node_id drop not null, alter column peer drop not null,
  add column group_change jsonb,
  add constraint peer_hints_one_check check ((peer is null) <> (group_change is null));

-- Groups that the revisions in force of policies name; a group that none names is deleted.
create table policy_group_uses (
  policy_id uuid not null constraint policy_group_uses_policy_id_fkey references policies on delete cascade,
  domain_id uuid not null,
  number integer not null,
  constraint policy_group_uses_pkey primary key (policy_id, number),
  constraint policy_group_uses_group_fkey foreign key (domain_id, number) references policy_groups
);
create index policy_group_uses_group_idx on policy_group_uses (domain_id, number);

-- The last number given to a group of the Domain.
alter table domain_peers add column last_group integer not null default 0;
alter table nodes add column policy_groups integer[] not null default '{}';
`,
}
