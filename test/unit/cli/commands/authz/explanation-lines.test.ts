import { describe, expect, it } from 'vitest'
import { explanationLines, missingFields, strokesFor } from '../../../../../src/cli/commands/authz/explanation-lines.ts'
import { grantingCommand, leastFirst, projectsIn } from '../../../../../src/cli/commands/authz/grant-commands.ts'
import { naming } from '../../../../../src/cli/commands/authz/naming.ts'
import type { Explanation } from '../../../../../src/cli/commands/authz/explanation.ts'
import { styleOf } from '../../../../../src/cli/output/style.ts'
import type { Io } from '../../../../../src/cli/output/io.ts'

const ID = {
  web: '019c1a10-0000-7000-8000-0000000a0001',
  acme: '019c1a10-0000-7000-8000-0000000d0001',
  ann: '019c1a10-0000-7000-8000-0000000e0001',
  ops: '019c1a10-0000-7000-8000-0000000c0001',
  vm: '019c1a10-0000-7000-8000-0000000b0001',
} as const

const NAMES = naming(
  new Map([
    [ID.web, 'web'],
    [ID.acme, 'acme'],
    [ID.ann, 'Ann Lee'],
    [ID.ops, 'ops'],
  ]),
)

const node = (kind: Explanation['kind'], more: Partial<Explanation>): Explanation => ({
  kind,
  outcome: 'denied',
  object: `project:${ID.web}`,
  name: '',
  parts: [],
  ...more,
})

const HIDDEN: Explanation = { kind: 'hidden', parts: [] }

/** `deploy = manage + deployer + domain->operate`, as nobody holds it. */
const DENIED = node('permission', {
  name: 'deploy',
  parts: [
    node('union', {
      parts: [
        node('permission', { name: 'manage', omitted: 'too_large' }),
        node('relation', { name: 'deployer' }),
        node('arrow', {
          name: 'domain->operate',
          parts: [
            node('tuple', {
              name: 'domain',
              subject: `domain:${ID.acme}`,
              parts: [node('permission', { name: 'operate', object: `domain:${ID.acme}` })],
            }),
          ],
        }),
      ],
    }),
  ],
})

const GRANTED = node('permission', {
  name: 'deploy',
  outcome: 'granted',
  parts: [
    node('relation', {
      name: 'deployer',
      outcome: 'granted',
      parts: [
        node('tuple', {
          name: 'deployer',
          outcome: 'granted',
          subject: `group:${ID.ops}#member`,
          parts: [
            node('relation', {
              name: 'member',
              outcome: 'granted',
              object: `group:${ID.ops}`,
              parts: [
                node('tuple', {
                  name: 'member',
                  outcome: 'granted',
                  object: `group:${ID.ops}`,
                  subject: `user:${ID.ann}`,
                  condition: { caveat: 'within_hours', outcome: 'granted', missing: [], is_expired: false },
                }),
              ],
            }),
          ],
        }),
      ],
    }),
  ],
})

function drawn(tree: Explanation, io: { isTty: boolean; env?: Record<string, string> }): string {
  const stdout = { isTty: io.isTty, columns: 80, rows: 24, write: () => undefined }
  const fake = { stdout, env: io.env ?? {} } as unknown as Io // The drawing reads no more of it.
  const drawing = { naming: NAMES, style: styleOf(fake, stdout, false), strokes: strokesFor(fake) }
  return explanationLines(tree, drawing).join('\n')
}

describe('The tree of a check', () => {
  it('shows each branch that failed, without operators and arrows that say nothing', () => {
    expect(drawn(DENIED, { isTty: true, env: { NO_COLOR: '1' } })).toBe(`✗ deploy on project:web
├─ ✗ manage on project:web (more is left out)
├─ ✗ deployer on project:web
└─ ✗ operate on domain:acme, its domain`)
  })

  it('shows the branch that granted, down to the tuples and what they depend on', () => {
    expect(drawn(GRANTED, { isTty: true, env: { TERM: 'dumb' } })).toBe(`✓ deploy on project:web
└─ ✓ group:ops#member is deployer of project:web
   └─ ✓ user:Ann Lee is member of group:ops, if within_hours, which holds`)
  })

  it.each(['C', 'en_US.ISO-8859-1'])('is drawn in ASCII in the locale %s', (LANG) => {
    expect(drawn(DENIED, { isTty: true, env: { NO_COLOR: '1', LANG } })).toBe(`x deploy on project:web
|- x manage on project:web (more is left out)
|- x deployer on project:web
\`- x operate on domain:acme, its domain`)
  })

  it('has lines where LC_ALL says UTF-8, whatever LANG says', () => {
    expect(drawn(DENIED, { isTty: true, env: { NO_COLOR: '1', LC_ALL: 'C.UTF-8', LANG: 'C' } })).toContain('├─')
  })

  it('is words and spaces for a program', () => {
    expect(drawn(DENIED, { isTty: false })).toBe(`denied deploy on project:web
  denied manage on project:web (more is left out)
  denied deployer on project:web
  denied operate on domain:acme, its domain`)
  })

  it('is coloured on a terminal that takes colours', () => {
    expect(drawn(node('relation', { name: 'viewer' }), { isTty: true })).toBe(
      '\u001b[31m✗\u001b[39m viewer on project:web',
    )
  })

  it.each([
    [node('intersection', {}), 'denied all of'],
    [node('exclusion', {}), 'denied the first, but none of the others'],
    [node('all', { name: 'domain->read' }), 'denied domain->read for all of them, on project:web'],
    [node('self', { object: `user:${ID.ann}` }), 'denied being user:Ann Lee itself'],
    [node('nil', {}), 'denied nobody'],
    [HIDDEN, 'hidden something that you may not see'],
    [node('hidden', { outcome: 'granted' }), 'granted something that you may not see'],
    [
      node('permission', { name: 'read', omitted: 'repeated' }),
      'denied read on project:web (shown elsewhere in the tree)',
    ],
    [
      node('permission', { name: 'read', omitted: 'cycle' }),
      'denied read on project:web (asked already on the way here)',
    ],
    [
      node('arrow', { name: 'domain->read', parts: [node('nil', {}), node('nil', {})] }),
      'denied domain->read on project:web\n  denied nobody\n  denied nobody',
    ],
    [
      node('tuple', {
        name: 'viewer',
        subject: 'user:*',
        outcome: 'conditional',
        condition: { caveat: 'from_network', outcome: 'conditional', missing: ['source_ip'], is_expired: false },
      }),
      'conditional user:* is viewer of project:web, if from_network, which needs source_ip',
    ],
    [
      node('tuple', {
        name: 'viewer',
        subject: 'user:*',
        condition: { caveat: '', outcome: 'denied', missing: [], is_expired: true },
      }),
      'denied user:* is viewer of project:web, which has expired',
    ],
    [node('relation', { name: 'viewer', object: 'project:\u001b[2J' }), 'denied viewer on project:\\u001b[2J'],
  ])('says each kind of step in words: %#', (tree, words) => {
    expect(drawn(tree, { isTty: false })).toBe(words)
  })

  it('knows which fields would have told what is conditional', () => {
    const condition = {
      caveat: 'from_network',
      outcome: 'conditional',
      missing: ['source_ip'],
      is_expired: false,
    } as const
    const tree = node('relation', { parts: [node('tuple', { condition }), node('tuple', { condition })] })
    expect([...missingFields(tree)]).toEqual([['from_network', new Set(['source_ip'])]])
  })
})

describe('The command that writes a tuple', () => {
  const project = `project:${ID.web}`
  const deps = { naming: NAMES, projectOf: (object: string) => (object === `resource:${ID.vm}` ? project : undefined) }
  it.each([
    [`user:${ID.ann}`, 'operator', `domain:${ID.acme}`, "ctl grants create 'user:Ann Lee' operator domain:acme"],
    [`user:${ID.vm}`, 'admin', 'platform:main', `ctl grants create user:${ID.vm} admin platform`],
    [`user:${ID.ann}`, 'member', `group:${ID.ops}`, "ctl groups add-member ops 'user:Ann Lee'"],
    [`group:${ID.ops}#member`, 'deployer', project, 'ctl grants create group:ops deployer project:web'],
    [
      'serviceaccount:*',
      'viewer',
      `resource:${ID.vm}`,
      `ctl grants create 'service:*' viewer resource:${ID.vm} --project web`,
    ],
    [`user:${ID.ann}`, 'viewer', `node:${ID.vm}`, `ctl grants create 'user:Ann Lee' viewer node:${ID.vm}`],
    [`user:${ID.ann}`, 'viewer', `cloud:${ID.vm}`, undefined],
    [`domain:${ID.acme}`, 'domain', project, undefined],
  ])('of %s %s %s', (subject, relation, resource, command) => {
    expect(grantingCommand({ subject, relation, resource }, deps)).toBe(command)
  })

  it('calls an object by its id where two have its name', () => {
    const twins = naming(
      new Map([
        [ID.ann, 'Ann'],
        [ID.ops, 'Ann'],
      ]),
    )
    expect(twins.typed(`user:${ID.ann}`)).toBe(`user:${ID.ann}`)
    expect(twins.shown(`user:${ID.ann}`)).toBe('user:Ann')
  })

  it('comes before those that give more: fewer tuples, nearer objects, lesser roles', () => {
    const tuple = (relation: string, resource: string) => ({ subject: 'user:ann', relation, resource })
    const both = [tuple('viewer', 'project:web'), tuple('member', 'group:ops')]
    const admin = [tuple('admin', 'project:web')]
    const deployer = [tuple('deployer', 'project:web')]
    const operator = [tuple('operator', 'domain:acme')]
    expect(leastFirst([admin, both, operator, deployer])).toEqual([deployer, admin, operator, both])
  })

  it('takes the Project of an object from the tree', () => {
    const object = `resource:${ID.vm}`
    const edge = node('tuple', { object, name: 'project', subject: project })
    const arrow = node('arrow', { object, name: 'project->read', parts: [edge] })
    expect([...projectsIn(node('permission', { object, parts: [arrow] }))]).toEqual([[object, project]])
  })
})
