import { headerOf, answering, asIf, withHeaders, withJson, TRANSFER, auditing, type Fault } from './fault.ts'

const CREDENTIAL = 'refuses a caller without a credential that resolves, and says how to sign in'
const OPEN = 'is open: a credential that does not resolve is no hindrance'
const SCOPE = 'refuses a token whose scopes do not cover it'
const GATE = 'refuses a known caller whom its gate does not admit, and audits that'

const ONLOOKER = 'refuses a caller who may see the object and not do this without hiding it, and audits that'
const LEGS = 'refuses a caller who lacks one of the legs that its gate needs, and names that leg'

/** Credentials, scopes and gates that are not held to. */
export const accessFaults: readonly Fault[] = [
  {
    fault: 'no credential is asked for',
    operation: 'GetOldThing',
    rule: CREDENTIAL,
    edge: asIf('psk_admin'),
    says: 'status: 200',
  },
  {
    fault: 'a 401 does not say how to sign in',
    operation: 'GetOldThing',
    rule: CREDENTIAL,
    edge: withHeaders({ 'www-authenticate': undefined }),
    says: "'Bearer'",
  },
  {
    fault: 'an open operation asks for a credential',
    operation: 'GetOpenThing',
    rule: OPEN,
    edge: answering((answer, wire) => (headerOf(wire, 'authorization') === '' ? answer : { ...answer, status: 401 })),
    says: '401',
  },
  {
    fault: 'scopes are not looked at',
    operation: 'PatchThing',
    rule: SCOPE,
    edge: asIf('psk_admin'),
    says: 'status: 200',
  },
  {
    fault: 'a refusal by scope is told as one by relation',
    operation: 'PatchThing',
    rule: SCOPE,
    edge: withJson((json) => ({ ...json, reason: 'insufficient_relation' })),
    says: 'out_of_scope',
  },
  {
    fault: 'the gate by the path is skipped',
    operation: 'CreateThing',
    rule: GATE,
    edge: asIf('psk_admin'),
    says: 'status: 201',
  },
  { fault: 'the gate by the body is skipped', ...TRANSFER, rule: GATE, edge: asIf('psk_admin'), says: 'status: 200' },
  {
    fault: 'an object is hidden from those who may see it',
    operation: 'HandOverThing',
    rule: ONLOOKER,
    edge: asIf('psk_nobody'),
    says: 'resource_not_found',
  },
  {
    fault: 'the gate of the owner is skipped',
    operation: 'WithdrawThing',
    rule: GATE,
    edge: asIf('psk_deputy'),
    says: 'status: 204',
  },
  {
    fault: 'the gate by the row is skipped',
    operation: 'DeleteThing',
    rule: GATE,
    edge: asIf('psk_admin'),
    says: 'status: 204',
  },
  {
    fault: 'a node may speak for another',
    operation: 'PutNodeNote',
    rule: GATE,
    edge: asIf('nsk_own'),
    says: 'status: 200',
  },
  {
    fault: 'a denial does not say what is missing',
    operation: 'CreateThing',
    rule: GATE,
    edge: withJson(({ missing_relation: _missing, ...json }) => json),
    says: 'missing_relation',
  },
  {
    fault: 'a denial is not folded',
    operation: 'GetFoldedThing',
    rule: GATE,
    edge: answering((answer) => ({
      ...answer,
      status: 403,
      json: { ...answer.json, status: 403, code: 'permission_denied' },
    })),
    says: 'project_not_found',
  },
  {
    fault: 'a gate that needs all legs asks the first alone',
    operation: 'PutThingLabel',
    rule: LEGS,
    edge: answering((answer) => ({
      ...answer,
      json: { ...answer.json, missing_relation: { relation: 'read' } },
    })),
    says: 'operate',
  },
  {
    fault: 'a denial leaves no audit row',
    operation: 'CreateThing',
    rule: GATE,
    change: auditing(() => []),
    says: 'to be 1',
  },
  {
    fault: 'a denial is audited as granted',
    operation: 'CreateThing',
    rule: GATE,
    change: auditing((rows) => rows.map((row) => ({ ...row, outcome: 'granted' }))),
    says: "'permission_denied'",
  },
]
