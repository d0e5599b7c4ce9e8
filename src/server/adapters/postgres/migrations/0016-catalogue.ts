import type { Migration } from '../migration.ts'

/** Provider bundles with their frozen versions, and Clouds. */
export const catalogue: Migration = {
  name: '0016-catalogue',
  sql: `
create table provider_bundles (
  id uuid primary key,
  slug text collate "C" not null,
  display_name text not null,
  provider text not null,
  latest_version integer not null,
  row_version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint provider_bundles_slug_key unique (slug)
);

create table provider_bundle_versions (
  bundle_id uuid not null references provider_bundles (id) on delete cascade,
  version integer not null,
  provider_packages jsonb not null,
  provider_config_api_version text not null,
  created_by text not null,
  created_at timestamptz not null,
  primary key (bundle_id, version)
);

create table clouds (
  id uuid primary key,
  slug text collate "C" not null,
  display_name text not null,
  provider text not null,
  endpoint jsonb not null,
  region_defaults jsonb not null,
  external_id text not null,
  provider_packages jsonb,
  provider_config_api_version text,
  bundle_id uuid,
  bundle_version integer,
  package_overrides jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint clouds_slug_key unique (slug),
  constraint clouds_bundle_version_fkey
    foreign key (bundle_id, bundle_version) references provider_bundle_versions (bundle_id, version),
  constraint clouds_mode_check check (
    case when bundle_id is null
      then provider_packages is not null and provider_config_api_version is not null
        and bundle_version is null and package_overrides is null
      else provider_packages is null and provider_config_api_version is null
        and bundle_version is not null and package_overrides is not null
    end
  )
);
create index clouds_of_bundle_idx on clouds (bundle_id, id) where bundle_id is not null;
`,
}
