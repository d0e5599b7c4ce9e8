import type { Migration } from '../migration.ts'

/**
 * The approvals queue and its policies, and what tells whether a decision is a person's own: who made a token, and when
 * somebody else last changed an account. Tokens from before are not known to be their owner's own.
 */
export const approvals: Migration = {
  name: '0019-approvals',
  sql: `
create table approvals (
  id uuid primary key,
  kind text not null,
  object text not null,
  action text not null,
  operation text not null,
  summary text not null,
  decide_relation text not null,
  decide_object text not null,
  domain_id uuid constraint approvals_domain_id_fkey references domains on delete set null,
  project_id uuid constraint approvals_project_id_fkey references projects on delete set null,
  state text not null
    check (state in ('pending-approval', 'approved', 'rejected', 'withdrawn', 'expired', 'failed')),
  requested_by text not null,
  requested_at timestamptz not null,
  expires_at timestamptz not null,
  required_approvals integer not null check (required_approvals between 1 and 5),
  reason text,
  outcome text,
  ended_at timestamptz,
  constraint approvals_ended_check check ((state = 'pending-approval') = (ended_at is null))
);
create unique index approvals_pending_key on approvals (action, object) where state = 'pending-approval';
create index approvals_expiring_idx on approvals (expires_at) where state = 'pending-approval';
create index approvals_pending_idx on approvals (id) where state = 'pending-approval';
create index approvals_of_requester_idx on approvals (requested_by, id);
create index approvals_of_domain_idx on approvals (domain_id, id);
create index approvals_of_project_idx on approvals (project_id, id);
create index approvals_ended_idx on approvals (ended_at);

create table approval_decisions (
  approval_id uuid not null constraint approval_decisions_approval_id_fkey references approvals on delete cascade,
  subject text not null,
  decision text not null check (decision in ('approve', 'reject')),
  reason text,
  at timestamptz not null,
  constraint approval_decisions_pkey primary key (approval_id, subject)
);

create table approval_policies (
  domain_id uuid
    constraint approval_policies_domain_id_key unique nulls not distinct
    constraint approval_policies_domain_id_fkey references domains on delete cascade,
  actions jsonb not null,
  ttl_seconds integer,
  updated_by text not null,
  updated_at timestamptz not null
);

alter table api_tokens add column self_issued boolean not null default false;
alter table local_accounts add column changed_by_other_at timestamptz;
`,
}
