import type { Migration } from '../migration.ts'

/**
 * The embedded secret store, the writes and destructions under way in whatever store there is, and the secrets of Projects.
 * `secret_versions` names no owner: the store knows paths only. A destroyed version has no sealed bytes.
 */
export const secretStore: Migration = {
  name: '0017-secret-store',
  sql: `
create table secret_versions (
  path text collate "C" not null,
  version integer not null,
  sealed bytea,
  primary key (path, version)
);

create table secret_intents (
  id uuid primary key,
  kind text not null check (kind in ('put', 'destroy')),
  owner text collate "C" not null,
  path text collate "C" not null,
  version integer,
  is_abandoned boolean not null default false,
  due_at timestamptz not null,
  constraint secret_intents_version_check check (kind = 'destroy' or version is not null)
);
create unique index secret_intents_put_key on secret_intents (owner) where kind = 'put';
create index secret_intents_due_idx on secret_intents (due_at, id);

create table project_secrets (
  id uuid primary key,
  project_id uuid not null references projects (id),
  name text collate "C" not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint project_secrets_name_key unique (project_id, name)
);

create table project_secret_versions (
  secret_id uuid not null references project_secrets (id) on delete cascade,
  version integer not null,
  created_by text not null,
  created_at timestamptz not null,
  primary key (secret_id, version)
);
`,
}
