import { describe, expect, it } from 'vitest'
import type { Leg } from '../../../../src/server/http/operation-plan.ts'
import { planOperations } from '../../../../src/server/http/plan-operations.ts'
import { check, open, type Gate, type Operation } from '../../../../src/shared/contract/operation.ts'

const READ = { relation: 'read', object: 'project:{path.id}' }
const OPERATE = { relation: 'operate', object: 'domain:{row.domain_id}' }
const DEPLOY = { relation: 'deploy', object: 'project:{body.project_id}' }

const OWNER_ALONE = 'a gate of the owner alone names what others lack'
const OWNER_BESIDE = 'an owner is admitted beside legs of which one is enough, or alone'
const NARROWED = 'a fold is narrowed once, by foldFor or by foldUnless'

/** The plan of an operation with that gate. */
function planOf(gate: Gate) {
  const operation: Operation = {
    method: 'POST',
    path: '/v1/things/{id}',
    summary: 'Act',
    credentials: ['api-token'],
    gate,
    audit: { none: 'a test' },
    responses: { 204: null },
    problems: [],
  }
  const [plan] = planOperations([{ name: 'things', operations: { PostThing: operation }, handlers: undefined }])
  const { request = [], body = [], row = [] } = plan?.legsAt ?? {}
  const names = (legs: readonly Leg[]) => legs.map(({ relation }) => relation.text)
  return { gateStage: plan?.gateStage, request: names(request), body: names(body), row: names(row) }
}

describe('the legs of a gate', () => {
  const none = { request: [], body: [], row: [] }
  it.each<readonly [string, Gate, ReturnType<typeof planOf>]>([
    ['are none where it is open', open('a test'), { ...none, gateStage: undefined }],
    [
      'of which one is enough, are asked together',
      { anyOf: [READ, OPERATE] },
      { ...none, gateStage: 'row', row: ['read', 'operate'] },
    ],
    [
      'of which all are needed, are asked as early as each can be',
      { allOf: [OPERATE, READ, DEPLOY] },
      { gateStage: 'row', request: ['read'], body: ['deploy'], row: ['operate'] },
    ],
    [
      'wait for the body where the contract wants it',
      { ...check('read', 'platform:main'), after: 'body' },
      { ...none, gateStage: 'body', body: ['read'] },
    ],
    [
      'wait for the body that selects them',
      { anyOf: [{ ...READ, when: { member: 'scope', is: 'project' } }] },
      { ...none, gateStage: 'body', body: ['read'] },
    ],
    [
      'wait for the row that names their relation',
      { anyOf: [{ ...READ, relation: '{row.relation}' }] },
      { ...none, gateStage: 'row', row: ['{row.relation}'] },
    ],
    [
      'wait for the row that names the owner',
      { anyOf: [READ], own: '{row.owner}' },
      { ...none, gateStage: 'row', row: ['read'] },
    ],
    ['are none where the owner alone is admitted', { own: '{row.owner}', denial: READ }, { ...none, gateStage: 'row' }],
    [
      'do not wait where the owner is that of the rows',
      { anyOf: [READ], own: '{row.owner}', rows: [OPERATE] },
      { ...none, gateStage: 'request', request: ['read'] },
    ],
  ])('%s', (_, gate, plan) => {
    expect(planOf(gate)).toEqual(plan)
  })

  it.each<readonly [string, Gate, string]>([
    [
      'are of an open gate',
      { ...open('a test'), allOf: [READ] },
      'a gate is open, or has legs of which one or all must be held',
    ],
    [
      'are of both kinds',
      { anyOf: [READ], allOf: [READ] },
      'a gate is open, or has legs of which one or all must be held',
    ],
    ['are missing', {}, 'a gate is open, or has legs of which one or all must be held'],
    [
      'are all needed and another one is named',
      { allOf: [READ], denial: READ },
      'a gate of which all legs must be held names the leg that fails',
    ],
    [
      'are none, and wait for the body',
      { ...open('a test'), after: 'body' },
      'an open gate is not asked after the body',
    ],
    [
      'are all needed and one of them is to say that it granted',
      { allOf: [{ ...READ, grantedBy: 'project' }] },
      'no single leg grants where all must be held',
    ],
    ['are none but the owner, and what others lack is not named', { own: '{row.owner}' }, OWNER_ALONE],
    ['are open and have an owner', { ...open('a test'), own: '{row.owner}' }, OWNER_BESIDE],
    ['are all needed and have an owner', { allOf: [READ], own: '{row.owner}' }, OWNER_BESIDE],
    ['are not folded, and the fold is narrowed', { anyOf: [READ], foldUnless: [READ] }, NARROWED],
    [
      'are folded, and the fold is narrowed twice',
      { anyOf: [READ], fold: 'project_not_found', foldFor: READ, foldUnless: [READ] },
      NARROWED,
    ],
    [
      'are folded for those who hold what is not known yet',
      { anyOf: [READ], fold: 'project_not_found', foldUnless: [OPERATE] },
      'a leg that narrows a fold needs more than the gate',
    ],
  ])('stop the start where they %s', (_, gate, message) => {
    expect(() => planOf(gate)).toThrow(`PostThing: ${message}`)
  })
})
