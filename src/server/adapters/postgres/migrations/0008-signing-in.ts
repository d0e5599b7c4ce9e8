import type { Migration } from '../migration.ts'

/** Identity provider bindings, sign-ins, sessions, device sign-ins, workloads, invitations and local accounts. */
export const signingIn: Migration = {
  name: '0008-signing-in',
  sql: `
create table idp_bindings (
  id uuid primary key,
  domain_id uuid constraint idp_bindings_domain_id_fkey references domains on delete cascade,
  alias text collate "C" not null,
  label text not null,
  issuer text not null,
  client_id text not null,
  client_secret_sealed bytea,
  api_audience text,
  algorithms jsonb not null,
  claims jsonb not null,
  required_acr jsonb not null,
  required_amr jsonb not null,
  is_primary boolean not null,
  is_active boolean not null,
  auto_provision jsonb,
  allow_private_network boolean not null,
  is_bundled boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint idp_bindings_alias_key unique nulls not distinct (domain_id, alias),
  constraint idp_bindings_audience_key unique (issuer, api_audience)
);
create unique index idp_bindings_primary_key on idp_bindings (coalesce(domain_id, '00000000-0000-0000-0000-000000000000'))
  where is_primary and is_active;
create unique index idp_bindings_bundled_key on idp_bindings (is_bundled) where is_bundled;

alter table principals add column binding_id uuid;
alter table principals add column disabled_at timestamptz;
alter table groups add column provider_group text;
create unique index groups_provider_group_key on groups (domain_id, provider_group) where provider_group is not null;

create table sign_ins (
  state_hash bytea primary key,
  browser_hash bytea not null,
  binding_id uuid not null constraint sign_ins_binding_id_fkey references idp_bindings on delete cascade,
  domain_id uuid not null constraint sign_ins_domain_id_fkey references domains on delete cascade,
  sealed bytea not null,
  return_to text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index sign_ins_expiring_idx on sign_ins (expires_at);

create table sessions (
  id uuid primary key,
  fingerprint bytea not null constraint sessions_fingerprint_key unique,
  principal_id uuid not null constraint sessions_principal_id_fkey references principals on delete cascade,
  domain_id uuid not null constraint sessions_domain_id_fkey references domains on delete cascade,
  binding_id uuid,
  acr text,
  amr jsonb not null,
  auth_time timestamptz not null,
  source_address text not null,
  user_agent text not null,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null
) with (fillfactor = 80);
create index sessions_of_principal_idx on sessions (principal_id, created_at desc);
create index sessions_of_binding_idx on sessions (binding_id);
create index sessions_expiring_idx on sessions (expires_at);

create table device_sign_ins (
  id uuid primary key,
  device_code_hash bytea not null constraint device_sign_ins_device_code_key unique,
  user_code text not null constraint device_sign_ins_user_code_key unique,
  domain_id uuid not null constraint device_sign_ins_domain_id_fkey references domains on delete cascade,
  binding_id uuid not null constraint device_sign_ins_binding_id_fkey references idp_bindings on delete cascade,
  client_id text not null,
  client_name text,
  scopes jsonb not null,
  source_address text not null,
  state text not null constraint device_sign_ins_state_check check (state in ('pending', 'approved', 'denied', 'redeemed')),
  decided_by uuid constraint device_sign_ins_decided_by_fkey references principals on delete cascade,
  decided_at timestamptz,
  interval_seconds integer not null,
  polled_at timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null
) with (fillfactor = 80);
create index device_sign_ins_expiring_idx on device_sign_ins (expires_at);
create index device_sign_ins_of_domain_idx on device_sign_ins (domain_id);

create table trust_bundles (
  domain_id uuid not null constraint trust_bundles_domain_id_fkey references domains on delete cascade,
  trust_domain text collate "C" not null,
  bundle_url text,
  jwks jsonb not null,
  allow_private_network boolean not null,
  refresh_due_at timestamptz,
  refreshed_at timestamptz,
  refresh_failed_since timestamptz,
  updated_at timestamptz not null,
  constraint trust_bundles_pkey primary key (domain_id, trust_domain)
);
create index trust_bundles_due_idx on trust_bundles (refresh_due_at) where refresh_due_at is not null;

-- An assertion is good for one token: its id rests here until it would be refused for its age.
create table used_assertions (
  assertion_hash bytea primary key,
  expires_at timestamptz not null
);
create index used_assertions_expiring_idx on used_assertions (expires_at);

-- A workload is one identity of a Domain. Until now its SPIFFE ID let nobody in: of several the oldest keeps it.
update principals as later set spiffe_id = null
  where exists (select from principals as earlier where earlier.domain_id = later.domain_id
    and earlier.spiffe_id = later.spiffe_id and (earlier.created_at, earlier.id) < (later.created_at, later.id));
create unique index principals_spiffe_id_key on principals (spiffe_id, domain_id) where spiffe_id is not null;

create table invitations (
  id uuid primary key,
  domain_id uuid not null constraint invitations_domain_id_fkey references domains on delete cascade,
  email text not null,
  created_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  accepted_at timestamptz,
  accepted_by uuid,
  constraint invitations_accepted_check check ((accepted_at is null) = (accepted_by is null))
);
create index invitations_listed_idx on invitations (domain_id, created_at desc, id desc);
create index invitations_expiring_idx on invitations (expires_at);
create unique index invitations_open_key on invitations (domain_id, email) where accepted_at is null;

create table local_accounts (
  id uuid primary key,
  login text collate "C" not null constraint local_accounts_login_key unique,
  display_name text not null,
  email text,
  domain_id uuid not null constraint local_accounts_domain_id_fkey references domains,
  principal_id uuid not null constraint local_accounts_principal_id_fkey references principals,
  password_hash text not null,
  must_change_password boolean not null,
  totp_sealed bytea,
  totp_last_step bigint,
  failed_count integer not null default 0,
  locked_until timestamptz,
  disabled_at timestamptz,
  signed_out_at timestamptz,
  last_sign_in_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index local_accounts_email_key on local_accounts (email) where email is not null;
create index local_accounts_of_domain_idx on local_accounts (domain_id);

create table local_passkeys (
  credential_id text primary key,
  account_id uuid not null constraint local_passkeys_account_id_fkey references local_accounts on delete cascade,
  public_key bytea not null,
  counter bigint not null,
  transports jsonb not null,
  label text not null,
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index local_passkeys_of_account_idx on local_passkeys (account_id);

-- What the bundled provider keeps between requests: its grants, codes, sessions and interactions, sealed.
create table provider_states (
  model text not null,
  id_hash bytea not null,
  sealed bytea not null,
  uid_hash bytea,
  grant_hash bytea,
  consumed_at timestamptz,
  expires_at timestamptz,
  constraint provider_states_pkey primary key (model, id_hash)
);
create index provider_states_uid_idx on provider_states (uid_hash) where uid_hash is not null;
create index provider_states_grant_idx on provider_states (grant_hash) where grant_hash is not null;
create index provider_states_expiring_idx on provider_states (expires_at);

create table provider_keys (
  kid text primary key,
  private_sealed bytea not null,
  created_at timestamptz not null
);
`,
}
