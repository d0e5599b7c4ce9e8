import { runtime } from './noun-words.ts'
import { z } from 'zod'
import { check, defineSurface, OPERATOR } from './operation.ts'
import {
  CreatedAt,
  CreatedBy,
  InDomain,
  InProject,
  Instant,
  KiB,
  Labels,
  OfNode,
  OwnId,
  pageOf,
  pageQuery,
  uuidField,
} from './fields.ts'

const summary = {
  id: OwnId,
  domain_id: InDomain,
  project_id: InProject.nullable().describe('Project that joining nodes belong to; null for none'),
  node_id: OfNode.nullable().describe('The node that is enrolled again with it; null for new nodes'),
  prefix: z.string().describe('Beginning of the token, up to its id'),
  labels: z.record(z.string(), z.string()).describe('Labels that joining nodes get'),
  ephemeral: z.boolean().describe('Whether its nodes are deregistered once they have been unreachable for ten minutes'),
  max_uses: z.int().describe('Number of nodes that may join with it'),
  uses: z.int().describe('Number of nodes that have joined with it'),
  created_by: CreatedBy,
  created_at: CreatedAt,
  expires_at: Instant.describe('When it expires'),
  revoked_at: Instant.nullable().describe('When it was revoked; null while it is valid'),
}

const JoinToken = z
  .object(summary)
  .meta({ id: 'JoinToken', description: 'A token that nodes join a Domain with, without its plaintext.' })

const JoinTokenCreated = z
  .object({
    ...summary,
    token: z.string().meta({ description: 'The token itself; shown only once', 'x-service-write-once': true }),
  })
  .meta({ id: 'JoinTokenCreated', description: 'A new join token with its plaintext, which is shown only here.' })

/** Whether a token has no member that only concerns new nodes. */
function isForOneNode(token: {
  max_uses?: number | undefined
  project_id?: string | undefined
  labels?: object | undefined
  ephemeral?: boolean | undefined
}): boolean {
  const { max_uses: maxUses = 1, project_id: projectId, labels, ephemeral } = token
  return maxUses === 1 && projectId === undefined && labels === undefined && ephemeral === undefined
}

const JoinTokenCreateRequest = z
  .strictObject({
    ttl_seconds: z.int().min(60).max(2_592_000).optional().describe('Lifetime; one hour by default, 30 days at most'),
    max_uses: z.int().min(1).max(1_000_000).optional().describe('How many nodes may join with it; 1 by default'),
    project_id: uuidField('invalid_body', 'Project that the nodes belong to').optional(),
    labels: Labels.optional(),
    ephemeral: z.boolean().optional().describe('Nodes are deregistered once they have been unreachable for 10 minutes'),
    node_id: uuidField(
      'invalid_body',
      'Enrols this node again under its id, with its Project and labels; for one use, and needs node-operate on it',
    ).optional(),
  })
  .refine((token) => token.node_id === undefined || isForOneNode(token), {
    error: 'node_id goes with one use, and without project_id, labels and ephemeral',
  })
  .meta({ id: 'JoinTokenCreateRequest', description: 'A new join token.' })

const ofDomain = z.strictObject({ id: uuidField('invalid_domain_id', 'Domain') })
const columns = ['prefix', 'uses', 'max_uses', 'expires_at', 'revoked_at', 'id']
const common = { credentials: OPERATOR, notProvisioned: 'nodes_not_provisioned' } as const
const gate = check('manage', 'domain:{path.id}')

export const joinTokens = defineSurface(
  'join-tokens',
  {
    summary: 'Tokens that nodes join with',
    nouns: { 'join-tokens': { section: 'Fleet', position: 4, files: runtime('Secrets that expire') } },
  },
  {
    CreateJoinToken: {
      ...common,
      method: 'POST',
      path: '/v1/domains/{id}/join-tokens',
      summary: 'Create a token that nodes join a Domain with',
      description: 'Its plaintext is in this answer alone. With `node_id`, it enrols one known node again.',
      params: ofDomain,
      body: JoinTokenCreateRequest,
      bodyBytesMax: 8 * KiB,
      gate,
      audit: { relation: 'join_token.create', when: 'all' },
      responses: { 201: JoinTokenCreated },
      headers: { Location: 'Path of the list that shows it' },
      problems: [
        'domain_not_found',
        'project_not_found',
        'node_not_found',
        'definition_not_found',
        'aggregate_invariant',
      ],
      cli: {
        command: 'join-tokens create',
        refs: { id: 'domains', project_id: 'projects', node_id: 'nodes' },
        columns: ['token', 'max_uses', 'expires_at', 'id'],
        done: 'Created a join token for {max_uses} node(s). It is shown this once.',
      },
    },
    ListJoinTokens: {
      ...common,
      method: 'GET',
      path: '/v1/domains/{id}/join-tokens',
      summary: 'List the join tokens of a Domain, newest first',
      description: 'Used, revoked and expired tokens are among them. Plaintexts are never shown.',
      params: ofDomain,
      query: z.strictObject(pageQuery),
      gate,
      audit: { relation: 'join_token.list', when: 'all' },
      paging: { limit: 'rejected', cursor: 'operation' },
      responses: { 200: pageOf(JoinToken).meta({ id: 'JoinTokenList', description: 'A page of join tokens.' }) },
      problems: [],
      cli: {
        command: 'join-tokens list',
        refs: { id: 'domains' },
        columns,
        wide: ['labels', 'ephemeral', 'project_id', 'created_by'],
      },
    },
    DeleteJoinToken: {
      ...common,
      method: 'DELETE',
      path: '/v1/domains/{id}/join-tokens/{join_token_id}',
      summary: 'Revoke a join token at once',
      description: 'Nodes that joined with it stay; no more can join.',
      params: ofDomain.extend({ join_token_id: uuidField('invalid_join_token_id', 'Join token') }),
      gate,
      audit: { relation: 'join_token.revoke', when: 'all' },
      responses: { 204: null },
      problems: ['join_token_not_found'],
      cli: {
        command: 'join-tokens revoke',
        args: ['join_token_id'],
        refs: { id: 'domains', join_token_id: 'join-tokens' },
        confirm: 'yes',
        done: 'Revoked join token {join_token_id}.',
      },
    },
  },
)
