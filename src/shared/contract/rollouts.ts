import { runtime } from './noun-words.ts'
import { z } from 'zod'
import { KiB, pageOf, pageQuery, uuidField } from './fields.ts'
import { heldFor } from './held-calls.ts'
import { check, defineSurface, OPERATOR } from './operation.ts'
import { Rollout, RolloutCreateRequest, RolloutNode, RolloutNodeState, RolloutStatus } from './rollout-schemas.ts'

const ofDomain = z.strictObject({ id: uuidField('invalid_domain_id', 'Domain') })
const params = z.strictObject({ id: uuidField('invalid_rollout_id', 'Rollout') })
/** Without verified releases there is nothing to roll out. */
const common = { credentials: OPERATOR, notProvisioned: 'artifacts_not_provisioned' } as const
const columns = ['slug', 'version', 'status', 'wave', 'node_count', 'failures', 'updated_at']
const wide = ['selector', 'halted_reason', 'waiting_for', 'id', 'created_by', 'created_at']
const refs = { id: 'rollouts' }
const domain = 'domain:{row.domain_id}'
const mayRead = { ...check('read', domain), missingRow: 'rollout_not_found', fold: 'rollout_not_found' } as const
const mayOperate = {
  ...check('operate', domain),
  missingRow: 'rollout_not_found',
  fold: 'rollout_not_found',
  foldUnless: [{ relation: 'read', object: domain }],
} as const
const move = {
  ...common,
  method: 'POST',
  params,
  gate: mayOperate,
  responses: { 200: Rollout },
} as const
const moved = { args: ['id'], refs, columns, wide }

export const rollouts = defineSurface(
  'rollouts',
  {
    summary: 'Upgrades of many nodes to a release, in waves',
    nouns: { rollouts: { section: 'Fleet', position: 10, files: runtime('Upgrades that run once') } },
  },
  {
    CreateRollout: {
      ...common,
      method: 'POST',
      path: '/v1/domains/{id}/rollouts',
      summary: 'Plan a rollout',
      description: 'It upgrades nothing before it is started.',
      params: ofDomain,
      body: RolloutCreateRequest,
      bodyBytesMax: 32 * KiB,
      gate: check('operate', 'domain:{path.id}'),
      audit: { relation: 'rollout.create', when: 'all' },
      responses: { 201: Rollout },
      headers: { Location: 'Path of the new rollout' },
      problems: ['domain_not_found', 'slug_conflict', 'release_not_eligible', 'invalid_selector', 'invalid_rollout'],
      cli: {
        command: 'rollouts create',
        args: ['slug'],
        refs: { id: 'domains' },
        handle: { member: 'slug', taken: 'slug_conflict' },
        selector: 'selector',
        columns,
        wide,
        done: 'Created rollout {slug}. Start it with: ctl rollouts start {slug}',
      },
    },
    ListRollouts: {
      ...common,
      method: 'GET',
      path: '/v1/domains/{id}/rollouts',
      summary: 'List the rollouts of a Domain, newest first',
      description: 'Filter by `status`. Rollouts that have ended are among them.',
      params: ofDomain,
      query: z.strictObject({
        status: RolloutStatus.optional().meta({ problem: 'invalid_status', description: 'One status only' }),
        ...pageQuery,
      }),
      gate: check('read', 'domain:{path.id}'),
      audit: { relation: 'rollout.list', when: 'all' },
      paging: { limit: 'rejected', cursor: 'operation', parents: ['status'] },
      responses: { 200: pageOf(Rollout).meta({ id: 'RolloutList', description: 'A page of rollouts.' }) },
      problems: [],
      cli: { command: 'rollouts list', refs: { id: 'domains' }, columns, wide },
    },
    GetRollout: {
      ...common,
      method: 'GET',
      path: '/v1/rollouts/{id}',
      summary: 'Show a rollout and how far it is',
      description: 'The progress counts the nodes of each wave by their state.',
      params,
      gate: mayRead,
      audit: { relation: 'rollout.read', when: 'all' },
      responses: { 200: Rollout },
      problems: [],
      cli: { command: 'rollouts show', args: ['id'], refs, columns, wide },
    },
    ListRolloutNodes: {
      ...common,
      method: 'GET',
      path: '/v1/rollouts/{id}/nodes',
      summary: 'List the nodes of a rollout, in the order of their turns',
      description: 'Filter by `status` to find those that failed. The set of nodes is fixed when the rollout starts.',
      params,
      query: z.strictObject({
        state: RolloutNodeState.optional().meta({ problem: 'invalid_status', description: 'One state only' }),
        ...pageQuery,
      }),
      gate: mayRead,
      audit: { relation: 'rollout_node.list', when: 'all' },
      paging: { limit: 'rejected', cursor: 'operation', parents: ['state'] },
      responses: {
        200: pageOf(RolloutNode).meta({ id: 'RolloutNodeList', description: 'A page of the nodes of a rollout.' }),
      },
      problems: [],
      cli: {
        command: 'rollouts nodes',
        args: ['id'],
        refs,
        columns: ['display_name', 'wave', 'state', 'reason', 'updated_at'],
        wide: ['node_id', 'execution_id'],
      },
    },
    StartRollout: {
      ...move,
      path: '/v1/rollouts/{id}/start',
      summary: 'Start a rollout: fix its nodes and begin with the first',
      description:
        'Canaries are upgraded first, then wave by wave. Two rollouts of a Domain cannot upgrade the same node at once.',
      audit: { relation: 'rollout.start', when: 'all' },
      dualControl: heldFor('Start rollout:{path.id}', 'rollouts.start'),
      problems: ['illegal_transition', 'release_not_eligible', 'rollout_conflict', 'invalid_rollout'],
      sentences: { illegal_transition: 'Only a pending rollout can be started.' },
      cli: {
        ...moved,
        command: 'rollouts start',
        done: 'Rollout {slug} is running: {node_count} nodes. Watch it with: ctl rollouts watch {slug}',
      },
    },
    PauseRollout: {
      ...move,
      path: '/v1/rollouts/{id}/pause',
      summary: 'Pause a rollout: what has begun ends, nothing more begins',
      description: 'Upgrades that nodes have taken up go on to their end.',
      audit: { relation: 'rollout.pause', when: 'all' },
      problems: ['illegal_transition'],
      sentences: { illegal_transition: 'Only a running rollout can be paused.' },
      cli: { ...moved, command: 'rollouts pause', done: 'Rollout {slug} is paused.' },
    },
    ResumeRollout: {
      ...move,
      path: '/v1/rollouts/{id}/resume',
      summary: 'Resume a paused rollout',
      description: 'Goes on where it was paused, with the nodes that are left.',
      audit: { relation: 'rollout.resume', when: 'all' },
      problems: ['illegal_transition', 'release_not_eligible'],
      sentences: { illegal_transition: 'Only a paused rollout can be resumed.' },
      cli: { ...moved, command: 'rollouts resume', done: 'Rollout {slug} is running.' },
    },
    CancelRollout: {
      ...move,
      path: '/v1/rollouts/{id}/cancel',
      summary: 'Cancel a rollout: upgrades that no node has taken up are withdrawn',
      description: 'Final. Nodes that were upgraded keep the new version.',
      audit: { relation: 'rollout.cancel', when: 'all' },
      problems: ['illegal_transition'],
      sentences: { illegal_transition: 'The rollout has ended already.' },
      cli: { ...moved, command: 'rollouts cancel', confirm: 'yes', done: 'Rollout {slug} is cancelled.' },
    },
    DeleteRollout: {
      ...common,
      method: 'DELETE',
      path: '/v1/rollouts/{id}',
      summary: 'Delete a rollout that has ended',
      description: 'A rollout that has not ended is refused with `illegal_transition`: cancel it first.',
      params,
      gate: mayOperate,
      audit: { relation: 'rollout.delete', when: 'all' },
      responses: { 204: null },
      problems: ['illegal_transition'],
      sentences: { illegal_transition: 'The rollout has not ended; cancel it first.' },
      cli: { command: 'rollouts delete', args: ['id'], refs, confirm: 'yes', done: 'Deleted rollout {id}.' },
    },
  },
)
