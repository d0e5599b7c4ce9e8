import { runtime } from './noun-words.ts'
import { z } from 'zod'
import { InProject, Instant, KiB, OfNode, pageOf, pageQuery, Uuid, uuidField } from './fields.ts'
import { check, defineSurface, open, OPERATOR } from './operation.ts'

const ofProject = z.strictObject({ project_id: uuidField('invalid_project_id', 'Project') })
const columns = ['session_id', 'node_id', 'kind', 'target', 'issued_at', 'expires_at', 'last_active_at']
const ofProjects = { project_id: 'projects' }

export const SessionKind = z.enum(['ssh', 'cluster_api', 'tcp'])

const facts = {
  session_id: Uuid.describe('The session'),
  jti: Uuid.describe('Equals the session id'),
  project_id: InProject,
  node_id: OfNode,
  kind: SessionKind.describe('What passes through the node'),
  target: z.string().describe('The target behind the node'),
  issued_by: z.string().describe('Subject, as `user:…` or `serviceaccount:…`'),
  issued_at: Instant.describe('When it was issued'),
  expires_at: Instant.describe('When it ends'),
  idle_timeout_seconds: z.int().optional().describe('Seconds without traffic after which it ends; absent: no limit'),
  last_active_at: Instant.nullable().describe('When it was used last; null before the first time'),
  revoked_at: Instant.nullable().describe('When it was revoked; null while it is live'),
}

const MediatedSession = z
  .object(facts)
  .meta({ id: 'MediatedSession', description: 'A session through a node to a target behind it.' })

const MediatedSessionIssued = z
  .object({
    ...facts,
    token: z.string().meta({
      description: 'The token that the node accepts: a JWT, signed with Ed25519; shown only once',
      'x-service-write-once': true,
    }),
  })
  .meta({ id: 'MediatedSessionIssued', description: 'A new session with its token, which is shown only here.' })

const MediatedSessionCreateRequest = z
  .strictObject({
    node_id: uuidField('invalid_node_id', 'The node that mediates'),
    kind: SessionKind.describe('What passes through the node'),
    target: z.string().min(1).max(256).describe('The target behind the node: a login, a host and port, a cluster'),
    ttl_seconds: z.int().min(1).max(43_200).default(3_600).describe('Lifetime, at most 12 hours'),
    idle_timeout_seconds: z
      .int()
      .min(1)
      .max(43_200)
      .optional()
      .describe(
        'The session is revoked when it is unused for this long. Without it, the session lasts until it expires',
      ),
  })
  .meta({ id: 'MediatedSessionCreateRequest', description: 'A new session through a node.' })

const SessionActivityRequest = z
  .union([
    z.strictObject({
      ssh: z
        .strictObject({ event: z.enum(['opened', 'exec', 'closed']).describe('What happened in the session') })
        .describe('Activity of an SSH session'),
    }),
    z.strictObject({
      cluster_api: z
        .strictObject({
          verb: z.string().min(1).max(32).describe('Verb of the request'),
          path: z.string().min(1).max(2_048).describe('Path of the request'),
        })
        .describe('Activity of a session to a cluster API'),
    }),
    z.strictObject({
      tcp: z
        .strictObject({
          bytes_in: z.int().min(0).describe('Bytes towards the target'),
          bytes_out: z.int().min(0).describe('Bytes from the target'),
        })
        .describe('Activity of a TCP session'),
    }),
  ])
  .meta({ id: 'SessionActivityRequest', description: 'What passed through a session since the last report.' })

export const mediatedSessions = defineSurface(
  'mediated-sessions',
  {
    summary: 'Ways through a node to what it can reach',
    nouns: { 'mediated-sessions': { section: 'Fleet', position: 3, files: runtime('Connections that end') } },
  },
  {
    CreateMediatedSession: {
      method: 'POST',
      path: '/v1/projects/{project_id}/sessions',
      summary: 'Issue a session through a node',
      description: 'The node accepts the signed token until the session ends. The token is in this answer alone.',
      credentials: OPERATOR,
      params: ofProject,
      body: MediatedSessionCreateRequest,
      bodyBytesMax: 8 * KiB,
      gate: check('deploy', 'project:{path.project_id}'),
      audit: { relation: 'mediated_session.create', when: 'all' },
      responses: { 201: MediatedSessionIssued },
      headers: { Location: 'Path of the new session' },
      problems: ['project_not_found', 'node_not_found', 'signing_unavailable'],
      notProvisioned: 'sessions_not_provisioned',
      cli: {
        command: 'mediated-sessions create',
        refs: { ...ofProjects, node_id: 'nodes' },
        columns: [...columns, 'token'],
        done: 'The token is shown this once.',
      },
    },
    ListMediatedSessions: {
      method: 'GET',
      path: '/v1/projects/{project_id}/sessions',
      summary: 'List the live sessions of a Project',
      description:
        'Sessions through nodes that the caller may not read are left out. Revoked and expired ones are not among them.',
      credentials: OPERATOR,
      params: ofProject,
      query: z.strictObject(pageQuery),
      gate: {
        ...check('deploy', 'project:{path.project_id}'),
        rows: { relation: 'read', object: 'node:{row.node_id}' },
      },
      audit: { relation: 'mediated_session.list', when: 'all' },
      paging: { limit: 'rejected', cursor: 'operation' },
      responses: {
        200: pageOf(MediatedSession).meta({
          id: 'MediatedSessionList',
          description: 'A page of live sessions through nodes.',
        }),
      },
      problems: [],
      notProvisioned: 'sessions_not_provisioned',
      cli: {
        command: 'mediated-sessions list',
        refs: ofProjects,
        columns,
        wide: ['issued_by', 'idle_timeout_seconds'],
      },
    },
    DeleteMediatedSession: {
      method: 'DELETE',
      path: '/v1/projects/{project_id}/sessions/{session_id}',
      summary: 'Revoke a session',
      description: 'The node learns of it and closes the session.',
      credentials: OPERATOR,
      params: z.strictObject({
        project_id: uuidField('invalid_project_id', 'Project'),
        session_id: uuidField('invalid_session_id', 'Session'),
      }),
      gate: check('deploy', 'project:{path.project_id}'),
      audit: { relation: 'mediated_session.revoke', when: 'all' },
      responses: { 204: null },
      problems: ['session_not_found'],
      notProvisioned: 'sessions_not_provisioned',
      cli: {
        command: 'mediated-sessions revoke',
        args: ['session_id'],
        refs: { ...ofProjects, session_id: 'mediated-sessions' },
        confirm: 'yes',
        done: 'Revoked session {session_id}.',
      },
    },
    PostSessionActivity: {
      method: 'POST',
      path: '/v1/nodes/{id}/sessions/{session_id}',
      summary: 'Report that a session is in use',
      description: 'Counts as use: a session without it ends after its idle timeout.',
      credentials: ['nsk'],
      unauthenticated: 'unauthorized',
      params: z.strictObject({
        id: uuidField('invalid_node_id', 'Node'),
        session_id: uuidField('invalid_session_id', 'Session'),
      }),
      idempotent: true,
      body: SessionActivityRequest,
      bodyBytesMax: 8 * KiB,
      gate: {
        ...open('S0 Authentication 4: a node speaks for itself'),
        ownNode: { param: 'id', mismatch: 'nsk_node_mismatch' },
      },
      audit: { relation: 'mediated_session.activity', when: 'all', object: 'node:{path.id}' },
      responses: { 204: null },
      problems: ['session_not_found', 'session_already_revoked'],
      notProvisioned: 'sessions_not_provisioned',
    },
  },
)
