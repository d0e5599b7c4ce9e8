import { z } from 'zod'
import { KiB, pageOf, pageQuery, uuidField } from './fields.ts'
import { heldFor } from './held-calls.ts'
import { check, defineSurface, OPERATOR } from './operation.ts'
import { nonEmptyPatch } from './patch.ts'
import {
  Policy,
  PolicyCreateRequest,
  PolicyGraph,
  PolicyPatchRequest,
  PolicyPreviewRequest,
  PolicyPreviewResponse,
  PolicyRevision,
  PolicyRollbackRequest,
  ReachabilityVerdict,
} from './policy-schemas.ts'

const ofDomain = z.strictObject({ id: uuidField('invalid_domain_id', 'Domain') })
const params = z.strictObject({ id: uuidField('invalid_policy_id', 'Policy') })
const common = { credentials: OPERATOR, notProvisioned: 'policies_not_provisioned' } as const
const columns = ['slug', 'selector', 'isolates', 'matched_count', 'revision', 'updated_at']
const wide = ['display_name', 'id', 'revision_id', 'fingerprint', 'created_at']
const refs = { id: 'policies' }
const flags = { rules: { name: 'rule', form: 'rules' }, tests: { name: 'test', form: 'tests' } } as const

/** A policy hangs off its Domain by its row (decisions: Objects addressed by id alone). */
const domain = 'domain:{row.domain_id}'
const mayRead = { ...check('read', domain), missingRow: 'policy_not_found', fold: 'policy_not_found' } as const
const mayManage = {
  ...check('manage', domain),
  missingRow: 'policy_not_found',
  fold: 'policy_not_found',
  foldUnless: [{ relation: 'read', object: domain }],
} as const
const held = (sentence: string) => heldFor(sentence, 'policies.write')
const ifMatch = {
  requestHeaders: { 'If-Match': 'The revision that the change is made from, quoted; another one is refused' },
} as const
const refusals = ['invalid_policy', 'invalid_selector', 'policy_test_failed'] as const

export const policies = defineSurface(
  'policies',
  {
    summary: 'Policies, which say what nodes may reach each other',
    nouns: { policies: { section: 'Fleet', position: 6, files: 'managed' } },
  },
  {
    CreatePolicy: {
      ...common,
      method: 'POST',
      path: '/v1/domains/{id}/policies',
      summary: 'Create a policy of a Domain',
      description:
        'The rules are compiled and sent to the matched nodes. A change that breaks a test of any policy of the Domain is refused.',
      params: ofDomain,
      body: PolicyCreateRequest,
      bodyBytesMax: 32 * KiB,
      gate: check('manage', 'domain:{path.id}'),
      audit: { relation: 'policy.create', when: 'all' },
      dualControl: held('Create the policy {body.slug} in domain:{path.id}'),
      responses: { 201: Policy },
      headers: { Location: 'Path of the new policy', ETag: 'Its revision' },
      problems: [...refusals, 'domain_not_found', 'slug_conflict', 'policy_limit_exceeded'],
      cli: {
        command: 'policies create',
        args: ['slug'],
        refs: { id: 'domains' },
        flags,
        handle: { member: 'slug', taken: 'slug_conflict' },
        columns,
        wide,
        done: 'Created policy {slug}.',
      },
    },
    ListPolicies: {
      ...common,
      method: 'GET',
      path: '/v1/domains/{id}/policies',
      summary: 'List the policies of a Domain',
      description: 'Each with the revision in force, in the order of their slugs.',
      params: ofDomain,
      query: z.strictObject(pageQuery),
      gate: check('read', 'domain:{path.id}'),
      audit: { relation: 'policy.list', when: 'all' },
      paging: { limit: 'rejected', cursor: 'operation' },
      responses: { 200: pageOf(Policy).meta({ id: 'PolicyList', description: 'A page of policies.' }) },
      problems: [],
      cli: { command: 'policies list', refs: { id: 'domains' }, columns, wide },
    },
    GetPolicy: {
      ...common,
      method: 'GET',
      path: '/v1/policies/{id}',
      summary: 'Show a policy',
      description: 'With the revision in force, and with the number of nodes that its selector matches.',
      params,
      gate: mayRead,
      audit: { relation: 'policy.read', when: 'all' },
      responses: { 200: Policy },
      headers: { ETag: 'Its revision' },
      problems: [],
      cli: { command: 'policies show', args: ['id'], refs, columns, wide },
    },
    PatchPolicy: {
      ...common,
      ...ifMatch,
      method: 'PATCH',
      path: '/v1/policies/{id}',
      summary: 'Change a policy',
      description: 'The members that are present replace those of the policy. A change makes a new revision.',
      params,
      body: PolicyPatchRequest,
      patch: nonEmptyPatch(),
      bodyBytesMax: 32 * KiB,
      gate: mayManage,
      audit: { relation: 'policy.update', when: 'all' },
      dualControl: held('Change policy:{path.id}'),
      responses: { 200: Policy },
      headers: { ETag: 'Its revision' },
      problems: [...refusals, 'policy_stale'],
      cli: { command: 'policies update', args: ['id'], refs, flags, columns, wide, done: 'Changed policy {slug}.' },
    },
    DeletePolicy: {
      ...common,
      ...ifMatch,
      method: 'DELETE',
      path: '/v1/policies/{id}',
      summary: 'Delete a policy',
      description: 'The matched nodes drop its rules. It is refused where a test of another policy would then fail.',
      params,
      gate: mayManage,
      audit: { relation: 'policy.delete', when: 'all' },
      dualControl: held('Delete policy:{path.id}'),
      responses: { 204: null },
      problems: ['policy_stale', 'policy_test_failed'],
      cli: { command: 'policies delete', args: ['id'], refs, confirm: 'yes', done: 'Deleted policy {id}.' },
    },
    ListPolicyRevisions: {
      ...common,
      method: 'GET',
      path: '/v1/policies/{id}/revisions',
      summary: 'List the revisions of a policy, newest first',
      description: 'Every change of rules made one. A revision never changes.',
      params,
      query: z.strictObject(pageQuery),
      gate: mayRead,
      audit: { relation: 'policy.read', when: 'all' },
      paging: { limit: 'rejected', cursor: 'operation' },
      responses: {
        200: pageOf(PolicyRevision).meta({
          id: 'PolicyRevisionList',
          description: 'A page of the revisions of a policy.',
        }),
      },
      problems: [],
      cli: {
        command: 'policies revisions',
        args: ['id'],
        refs,
        columns: ['revision', 'selector', 'created_by', 'created_at', 'revision_id'],
      },
    },
    RollbackPolicy: {
      ...common,
      ...ifMatch,
      method: 'POST',
      path: '/v1/policies/{id}/rollback',
      summary: 'Make a new revision of a policy out of an older one',
      description: 'Makes a new revision with the content of the named one, which stays in the history.',
      params,
      body: PolicyRollbackRequest,
      bodyBytesMax: 8 * KiB,
      gate: mayManage,
      audit: { relation: 'policy.rollback', when: 'all' },
      dualControl: held('Take policy:{path.id} back to the revision {body.revision_id}'),
      responses: { 200: Policy },
      headers: { ETag: 'Its revision' },
      problems: ['policy_revision_not_found', 'invalid_selector', 'policy_test_failed', 'policy_stale'],
      cli: {
        command: 'policies rollback',
        args: ['id'],
        refs,
        columns,
        wide,
        done: 'Policy {slug} has revision {revision} now.',
      },
    },
    PreviewPolicies: {
      ...common,
      method: 'POST',
      path: '/v1/domains/{id}/policies/preview',
      summary: 'Show what a change of policies would do, without making it',
      description:
        'Nothing is stored. The answer names the nodes that would gain or lose a way to each other, and the tests that would fail.',
      params: ofDomain,
      body: PolicyPreviewRequest,
      bodyBytesMax: 256 * KiB,
      idempotent: true,
      access: 'read',
      gate: check('read', 'domain:{path.id}'),
      audit: { relation: 'policy.preview', when: 'all' },
      responses: { 200: PolicyPreviewResponse },
      problems: ['invalid_policy', 'domain_not_found', 'policy_not_found', 'policy_limit_exceeded'],
    },
    GetPolicyGraph: {
      ...common,
      method: 'GET',
      path: '/v1/domains/{id}/policies/graph',
      summary: 'Show which groups of nodes may reach which',
      description:
        'Nodes are in one group when no verdict of the policies in force tells them apart. With `selector`, groups have only nodes that it matches, and those without any are left out.',
      params: ofDomain,
      query: z.strictObject({
        selector: z
          .string()
          .optional()
          .describe(
            'Only nodes that it matches, such as `env=prod,tier in (web,api),!legacy`; a bare key is the nearest one of the Domain',
          ),
      }),
      gate: check('read', 'domain:{path.id}'),
      audit: { relation: 'policy.graph', when: 'all' },
      responses: { 200: PolicyGraph },
      problems: ['invalid_selector'],
      cli: {
        command: 'policies graph',
        refs: { id: 'domains' },
        selector: 'selector',
        rows: 'edges',
        columns: ['from', 'to', 'flows'],
      },
    },
    CheckReachability: {
      ...common,
      method: 'GET',
      path: '/v1/domains/{id}/reachability-check',
      summary: 'Say whether one node may reach another, and by which rule',
      description: 'The answer follows from the policies in force; no packet is sent.',
      params: ofDomain,
      query: z.strictObject({
        from: uuidField('invalid_node_id', 'The sending node'),
        to: uuidField('invalid_node_id', 'The receiving node'),
        protocol: z
          .enum(['tcp', 'udp', 'icmp'])
          .optional()
          .meta({ problem: 'invalid_protocol', description: 'Absent: some protocol' }),
        port: z
          .string()
          .regex(/^\d{1,9}$/)
          .transform(Number)
          .refine((port) => port >= 1 && port <= 65_535)
          .optional()
          .meta({ problem: 'port_out_of_range', description: 'Destination port of tcp or udp; absent: some port' }),
      }),
      gate: check('read', 'domain:{path.id}'),
      audit: { relation: 'policy.explain', when: 'all' },
      responses: { 200: ReachabilityVerdict },
      problems: ['invalid_protocol', 'node_not_found'],
    },
  },
)
