import type { Migration } from '../migration.ts'

/** The stronger sign-in that operations of a Domain need, and the sign-in that a device or a token was approved with. */
export const stepUp: Migration = {
  name: '0030-step-up',
  sql: `
alter table domains add column step_up jsonb not null default '{}';
alter table sessions add column auth_time_stated boolean not null default false;
alter table device_sign_ins
  add column acr_values jsonb not null default '[]',
  add column max_age_seconds integer,
  add column token_seconds integer not null default 2592000,
  add column approver_acr text,
  add column approver_auth_time timestamptz;
alter table api_tokens
  add column acr text,
  add column auth_time timestamptz;
`,
}
