import { describe, expect, it } from 'vitest'
import type { FileDocument, LiveObject } from '../../../../src/cli/domain-files/document.ts'
import { DOMAIN, file, plan, worldOf } from '../../../support/domain-files/planned-world.ts'

const SCHEMA = { type: 'string', enum: ['test', 'prod'] }
const ENV = file('label-definition', 'env', { value_schema: SCHEMA })
const PROJECTS_ONLY = file('label-definition', 'stage', { value_schema: SCHEMA, kinds: ['project'] })
const DEPLOYER = file('service-identity', 'deployer', { display_name: 'Deployer' })
const group = (members: FileDocument['members']): FileDocument =>
  file('group', 'dev', { display_name: 'Dev', ...members })
const granted = (role: object): FileDocument => file('grants', 'group:ops', { roles: [role] })
const policyOf = (members: FileDocument['members']): FileDocument =>
  file('policy', 'db', { selector: 'env=prod', rules: [], ...members })

/** The refusal of the files, with each place as the path of its member. */
async function refusal(...documents: readonly FileDocument[]): Promise<unknown> {
  const paths: string[] = []
  const placed = documents.map((document): FileDocument => ({
    ...document,
    placeOf(path) {
      paths.push(path.join('.'))
      return { line: paths.length, column: 3 }
    },
  }))
  const error: unknown = await plan(worldOf(), [ENV, PROJECTS_ONLY, DEPLOYER, ...placed]).catch(
    (cause: unknown) => cause,
  )
  expect(error).toMatchObject({ exitCode: 9, code: 'invalid_files' })
  return [paths, (error as { readonly hints: readonly string[] }).hints.map((hint) => hint.trim())]
}

describe('Before the first write, files are refused with the place of', () => {
  it.each([
    [
      'a member without its type',
      group({ members: ['group:ops', 'deployer'] }),
      'members.1',
      'group.yaml:1:3: "deployer" names no member; expected user:NAME, service:NAME or group:NAME; did you mean service:deployer?',
    ],
    [
      'a role that an object of its type does not have',
      granted({ on: 'domain', role: 'adminn' }),
      'roles.0.role',
      'grants.yaml:1:3: "adminn" is no role on a domain; it has viewer, auditor, operator, admin; did you mean admin?',
    ],
    [
      'the Domain by its name',
      granted({ on: 'domain:acme', role: 'admin' }),
      'roles.0.on',
      'grants.yaml:1:3: roles are given on the Domain of the files (acme); write on: domain',
    ],
    [
      'an object of an unknown type',
      granted({ on: 'projct:web', role: 'admin' }),
      'roles.0.on',
      'grants.yaml:1:3: "projct:web" names no object with roles; expected domain, project:NAME or resource:PROJECT/NAME; did you mean project?',
    ],
    [
      'a label without a Definition',
      group({ labels: { envv: 'prod' } }),
      'labels.envv',
      'group.yaml:1:3: there is no label Definition envv, neither in the files nor in the Domain; did you mean env?',
    ],
    [
      'a value that its Definition does not allow',
      group({ labels: { env: 'production' } }),
      'labels.env',
      'group.yaml:1:3: env cannot be "production". The value must be one of test, prod.',
    ],
    [
      'a label of other kinds of objects',
      group({ labels: { stage: 'prod' } }),
      'labels.stage',
      'group.yaml:1:3: stage is a label of other kinds of objects: project',
    ],
    [
      'a selector whose key has no Definition',
      policyOf({ selector: 'enf=prod' }),
      'selector',
      'policy.yaml:1:3: No label enf is defined here. Did you mean env?',
    ],
    [
      'a selector inside a rule',
      policyOf({ rules: [{ direction: 'ingress', peers: 'env>3' }] }),
      'rules.0.peers',
      expect.stringContaining('policy.yaml:1:3: '),
    ],
    [
      'a pattern that is none',
      file('label-definition', 'name', { value_schema: { type: 'string', pattern: '(' } }),
      'value_schema',
      expect.stringContaining('label-definition.yaml:1:3: pattern must be a pattern of RE2'),
    ],
  ])('%s', async (_what, document, path, hint) => {
    expect(await refusal(document)).toEqual([[path], [hint]])
  })

  it('each fault of several files at once', async () => {
    expect(await refusal(granted({ on: 'domain', role: 'boss' }), group({ labels: { a: 1, b: 2 } }))).toMatchObject([
      ['roles.0.role', 'labels.a', 'labels.b'],
      { length: 3 },
    ])
  })
})

describe('What an export has written is not refused', () => {
  it('where a Definition has become narrower than what objects have', async () => {
    const live: LiveObject = {
      ...group({}),
      id: 'g2',
      row: {},
      members: { display_name: 'Dev', labels: { env: 'old', retired: true } },
    }
    const same = group({ labels: { env: 'old', retired: true } })
    await expect(plan(worldOf([live]), [ENV, same])).resolves.toMatchObject({ steps: [{ name: 'env' }] })
  })

  it('where a selector names a Definition of a Project that the files create', async () => {
    const shop = file('project', 'shop', { display_name: 'Shop' })
    const weight = file('label-definition', 'project:shop/weight', { value_schema: { type: 'integer' } })
    const policy = policyOf({ selector: 'project:shop/weight>5' })
    const labelled = file('group', 'dev', { display_name: 'Dev', labels: { 'project:shop/weight': 7 } })
    const world = { ...worldOf(), isKnown: () => true }
    const { steps } = await plan(world, [shop, weight, policy, labelled])
    expect(steps).toHaveLength(4)
  })

  it('where a label or a selector names a Definition of the Domain by its whole key', async () => {
    const labelled = group({ labels: { [`domain:${DOMAIN}/env`]: 'prod', 'domain:acme/env': 'prod' } })
    const { steps } = await plan(worldOf(), [ENV, labelled, policyOf({ selector: 'domain:acme/env=prod' })])
    expect(steps).toHaveLength(3)
  })
})
