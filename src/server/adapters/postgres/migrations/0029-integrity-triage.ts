import type { Migration } from '../migration.ts'

/**
 * The triage of integrity violations. Reports of the same violation of a node become one row that counts them, as they do
 * from now on; the oldest row stays, since lists are in the order of first reports.
 */
export const integrityTriage: Migration = {
  name: '0029-integrity-triage',
  sql: `
create table integrity_artifacts (
  id uuid primary key,
  domain_id uuid not null constraint integrity_artifacts_domain_id_fkey references domains on delete cascade,
  kind text not null,
  artifact text not null,
  constraint integrity_artifacts_thing_key unique (domain_id, kind, artifact)
);
insert into integrity_artifacts (id, domain_id, kind, artifact)
  select (array_agg(id order by id))[1], domain_id, kind, artifact
  from node_integrity_violations group by domain_id, kind, artifact;

alter table node_integrity_violations
  add column project_id uuid,
  add column artifact_id uuid,
  add column status text not null default 'open'
    constraint node_integrity_violations_status_check check (status in ('open', 'acknowledged', 'resolved')),
  add column occurrences bigint not null default 1,
  add column last_detected_at timestamptz,
  add column last_accepted_at timestamptz,
  add column acknowledged_at timestamptz,
  add column acknowledged_by_subject text,
  add column acknowledge_reason text,
  add column resolved_at timestamptz;

with repeated as (
  select (array_agg(id order by id))[1] as id, count(*) as occurrences,
    max(detected_at) as last_detected_at, max(accepted_at) as last_accepted_at
  from node_integrity_violations
  group by node_id, kind, artifact, coalesce(observed_checksum, ''::bytea)
)
update node_integrity_violations set
  occurrences = repeated.occurrences,
  last_detected_at = repeated.last_detected_at,
  last_accepted_at = repeated.last_accepted_at,
  project_id = (select nodes.project_id from nodes where nodes.id = node_integrity_violations.node_id),
  artifact_id = (
    select integrity_artifacts.id from integrity_artifacts
    where integrity_artifacts.domain_id = node_integrity_violations.domain_id
      and integrity_artifacts.kind = node_integrity_violations.kind
      and integrity_artifacts.artifact = node_integrity_violations.artifact
  )
from repeated where repeated.id = node_integrity_violations.id;
delete from node_integrity_violations where last_detected_at is null;

alter table node_integrity_violations
  alter column artifact_id set not null,
  add constraint node_integrity_violations_artifact_id_fkey foreign key (artifact_id) references integrity_artifacts,
  alter column last_detected_at set not null,
  alter column last_accepted_at set not null,
  set (fillfactor = 80);
create unique index node_integrity_violations_live_key
  on node_integrity_violations (node_id, kind, artifact, coalesce(observed_checksum, ''::bytea)) where status <> 'resolved';
create index node_integrity_violations_newest_idx on node_integrity_violations (accepted_at desc, id desc);
create index node_integrity_violations_domain_idx on node_integrity_violations (domain_id, accepted_at desc, id desc);
create index node_integrity_violations_acknowledged_idx on node_integrity_violations (id) where status = 'acknowledged';
create index node_integrity_violations_unresolved_idx
  on node_integrity_violations (accepted_at desc, id desc) where status <> 'resolved';
create index node_integrity_violations_resolved_idx on node_integrity_violations (resolved_at) where resolved_at is not null;
create index node_integrity_violations_artifact_idx on node_integrity_violations (artifact_id);
drop index node_integrity_violations_accepted_idx, node_integrity_violations_node_idx;
create index node_integrity_violations_node_idx on node_integrity_violations (node_id, accepted_at desc, id desc);

alter table nodes add column enrolled_again_at timestamptz;
`,
}
