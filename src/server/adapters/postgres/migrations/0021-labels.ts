import type { Migration } from '../migration.ts'

/**
 * Label Definitions, what they are assigned to, and the index of objects that selectors are evaluated over. Triggers keep
 * that index, so that no surface can forget it, and the labels in the rows of nodes. The labels of nodes become
 * assignments of Definitions of their Domain, and so do the keys of join tokens. The service writes the parent edges of
 * Definitions that are not `granted` yet.
 */
export const labels: Migration = {
  name: '0021-labels',
  sql: `
create table label_definitions (
  id uuid primary key,
  scope_kind text not null constraint label_definitions_scope_kind_check
    check (scope_kind in ('platform', 'domain', 'project')),
  domain_id uuid constraint label_definitions_domain_id_fkey references domains on delete cascade,
  project_id uuid constraint label_definitions_project_id_fkey references projects on delete cascade,
  local_key text collate "C" not null,
  qualified_key text collate "C" not null constraint label_definitions_qualified_key_key unique,
  description text not null,
  value_schema jsonb not null,
  on_delete text not null constraint label_definitions_on_delete_check check (on_delete in ('block', 'cascade', 'orphan')),
  immutable boolean not null,
  inherit boolean not null,
  kinds text[] not null,
  system boolean not null,
  granted boolean not null,
  implicit boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint label_definitions_scope_check check (
    (scope_kind = 'platform' and domain_id is null and project_id is null)
    or (scope_kind = 'domain' and domain_id is not null and project_id is null)
    or (scope_kind = 'project' and domain_id is not null and project_id is not null)
  )
);
create index label_definitions_scope_idx on label_definitions (scope_kind, domain_id, project_id, id);
create index label_definitions_project_idx on label_definitions (project_id) where project_id is not null;
create index label_definitions_domain_idx on label_definitions (domain_id) where domain_id is not null;
create index label_definitions_local_key_idx on label_definitions (local_key);
create index label_definitions_not_granted_idx on label_definitions (id) where not granted;

create table label_objects (
  kind text not null,
  id uuid not null,
  subkind text,
  domain_id uuid,
  project_id uuid,
  constraint label_objects_pkey primary key (kind, id)
);
create index label_objects_domain_idx on label_objects (domain_id, kind, id);
create index label_objects_project_idx on label_objects (project_id, kind, id);

create table label_assignments (
  kind text not null,
  object_id uuid not null,
  qualified_key text collate "C" not null,
  definition_id uuid constraint label_assignments_definition_id_fkey references label_definitions,
  value text collate "C" not null,
  value_type text not null constraint label_assignments_value_type_check
    check (value_type in ('string', 'integer', 'boolean')),
  number bigint,
  assigned_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint label_assignments_pkey primary key (kind, object_id, qualified_key),
  constraint label_assignments_object_fkey foreign key (kind, object_id) references label_objects on delete cascade,
  constraint label_assignments_number_check check ((number is not null) = (value_type = 'integer'))
);
create index label_assignments_value_idx on label_assignments (definition_id, value, kind, object_id)
  where definition_id is not null;
create index label_assignments_number_idx on label_assignments (definition_id, number, kind, object_id)
  where definition_id is not null and number is not null;
create index label_assignments_of_object_idx on label_assignments (kind, object_id, definition_id, value)
  where definition_id is not null;

-- Definitions that stored selectors name: they cannot be deleted, since a lost key would make != match everything.
create table selector_definitions (
  definition_id uuid not null constraint selector_definitions_definition_id_fkey references label_definitions,
  holder text not null,
  constraint selector_definitions_pkey primary key (definition_id, holder)
);
create index selector_definitions_holder_idx on selector_definitions (holder);

create function keep_label_object() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    update label_objects set project_id = new.project_id where kind = tg_argv[0] and id = new.id;
    return null;
  end if;
  if tg_op = 'DELETE' then
    if tg_table_name = 'principals' then
      delete from label_objects where kind in ('user', 'serviceaccount') and id = old.id;
    else
      delete from label_objects where kind = tg_argv[0] and id = old.id;
    end if;
    return null;
  end if;
  if tg_table_name = 'domains' then
    insert into label_objects (kind, id, domain_id) values ('domain', new.id, new.id);
  elsif tg_table_name = 'projects' then
    insert into label_objects (kind, id, domain_id, project_id) values ('project', new.id, new.domain_id, new.id);
  elsif tg_table_name = 'resources' then
    insert into label_objects (kind, id, subkind, domain_id, project_id)
    values ('resource', new.id, new.kind, new.domain_id, new.project_id);
  elsif tg_table_name = 'nodes' then
    insert into label_objects (kind, id, domain_id, project_id) values ('node', new.id, new.domain_id, new.project_id);
  elsif tg_table_name = 'principals' then
    insert into label_objects (kind, id, domain_id)
    values (case new.kind when 'user' then 'user' else 'serviceaccount' end, new.id, new.domain_id);
  elsif tg_table_name = 'groups' then
    insert into label_objects (kind, id, domain_id) values ('group', new.id, new.domain_id);
  else
    insert into label_objects (kind, id) values (tg_argv[0], new.id);
  end if;
  return null;
end $$;

create trigger keep_label_object after insert or delete on domains
  for each row execute function keep_label_object('domain');
create trigger keep_label_object after insert or delete on projects
  for each row execute function keep_label_object('project');
create trigger keep_label_object after insert or delete on resources
  for each row execute function keep_label_object('resource');
create trigger keep_label_object after insert or delete or update of project_id on nodes
  for each row execute function keep_label_object('node');
create trigger keep_label_object after insert or delete on principals
  for each row execute function keep_label_object('principal');
create trigger keep_label_object after insert or delete on groups
  for each row execute function keep_label_object('group');
create trigger keep_label_object after insert or delete on clouds
  for each row execute function keep_label_object('cloud');
create trigger keep_label_object after insert or delete on cloud_credentials
  for each row execute function keep_label_object('cloudcredential');
create trigger keep_label_object after insert or delete on provider_bundles
  for each row execute function keep_label_object('provider_bundle');

insert into label_objects (kind, id, domain_id) select 'domain', id, id from domains;
insert into label_objects (kind, id, domain_id, project_id) select 'project', id, domain_id, id from projects;
insert into label_objects (kind, id, subkind, domain_id, project_id)
  select 'resource', id, kind, domain_id, project_id from resources;
insert into label_objects (kind, id, domain_id, project_id) select 'node', id, domain_id, project_id from nodes;
insert into label_objects (kind, id, domain_id)
  select case kind when 'user' then 'user' else 'serviceaccount' end, id, domain_id from principals;
insert into label_objects (kind, id, domain_id) select 'group', id, domain_id from groups;
insert into label_objects (kind, id) select 'cloud', id from clouds;
insert into label_objects (kind, id) select 'cloudcredential', id from cloud_credentials;
insert into label_objects (kind, id) select 'provider_bundle', id from provider_bundles;

insert into label_definitions (
  id, scope_kind, local_key, qualified_key, description, value_schema, on_delete, immutable, inherit, kinds, system,
  granted, created_at, updated_at
)
select seed.id, 'platform', seed.local_key, 'platform/' || seed.local_key, seed.description, '{"type":"string"}',
  'block', false, seed.inherit, seed.kinds, true, false, now(), now()
from (values
  ('01900000-0000-7000-8000-000000000001'::uuid, 'env', 'Environment, such as prod or staging', true, '{}'::text[]),
  ('01900000-0000-7000-8000-000000000002', 'region', 'Region in which the object is', true, '{}'),
  ('01900000-0000-7000-8000-000000000003', 'zone', 'Availability zone in which the object is', true, '{}'),
  ('01900000-0000-7000-8000-000000000004', 'relay', 'Bridge resource that relays the edges of the node', true,
    '{node,project,domain}'),
  ('01900000-0000-7000-8000-000000000005', 'update-group', 'Wave in which the node gets a new release', true,
    '{node,project,domain}'),
  ('01900000-0000-7000-8000-000000000006', 'managed-by', 'What creates and changes the object', false, '{}')
) as seed (id, local_key, description, inherit, kinds);

insert into label_definitions (
  id, scope_kind, domain_id, local_key, qualified_key, description, value_schema, on_delete, immutable, inherit, kinds,
  system, granted, implicit, created_at, updated_at
)
select gen_random_uuid(), 'domain', domain_id, key, 'domain:' || domain_id || '/' || key, '', '{"type":"string"}',
  'block', false, false, '{}', false, false, true, now(), now()
from (
  select domain_id, key from nodes, jsonb_object_keys(labels) as key
  union select domain_id, key from join_tokens, jsonb_object_keys(labels) as key
) as used;

insert into label_assignments (
  kind, object_id, qualified_key, definition_id, value, value_type, assigned_by, created_at, updated_at
)
select 'node', node.id, definition.qualified_key, definition.id, label.value, 'string', 'system:migration',
  node.created_at, node.updated_at
from nodes as node cross join lateral jsonb_each_text(node.labels) as label
join label_definitions as definition
  on definition.scope_kind = 'domain' and definition.domain_id = node.domain_id and definition.local_key = label.key;

-- The labels in a node's row: those of its Domain by their local key, others by their qualified key. A session keeps the
-- plan that it made while the table was small, and the embedded store has one session: without the setting, that plan
-- would read the labels of all objects.
create function keep_node_labels() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  update nodes set labels = kept.labels
  from (
    select changed_node.id, coalesce(jsonb_object_agg(
      case when label.qualified_key like 'domain:%' then substr(label.qualified_key, 45) else label.qualified_key end,
      label.value order by label.qualified_key
    ) filter (where label.qualified_key is not null), '{}') as labels
    from (select distinct object_id as id from changed where kind = 'node') as changed_node
    left join label_assignments as label on label.kind = 'node' and label.object_id = changed_node.id
    group by changed_node.id
  ) as kept
  where nodes.id = kept.id and nodes.labels <> kept.labels;
  return null;
end $$;
create trigger keep_node_labels_added after insert on label_assignments
  referencing new table as changed for each statement execute function keep_node_labels();
create trigger keep_node_labels_changed after update on label_assignments
  referencing new table as changed for each statement execute function keep_node_labels();
create trigger keep_node_labels_removed after delete on label_assignments
  referencing old table as changed for each statement execute function keep_node_labels();
`,
}
