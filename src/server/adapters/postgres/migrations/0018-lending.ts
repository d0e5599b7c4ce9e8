import type { Migration } from '../migration.ts'

/** Credentials of Clouds, and the assignments that lend Clouds and credentials to Projects. */
export const lending: Migration = {
  name: '0018-lending',
  sql: `
create table cloud_credentials (
  id uuid primary key,
  cloud_id uuid not null references clouds (id),
  display_name text not null,
  state text not null check (state in ('active', 'suspended', 'revoked')),
  expires_at timestamptz,
  secret_version integer not null,
  rotated_at timestamptz,
  revoked_by text,
  revoked_reason text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index cloud_credentials_of_cloud_idx on cloud_credentials (cloud_id, id);

create table cloud_assignments (
  id uuid primary key,
  project_id uuid not null references projects (id) on delete cascade,
  cloud_id uuid not null references clouds (id) on delete cascade,
  state text not null check (state in ('requested', 'approved', 'rejected', 'revoked')),
  approval_id uuid not null,
  revoked_by text,
  revoked_reason text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index cloud_assignments_live_key on cloud_assignments (project_id, cloud_id)
  where state in ('requested', 'approved');
create index cloud_assignments_of_project_idx on cloud_assignments (project_id, id);
create index cloud_assignments_of_cloud_idx on cloud_assignments (cloud_id);

create table credential_assignments (
  id uuid primary key,
  project_id uuid not null references projects (id) on delete cascade,
  cloud_credential_id uuid not null references cloud_credentials (id) on delete cascade,
  state text not null check (state in ('requested', 'approved', 'rejected', 'revoked')),
  approval_id uuid not null,
  revoked_by text,
  revoked_reason text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index credential_assignments_live_key on credential_assignments (project_id, cloud_credential_id)
  where state in ('requested', 'approved');
create index credential_assignments_of_project_idx on credential_assignments (project_id, id);
create index credential_assignments_of_credential_idx on credential_assignments (cloud_credential_id);
`,
}
