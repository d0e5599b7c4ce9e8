import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it, expect } from 'vitest'
import { createCliHome, type CliOptions } from '../support/cli/cli-run.ts'
import { refused, startStub, type StubServer } from '../support/cli/stub-server.ts'
import { expectGolden, transcriptOf, words, type Step } from '../support/cli/transcript.ts'
import { APPROVALS } from './approvals-fleet.ts'
import { AUTHZ } from './authz-fleet.ts'
import { deviceFlow, isOpen } from './device-fleet.ts'
import { EVENT_KEYS, EVENT_STREAMS, SAVED } from './events-fleet.ts'
import { FLEET, ID, KEY_SET, TOKEN } from './fleet.ts'
import { IDP } from './idp-fleet.ts'
import { SECRETS } from './secrets-fleet.ts'
import { VIOLATIONS } from './violations-fleet.ts'
import { LABELLED } from '../support/fleet/labels-fleet.ts'
import { POLICED, POLICY_FILES } from '../support/fleet/policies-fleet.ts'

/** A line with the exit code that it must have, said here so that refreshing the files cannot hide a regression. */
interface Scripted extends CliOptions {
  readonly line: string
  readonly exit: number
  /** Written to the working directory first, by name. */
  readonly files?: Readonly<Record<string, string>>
  /** Only on a terminal, or only off it; both when absent. */
  readonly only?: 'tty' | 'pipe'
}

/** Tuples of a team, as a person writes them. */
const TEAM = `- subject: group:ops
  relation: admin
  resource: project:web
- { subject: service:build, relation: deployer, resource: project:web, caveat_context: { caveat_name: within_hours } }
`

const BUNDLES = `bundles:
  - trust_domain: example.org
    bundle_url: https://spire.example.org/bundle
`

const PUBLIC_JWK = { kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43), kid: 'k1' }

/** 22 rows that are wrong, after one that is not. */
const WRONG = [
  'project:web#viewer@service:build',
  ...Array.from({ length: 22 }, (_, at) => `project:web#boss${at}@user:x`),
].join('\n')

const LONG = Array.from({ length: 1001 }, (_, at) => `project:web#viewer@user:name${at}`).join('\n')

const SCRIPTS: Readonly<Record<string, readonly Scripted[]>> = {
  'signing-in': [
    { line: 'ctl nodes list', exit: 4 },
    { line: 'ctl login --with-token', exit: 0, stdin: `${TOKEN}\n` },
    { line: 'ctl login --with-token', exit: 4, stdin: 'something\n' },
    { line: 'ctl whoami', exit: 0 },
    { line: 'ctl contexts list', exit: 0 },
    { line: 'ctl config view --show-origin -o jsonl', exit: 0 },
    { line: 'ctl sessions list', exit: 0 },
    { line: 'ctl sessions list -o wide', exit: 0 },
    { line: 'ctl sessions revoke 0b0001', exit: 2, only: 'pipe' },
    { line: 'ctl sessions revoke 0b0001 --yes', exit: 0 },
    { line: 'ctl sessions revoke 0b0002 --yes', exit: 3 },
    { line: 'ctl factors list', exit: 0 },
    { line: 'ctl logout --global', exit: 0 },
    { line: 'ctl logout', exit: 0 },
  ],
  'signing-in-by-device': [
    { line: 'ctl login --no-browser --scope nodes:read --idp corp --domain default', exit: 0 },
    { line: 'ctl contexts list -o wide', exit: 0 },
    { line: 'ctl login --no-browser --name refused', exit: 4 },
    { line: 'ctl login --no-browser --name late', exit: 4 },
    { line: 'ctl login --no-browser --name late -o json', exit: 4 },
    { line: 'ctl login --no-browser', exit: 130, interrupted: AbortSignal.abort() },
    { line: 'ctl login --no-browser --idp nobody', exit: 3 },
    { line: 'ctl login', exit: 2, only: 'pipe' },
    { line: 'ctl login --no-browser --idp several', exit: 2, only: 'pipe' },
    { line: 'ctl login --idp several', exit: 3, only: 'tty', answers: ['nowhere'] },
    { line: 'ctl login --help', exit: 0 },
  ],
  workloads: [
    { line: 'ctl trust-bundles list', exit: 0 },
    { line: 'ctl trust-bundles list -o json', exit: 0 },
    { line: 'ctl trust-bundles set -f -', exit: 0, stdin: BUNDLES },
    { line: 'ctl trust-bundles set -f - -o json', exit: 0, stdin: BUNDLES },
    { line: 'ctl trust-bundles set -f -', exit: 2, stdin: 'none' },
    { line: 'ctl trust-bundles set -f -', exit: 0, stdin: '{"bundles": []}' },
    { line: 'ctl trust-bundles set --help', exit: 0 },
    {
      line: 'ctl service-identities create build --display-name Build --jwks-file keys.json',
      exit: 0,
      files: { 'keys.json': JSON.stringify({ keys: [PUBLIC_JWK] }) },
    },
    {
      line: 'ctl service-identities create build --display-name Build --jwks-file key.json --curl',
      exit: 0,
      files: { 'key.json': JSON.stringify(PUBLIC_JWK) },
    },
    {
      line: 'ctl service-identities create build --display-name Build --jwks-file private.json',
      exit: 2,
      files: { 'private.json': JSON.stringify({ ...PUBLIC_JWK, d: 'AA' }) },
    },
    { line: 'ctl service-identities create build --display-name Build --jwks-file none.json', exit: 2 },
    { line: 'ctl service-identities create build --display-name Build --jwks-file -', exit: 2, stdin: 'ssh-rsa AAAA' },
    { line: "ctl service-identities create build --display-name B --jwks-file - --jwks '{}'", exit: 2, stdin: '{}' },
  ],
  'service-identities': [
    { line: 'ctl service-identities list', exit: 0 },
    { line: 'ctl identities list -o name', exit: 0 },
    { line: 'ctl identities show build', exit: 0 },
    { line: 'ctl identities show "Build robot"', exit: 0 },
    { line: 'ctl identities show bulid', exit: 3 },
    { line: 'ctl service-identities create build --display-name Again', exit: 6 },
    { line: 'ctl service-identities create build --display-name Again --if-not-exists', exit: 0 },
    { line: 'ctl service-identities update build --display-name Builds', exit: 0 },
    { line: 'ctl service-identities disable build --yes', exit: 0 },
    { line: 'ctl service-identities enable build', exit: 0 },
    { line: 'ctl service-identities delete build --yes', exit: 6 },
    { line: 'ctl service-identities delete build --yes', exit: 0 },
    { line: 'ctl service-identities update --help', exit: 0 },
  ],
  approving: [
    { line: 'ctl approvals list', exit: 0 },
    { line: 'ctl approvals list -o wide', exit: 0 },
    { line: 'ctl approvals list --to-decide', exit: 0 },
    { line: 'ctl approvals list --mine', exit: 0 },
    { line: 'ctl approvals list --mine --to-decide', exit: 2 },
    { line: 'ctl approvals list --mine --role decider', exit: 2 },
    { line: 'ctl approvals show 0a9001', exit: 0 },
    { line: 'ctl approvals show 0a9001 -o json', exit: 0 },
    { line: 'ctl approvals approve 0a9001 --reason "as agreed"', exit: 0 },
    { line: 'ctl approvals approve 0a9002', exit: 5 },
    { line: 'ctl approvals approve 019c1a10-0000-7000-8000-0000000a9003', exit: 5 },
    { line: 'ctl approvals reject 0a9001', exit: 2, only: 'pipe' },
    { line: 'ctl approvals reject 0a9001 --reason "not now"', exit: 6 },
    { line: 'ctl approvals withdraw 0a9002', exit: 2, only: 'pipe' },
    { line: 'ctl approvals withdraw 0a9002 --yes', exit: 0 },
    { line: 'ctl approvals policy show', exit: 0 },
    { line: 'ctl approvals policy show --platform -o json', exit: 0 },
    { line: 'ctl approvals policy show --platform --domain default', exit: 2 },
    { line: 'ctl approvals policy set --require domain.delete=1 --ttl 3d', exit: 0 },
    { line: 'ctl approvals policy set --release credentials.lend', exit: 0 },
    { line: 'ctl approvals policy set --release idp.write', exit: 2 },
    { line: 'ctl approvals policy set --platform --require domain.delete=5', exit: 6 },
    { line: 'ctl approvals policy set --require domain.delete', exit: 2 },
    { line: 'ctl approvals policy set --require domain.delete=1 --release domain.delete', exit: 2 },
    { line: 'ctl approvals policy set --require signing-keys.rotate=1', exit: 2 },
    { line: 'ctl approvals policy set --require domain.remove=1 --require domain.delet=1', exit: 2 },
    { line: 'ctl approvals policy set', exit: 2 },
    { line: 'ctl approvals policy set --help', exit: 0 },
  ],
  granting: [
    { line: 'ctl grants create service:build operator domain:default', exit: 0 },
    { line: 'ctl grants create service:build operator', exit: 0 },
    { line: 'ctl grants create service:build admin platform', exit: 0 },
    { line: 'ctl grants create service:build deployer project:web', exit: 0 },
    { line: 'ctl grants create "service:Build robot" operator node:web-1', exit: 0 },
    { line: 'ctl grants create service:build operator group:ops', exit: 2 },
    { line: 'ctl grants list project:web', exit: 0 },
    { line: 'ctl grants delete service:build viewer project:web --yes', exit: 0 },
    { line: 'ctl grants delete service:build admin project:web --yes', exit: 3 },
    { line: 'ctl grants create --help', exit: 0 },
    { line: 'ctl grants list --help', exit: 0 },
    { line: 'ctl grants delete --help', exit: 0 },
  ],
  reading: [
    { line: 'ctl nodes list', exit: 0 },
    { line: 'ctl node list -o wide', exit: 0 },
    { line: 'ctl nodes list --columns name,reachability --sort -name', exit: 0 },
    { line: 'ctl nodes list --no-headers --columns id', exit: 0 },
    { line: "ctl nodes list --jq '.items[] | .display_name'", exit: 0 },
    { line: 'ctl nodes list -o name', exit: 0 },
    { line: 'ctl nodes list --reachability healthy -o jsonl', exit: 0 },
    { line: 'ctl nodes list -l site=here,tier=edge', exit: 0 },
    { line: 'ctl nodes list -o wide', exit: 0 },
    { line: 'ctl nodes show web-1', exit: 0 },
    { line: 'ctl nodes show -l site=here', exit: 0 },
    { line: 'ctl nodes show 220003 -o yaml', exit: 0 },
    { line: 'ctl nodes show web-1 db-1', exit: 0 },
    { line: 'ctl nodes reachability web-1 db-1 --sort state', exit: 0 },
    { line: 'ctl nodes reachability web-1 db-1 -o jsonl', exit: 0 },
    { line: 'ctl nodes reachability-history --since 2h', exit: 0 },
    { line: 'ctl nodes reachability-history --domain default --since 24h -o json', exit: 0 },
    { line: 'ctl nodes reachability-history --since yesterday', exit: 2 },
    { line: 'ctl nodes show -', exit: 0, stdin: 'web-1\nold-1\n' },
    { line: 'ctl domains usage default', exit: 0 },
    { line: `ctl domains usage default ${ID.lab}`, exit: 0 },
    { line: 'ctl resources list', exit: 0 },
    { line: 'ctl resources list -o json', exit: 0 },
    { line: 'ctl invitations list', exit: 0 },
    { line: 'ctl audit list --since 1h', exit: 0 },
    { line: 'ctl audit list --writes --actor user --since 1h --relation node.', exit: 0 },
    { line: 'ctl audit list --actor ada', exit: 2 },
    { line: 'ctl signing-keys list', exit: 0 },
    { line: 'ctl signing-keys list -o jsonl --sort -state', exit: 0 },
    { line: 'ctl status', exit: 0 },
    { line: 'ctl api /nodes --jq .items[0].id', exit: 0 },
  ],
  auditing: [
    { line: 'ctl audit verify', exit: 0 },
    { line: 'ctl audit verify -o json', exit: 0 },
    { line: 'ctl audit verify --scope platform', exit: 10 },
    { line: 'ctl audit export --since 30d', exit: 0 },
    { line: 'ctl audit export --output audit.jsonl', exit: 0 },
    { line: 'ctl audit export --output missing/audit.jsonl', exit: 2 },
    { line: 'ctl audit verify audit.jsonl', exit: 2 },
    { line: 'ctl audit verify audit.jsonl --keys keys.json', exit: 0, files: { 'keys.json': KEY_SET } },
    { line: 'ctl audit verify cut.jsonl --keys keys.json', exit: 10, files: { 'cut.jsonl': '{"type":"header"}\n' } },
    { line: 'ctl audit verify audit.jsonl --keys keys.yaml', exit: 2, files: { 'keys.yaml': 'keys:\n' } },
    { line: 'ctl audit tail -o json', exit: 2 },
    { line: 'ctl audit tail', exit: 130, interrupted: AbortSignal.abort() },
    { line: 'ctl audit export --help', exit: 0 },
  ],
  watching: [
    { line: 'ctl nodes events web-1', exit: 0 },
    { line: 'ctl nodes events web-1 -o wide', exit: 0 },
    { line: 'ctl nodes events web-1 --since 20 --limit 2 -o json', exit: 0 },
    { line: "ctl nodes events web-1 --jq '.[].data.type'", exit: 0 },
    { line: 'ctl nodes events db-1', exit: 0 },
    { line: 'ctl nodes events web-1 --since first', exit: 2 },
    { line: 'ctl nodes events web-1 --follow --all', exit: 2 },
    { line: 'ctl nodes events web-1 --follow', exit: 130, interrupted: AbortSignal.abort() },
    { line: 'ctl api /nodes/019c1a10-0000-7000-8000-000000110002/events', exit: 0 },
    {
      line: 'ctl events verify events.jsonl --keys keys.json',
      exit: 0,
      files: { 'events.jsonl': SAVED, 'keys.json': EVENT_KEYS },
    },
    {
      line: 'ctl events verify altered.jsonl --keys keys.json',
      exit: 10,
      files: { 'altered.jsonl': SAVED.replace('registered', 'deregistered').replace(/^.*policy_updated.*\n/m, '') },
    },
    { line: 'ctl events verify altered.jsonl --keys keys.json -o json', exit: 10 },
    { line: 'ctl events verify missing.jsonl --keys keys.json', exit: 2 },
    { line: 'ctl events tail --since first', exit: 2 },
    { line: 'ctl events tail', exit: 130, interrupted: AbortSignal.abort() },
    { line: `ctl events tail --domain ${ID.lab}`, exit: 5 },
    { line: 'ctl nodes events --help', exit: 0 },
    { line: 'ctl events tail --help', exit: 0 },
    { line: 'ctl events verify --help', exit: 0 },
  ],
  asking: [
    { line: 'ctl authz check service:build deploy project:web', exit: 10 },
    { line: 'ctl authz explain me deploy project:web', exit: 10 },
    { line: 'ctl authz explain me deploy project:web -o wide', exit: 10, only: 'tty' },
    { line: 'ctl authz explain service:build deploy project:web', exit: 10 },
    { line: 'ctl authz explain service:build deploy project:web --facts now', exit: 0 },
    {
      line: 'ctl authz explain service:build deploy project:web --facts now',
      exit: 0,
      only: 'tty',
      env: { LC_ALL: 'C' },
    },
    { line: 'ctl authz explain me deploy project:web -o json --jq .remedies[0]', exit: 10 },
    { line: 'ctl authz explain me deploy project:web --curl', exit: 0 },
    { line: 'ctl authz explain me deploy', exit: 2 },
    { line: 'ctl authz who-can deploy project:web', exit: 0 },
    { line: 'ctl authz who-can deploy project:web -o json', exit: 0 },
    { line: 'ctl authz who-can manage project:web', exit: 0 },
    { line: 'ctl authz what-can service:build', exit: 0 },
    { line: 'ctl authz what-can service:build read --type project -o json', exit: 0 },
    { line: 'ctl authz what-can service:build manage', exit: 0 },
    { line: 'ctl authz what-can service:build deplo', exit: 2 },
    { line: 'ctl authz lookup-resources service:build read node', exit: 0 },
    { line: 'ctl authz lookup-resources service:build read node -o name', exit: 0 },
    { line: 'ctl authz lookup-subjects service read node:web-1', exit: 0 },
    { line: 'ctl authz lookup-subjects usr read node:web-1', exit: 2 },
    { line: 'ctl authz lookup-resources me read nodes', exit: 2 },
    { line: 'ctl authz reconcile', exit: 0 },
  ],
  tuples: [
    { line: 'ctl tuples list', exit: 0 },
    { line: 'ctl tuples create service:build deployer project:web', exit: 0 },
    { line: 'ctl tuples create service:build deployer project:web --caveat within_hours -o json', exit: 0 },
    { line: 'ctl tuples create service:build deployer project:web --dry-run', exit: 10 },
    { line: 'ctl tuples create service:build deployer project:web --dry-run -o json --jq .count', exit: 10 },
    { line: 'ctl tuples create service:build viewer project:web --dry-run', exit: 0 },
    { line: 'ctl tuples create me viewer project:web project:api', exit: 2 },
    { line: "ctl tuples update 'project:web#viewer@service:build' --relation deployer", exit: 0 },
    { line: "ctl tuples update 'project:web#viewer@service:build' --relation admin", exit: 1 },
    { line: 'ctl tuples update 010001 --subject me --dry-run', exit: 10 },
    { line: 'ctl tuples update 010001', exit: 2 },
    { line: "ctl tuples delete 'project:web#viewer@service:build' --yes", exit: 0 },
    { line: "ctl tuples delete 'project:web#admin@service:build' --yes", exit: 3 },
    { line: 'ctl tuples delete 010001 --dry-run', exit: 10 },
    { line: 'ctl tuples delete 010001', exit: 0, only: 'tty', answers: [true] },
    { line: 'ctl grants create group:ops operator --dry-run', exit: 10 },
    { line: 'ctl groups add-member ops me --dry-run', exit: 10 },
    { line: 'ctl groups delete ops --dry-run', exit: 10 },
    { line: 'ctl groups delete idle --dry-run', exit: 0 },
    { line: 'ctl tuples export', exit: 0 },
    { line: 'ctl tuples export --format relationships --output web.rel', exit: 0 },
    { line: 'ctl tuples import web.rel', exit: 0 },
    { line: 'ctl tuples import web.rel --dry-run', exit: 10 },
    { line: 'ctl tuples import team.yaml', exit: 0, files: { 'team.yaml': TEAM } },
    { line: 'ctl tuples import team.yaml --dry-run', exit: 10 },
    { line: 'ctl tuples import wrong.rel', exit: 9, files: { 'wrong.rel': WRONG } },
    { line: 'ctl tuples import - -o jsonl', exit: 9, stdin: 'project:web#deployer@user:nobody' },
    { line: 'ctl tuples import long.rel', exit: 2, files: { 'long.rel': LONG } },
    { line: 'ctl tuples import missing.rel', exit: 2 },
    { line: 'ctl tuples import --help', exit: 0 },
  ],
  changing: [
    { line: 'ctl projects create api --display-name Api', exit: 0 },
    { line: 'ctl projects create api --display-name Api -o json', exit: 0 },
    { line: 'ctl domains update default --routed-networks 10.0.0.0/8,203.0.113.0/24', exit: 0 },
    { line: 'ctl domains update default --routed-networks 10.0.0.0/8,203.0.113.0/24 -o json', exit: 0 },
    { line: 'ctl join-tokens create --max-uses 3 --ttl 1h', exit: 0 },
    { line: 'ctl invitations create dora@acme.example --ttl 1d', exit: 0 },
    { line: 'ctl invitations create carla@acme.example', exit: 6 },
    { line: 'ctl invitations revoke carla@acme.example --yes', exit: 0 },
    { line: 'ctl nodes deregister web-1', exit: 2, only: 'pipe' },
    { line: 'ctl nodes deregister web-1', exit: 0, only: 'tty', answers: [true] },
    { line: 'ctl nodes deregister web-1', exit: 130, only: 'tty', answers: [false] },
    { line: 'ctl nodes deregister web-1 --yes', exit: 0 },
    { line: 'ctl nodes deregister -l tier=edge', exit: 0, only: 'tty', answers: [true] },
    { line: 'ctl domains delete default', exit: 130, only: 'tty', answers: ['something else'] },
    { line: 'ctl domains delete default', exit: 6, only: 'tty', answers: ['default'] },
    { line: 'ctl domains delete default --yes', exit: 6 },
    { line: 'ctl tokens issue ci --scopes nodes:read,audit:read --expires-in 30d', exit: 0 },
    { line: 'ctl tokens rotate ci', exit: 0 },
    { line: 'ctl tokens revoke ci --yes', exit: 0 },
    { line: 'ctl tokens list --for service:build', exit: 0 },
    { line: 'ctl tokens revoke deploy --for service:build --yes', exit: 0 },
    { line: 'ctl authz check me read node:web-1', exit: 0 },
    { line: 'ctl authz check me manage project:web', exit: 10 },
    { line: 'ctl nodes update web-1 --name web-2 --curl', exit: 0 },
    { line: 'ctl signing-keys rotate --yes', exit: 0 },
  ],
  'local-accounts': [
    { line: 'ctl admin users list', exit: 0 },
    { line: 'ctl admin users add cara --display-name Cara --domain default', exit: 0 },
    { line: 'ctl admin users add cara --display-name Cara --platform-admin --jq .one_time_password', exit: 0 },
    { line: 'ctl admin users add ana --display-name Ana', exit: 6 },
    { line: 'ctl admin users add root2 --data-dir missing', exit: 2 },
    { line: 'ctl admin users add Root --platform-admin --data-dir missing', exit: 1 },
    { line: 'ctl admin users update ana --email ana@example.com', exit: 0 },
    { line: 'ctl admin users disable ana --yes', exit: 0 },
    { line: 'ctl admin users disable ana', exit: 130, only: 'tty', answers: [false] },
    { line: 'ctl admin users enable ben', exit: 0 },
    { line: 'ctl admin users reset-password ana --yes', exit: 0 },
    { line: 'ctl admin users reset-factors ana --yes', exit: 0 },
    { line: 'ctl admin users delete ana --yes', exit: 6 },
    { line: 'ctl admin users delete ben --yes', exit: 0 },
    { line: 'ctl admin users add --help', exit: 0 },
  ],
  binding: [
    { line: 'ctl idp list', exit: 0 },
    { line: 'ctl idp list --scope platform', exit: 0 },
    { line: 'ctl idp create corp --label Corp --issuer https://corp.example.com --client-id ctl', exit: 0 },
    {
      line: 'ctl idp create corp --label Corp --issuer https://corp.example.com --client-id ctl --client-secret-file secret -o json',
      exit: 0,
      files: { secret: 'hunter2\n' },
    },
    {
      line: 'ctl idp create corp --label Corp --issuer https://corp.example.com --client-id ctl --client-secret-file - -o jsonl',
      exit: 0,
      stdin: 'hunter2\n',
    },
    {
      line: 'ctl idp create corp --label Corp --issuer https://corp.example.com --client-id ctl --client-secret-file secret --curl',
      exit: 0,
    },
    {
      line: 'ctl idp create corp --label Corp --issuer https://corp.example.com --client-id ctl --client-secret hunter2',
      exit: 2,
    },
    {
      line: 'ctl idp create corp --label Corp --issuer https://corp.example.com --client-id ctl --client-secret-file missing',
      exit: 2,
    },
    {
      line: 'ctl idp create corp --label Corp --issuer https://corp.example.com --client-id ctl --client-secret-file -',
      exit: 2,
      stdin: '\n',
    },
    { line: 'ctl idp create google --label G --issuer https://g.example.com --client-id ctl', exit: 6 },
    { line: 'ctl idp update sso --label Corp --active', exit: 0 },
    { line: 'ctl idp update sso --client-secret-file none -o json', exit: 0 },
    { line: 'ctl idp update okta --no-active', exit: 3 },
    { line: 'ctl idp update okta --no-active --scope platform', exit: 0 },
    { line: 'ctl idp update 1d0002', exit: 2 },
    { line: 'ctl idp test google', exit: 0 },
    { line: 'ctl idp test sso', exit: 10 },
    { line: 'ctl idp test google sso -o jsonl', exit: 10 },
    { line: 'ctl idp delete sso', exit: 2, only: 'pipe' },
    { line: 'ctl idp delete sso', exit: 0, only: 'tty', answers: [true] },
    { line: 'ctl idp delete sso --yes', exit: 0 },
    { line: 'ctl idp test --help', exit: 0 },
    { line: 'ctl idp update --help', exit: 0, only: 'pipe' },
  ],
  refusing: [
    { line: 'ctl nodez list', exit: 2 },
    { line: 'ctl help exit-code', exit: 2 },
    { line: 'ctl nodes lst', exit: 2 },
    { line: 'ctl list nodes', exit: 2 },
    { line: 'ctl users list', exit: 2 },
    { line: 'ctl sesions --url http://127.0.0.1:1', exit: 2 },
    { line: 'ctl nodes list --limt 3', exit: 2 },
    { line: 'ctl nodes list --reachability helthy', exit: 2 },
    { line: 'ctl nodes list --limit many', exit: 2 },
    { line: 'ctl nodes list --columns reachabilty', exit: 2 },
    { line: "ctl nodes list --jq '.items['", exit: 2 },
    { line: 'ctl nodes show web-9', exit: 3 },
    { line: 'ctl nodes show 019c1a10', exit: 2 },
    { line: 'ctl nodes show', exit: 2, only: 'pipe' },
    { line: 'ctl nodes show -l site=nowhere', exit: 3 },
    { line: 'ctl nodes show web-1 -l site=here', exit: 2 },
    { line: "ctl nodes list -l 'site in here'", exit: 2 },
    { line: 'ctl nodes list extra', exit: 2 },
    { line: 'ctl nodes update web-1', exit: 2 },
    { line: 'ctl projects create web --display-name Web', exit: 6 },
    { line: 'ctl projects create web --display-name Web -o json', exit: 6 },
    { line: 'ctl nodes deregister web-1 db-1 old-1 --yes', exit: 5 },
    { line: 'ctl nodes list --context prod', exit: 2 },
    { line: `ctl login ${TOKEN}`, exit: 2 },
    { line: 'ctl api https://elsewhere.example/v1/nodes', exit: 2 },
  ],
  'keeping-secrets': [
    { line: 'ctl secrets put registry --project web --value-file -', exit: 0, stdin: 'hunter2\n' },
    { line: 'ctl secrets put registry --project web', exit: 2, only: 'pipe' },
    { line: 'ctl secrets put registry hunter2 --project web', exit: 2 },
    { line: 'ctl secrets list --project web', exit: 0 },
    { line: 'ctl secrets show registry --project web', exit: 0 },
    { line: 'ctl secrets delete registry --project web --yes', exit: 6 },
    { line: 'ctl secrets delete registry --project web --version 1 --yes', exit: 0 },
    { line: 'ctl cloud-credentials create production --cloud eu1 --secret-file -', exit: 0, stdin: 'token: hunter2\n' },
    { line: 'ctl cloud-credentials list --cloud eu1', exit: 0 },
    { line: 'ctl cloud-credentials show production --cloud eu1', exit: 0 },
    { line: 'ctl cloud-credentials show production', exit: 2 },
    { line: 'ctl cloud-credentials update production --cloud eu1 --display-name Production', exit: 0 },
    { line: 'ctl cloud-credentials suspend production --cloud eu1 --yes', exit: 0 },
    { line: 'ctl cloud-credentials resume production --cloud eu1', exit: 0 },
    { line: 'ctl cloud-credentials rotate production --cloud eu1 --secret-file -', exit: 8, stdin: 'token: hunter3\n' },
    { line: "ctl cloud-credentials revoke production --cloud eu1 --reason 'It leaked' --yes", exit: 0 },
    { line: 'ctl cloud-credentials delete production --cloud eu1 --yes', exit: 0 },
    { line: 'ctl cloud-credentials create --help', exit: 0 },
  ],
  labels: [
    { line: 'ctl labels definitions', exit: 0 },
    { line: 'ctl labels definitions -o jsonl --scope platform', exit: 0 },
    { line: 'ctl labels define region --enum eu1,us1 --on-delete cascade --inherit', exit: 0 },
    { line: 'ctl labels define tier --if-not-exists -o name', exit: 0 },
    { line: 'ctl labels define tier', exit: 6 },
    { line: 'ctl labels definition teir', exit: 3 },
    { line: 'ctl labels redefine tier --description Layer', exit: 0 },
    { line: 'ctl labels undefine tier', exit: 2, only: 'pipe' },
    { line: 'ctl labels undefine tier', exit: 0, only: 'tty', answers: [true] },
    { line: 'ctl labels set node:web-1 env=prod weight=3', exit: 0 },
    { line: 'ctl labels set node:web-1 weight=heavy', exit: 2 },
    { line: 'ctl labels set node:web-1 tier=web env=dev', exit: 9 },
    { line: 'ctl labels list node:web-1', exit: 0 },
    { line: 'ctl labels list node:web-1 --effective', exit: 0 },
    { line: 'ctl labels assigned --kind node', exit: 0 },
    { line: 'ctl labels remove node:web-1 env tier', exit: 0 },
    { line: "ctl labels preview 'env=prod'", exit: 0 },
    { line: "ctl labels preview 'env=🚀,tier ~ web,x in (a'", exit: 9 },
    { line: "ctl labels preview 'evn=prod' -o json", exit: 9 },
    { line: "ctl objects search 'env=prod' --kind node --all", exit: 0 },
    { line: "ctl objects search 'env=prod' --limit 1", exit: 0 },
    { line: "ctl nodes list -l 'site=(a,tier ~ b'", exit: 2 },
    { line: 'ctl labels define --help', exit: 0 },
    { line: 'ctl labels set --help', exit: 0 },
  ],
  policies: [
    { line: 'ctl policies list', exit: 0 },
    { line: 'ctl policies show db-in', exit: 0 },
    { line: 'ctl policies revisions db-in', exit: 0 },
    { line: 'ctl policies create web-in -f db-in.yaml', exit: 0, files: POLICY_FILES },
    { line: 'ctl policies create db-in -f db-in.yaml', exit: 6 },
    { line: 'ctl policies create -f syntax.yaml', exit: 9 },
    { line: 'ctl policies create web-in --selector tier=db --rule "allow tier=api"', exit: 2 },
    { line: 'ctl policies update db-in --rule "ingress tcp:5432 from tier=api" --curl', exit: 0 },
    {
      line: 'ctl policies update -f - --revision 019c1a10-0000-7000-8000-0000000ea001',
      exit: 6,
      stdin: POLICY_FILES['db-in.yaml'],
    },
    { line: 'ctl policies preview deny.yaml', exit: 10 },
    { line: 'ctl policies preview open.yaml', exit: 10 },
    { line: 'ctl policies preview db-in.yaml', exit: 0 },
    { line: 'ctl policies preview unknown.yaml', exit: 9 },
    { line: 'ctl policies preview ports.yaml', exit: 9 },
    { line: 'ctl policies test open.yaml', exit: 10 },
    { line: 'ctl policies test', exit: 0 },
    { line: 'ctl policies reach web-1 db-1 --port 5432', exit: 10 },
    { line: 'ctl policies reach db-1 web-1 --protocol icmp', exit: 0 },
    { line: 'ctl policies reach web-1 db-1 -o json', exit: 10 },
    { line: 'ctl policies rollback db-in', exit: 0 },
    { line: 'ctl policies delete db-in', exit: 2, only: 'pipe' },
    { line: 'ctl policies delete db-in --yes', exit: 0 },
    { line: 'ctl policies create --help', exit: 0 },
    { line: 'ctl policies test --help', exit: 0 },
  ],
  triaging: [
    { line: 'ctl violations list', exit: 0 },
    { line: 'ctl violations list --status open --node web-1', exit: 0 },
    { line: 'ctl violations list --status closed', exit: 2 },
    { line: 'ctl violations list -o wide', exit: 0 },
    { line: 'ctl violations list --domain default -o name', exit: 0 },
    { line: 'ctl violations show e10001', exit: 0 },
    { line: 'ctl violations show e10002', exit: 0 },
    { line: 'ctl violations show e10001 -o json', exit: 0 },
    { line: 'ctl violations show e19999', exit: 3 },
    { line: "ctl violations ack e10001 --reason 'Reinstalled.'", exit: 0 },
    { line: "ctl violations ack e10002 --reason 'Reinstalled.'", exit: 6 },
    { line: "ctl violations ack e10002 e10001 e19999 --reason 'Reinstalled.'", exit: 3 },
    { line: "ctl violations ack e10001 --reason ' '", exit: 2 },
    { line: "ctl violations ack e10003 --reason 'Reinstalled.'", exit: 4 },
    { line: 'ctl violations acknowledge e10001', exit: 2 },
    { line: 'ctl violations list --help', exit: 0 },
    { line: 'ctl violations show --help', exit: 0 },
  ],
  explaining: [
    { line: 'ctl --help', exit: 0 },
    { line: 'ctl nodes', exit: 0 },
    { line: 'ctl nodes deregister --help', exit: 0 },
    { line: 'ctl tokens issue --help', exit: 0 },
    { line: 'ctl help exit-codes', exit: 0 },
    { line: 'ctl help authz check', exit: 0 },
    { line: 'ctl help join-tokens', exit: 0 },
    { line: 'ctl help flags', exit: 0 },
  ],
}

/** Labels and policies. What other scripts see of nodes and projects stays as it is. */
const GROUPED = Object.fromEntries(Object.entries({ ...LABELLED, ...POLICED }).filter(([route]) => !(route in FLEET)))

describe.each(['tty', 'pipe'] as const)('The command line on a %s', (where) => {
  let stub: StubServer
  beforeAll(async () => {
    stub = await startStub(
      {
        ...FLEET,
        ...EVENT_STREAMS,
        ...AUTHZ,
        ...APPROVALS,
        ...IDP,
        ...SECRETS,
        ...VIOLATIONS,
        ...GROUPED,
        ...deviceFlow(),
      },
      ({ path, headers }) =>
        path.startsWith('/v1/') && !isOpen(path) && headers.authorization !== `Bearer ${TOKEN}`
          ? refused(401, 'unauthenticated', 'The request carries no credential that resolves.')
          : undefined,
    )
  })
  afterAll(() => stub.close())

  it.each(Object.entries(SCRIPTS))('speaks as written down: %s', async (name, script) => {
    const home = createCliHome({ CTL_URL: stub.url, ...(!name.startsWith('signing-in') && { CTL_TOKEN: TOKEN }) })
    const steps: Step[] = []
    for (const { line, exit, only, files = {}, ...options } of script) {
      if (only !== undefined && only !== where) continue
      for (const [file, text] of Object.entries(files)) writeFileSync(join(home.home, file), text)
      const result = await home.run(words(line), { ...options, isTty: where === 'tty' })
      expect([line, result.exitCode]).toEqual([line, exit])
      steps.push({ line: options.stdin === undefined ? line : `${line} < stdin`, result })
    }
    expectGolden(
      `${name}.${where}`,
      transcriptOf(steps, {
        [stub.url]: 'http://127.0.0.1:7443',

        [home.home]: '~',
        [TOKEN]: 'psk_local_…',
      }),
    )
    home.remove()
  })
})
