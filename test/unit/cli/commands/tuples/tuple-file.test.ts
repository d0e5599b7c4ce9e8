import { describe, expect, it } from 'vitest'
import { readTuples } from '../../../../../src/cli/commands/tuples/tuple-file.ts'
import { TUPLE_FORMS, writerOf } from '../../../../../src/cli/commands/tuples/tuple-writer.ts'

const WEB = '019c1a10-0000-7000-8000-0000000a0001'
const ANN = '019c1a10-0000-7000-8000-0000000e0001'
const OPS = '019c1a10-0000-7000-8000-0000000c0001'

const VIEWER = { subject: `user:${ANN}`, relation: 'viewer', resource: `project:${WEB}` }
const DEPLOYERS = {
  subject: `group:${OPS}#member`,
  relation: 'deployer',
  resource: `project:${WEB}`,
  caveat_context: { caveat_name: 'within_hours' },
}
const MAINTAINER = { subject: `serviceaccount:${ANN}`, relation: 'maintainer', resource: `resource:${WEB}` }

const tuplesIn = async (text: string) => (await readTuples(text)).rows.map(({ tuple }) => tuple)
const faultsIn = async (text: string) =>
  (await readTuples(text)).faults.map(({ line, message }) => `${line} ${message}`)

describe('A file of tuples', () => {
  it('is read as JSON lines, empty lines passed over', async () => {
    const text = `${JSON.stringify(VIEWER)}\n\n${JSON.stringify(DEPLOYERS)}\n`
    expect((await readTuples(text)).rows).toEqual([
      { line: 1, tuple: VIEWER },
      { line: 3, tuple: DEPLOYERS },
    ])
  })

  it('is read as a YAML list with the line of each item', async () => {
    const text = `# who works on web\n- subject: ${VIEWER.subject}\n  relation: viewer\n  resource: ${VIEWER.resource}\n- {subject: "${DEPLOYERS.subject}", relation: deployer, resource: "project:${WEB}", caveat_context: {caveat_name: within_hours}}\n`
    expect((await readTuples(text)).rows).toEqual([
      { line: 2, tuple: VIEWER },
      { line: 5, tuple: DEPLOYERS },
    ])
  })

  it('is read as relationships, comments passed over, with names of the schema or of the API', async () => {
    const text = `// who works on web
project:${WEB}#viewer@user:${ANN}
project:${WEB}#deployer@group:${OPS}#member[within_hours]

resource:${WEB}#maintainer_role@serviceaccount:${ANN}
resource:${WEB}#maintainer@user:${ANN}#...
`
    expect((await readTuples(text)).rows).toEqual([
      { line: 2, tuple: VIEWER },
      { line: 3, tuple: DEPLOYERS },
      { line: 5, tuple: MAINTAINER },
      { line: 6, tuple: { ...MAINTAINER, subject: `user:${ANN}` } },
    ])
  })

  it.each([
    [
      'a page as JSON',
      JSON.stringify({ items: [{ ...VIEWER, id: OPS, created_at: '2026-01-01T00:00:00Z' }] }, null, 2),
    ],
    [
      'a page as YAML',
      `items:\n  - subject: ${VIEWER.subject}\n    relation: viewer\n    resource: ${VIEWER.resource}\n`,
    ],
    ['a JSON array', JSON.stringify([VIEWER])],
    ['one tuple as JSON', JSON.stringify(VIEWER, null, 2)],
    ['one tuple as YAML', `subject: ${VIEWER.subject}\nrelation: viewer\nresource: ${VIEWER.resource}\n`],
    ['lines that end as on Windows', `${JSON.stringify(VIEWER)}\r\n`],
  ])('may be what a list prints: %s', async (_, text) => {
    expect(await tuplesIn(text)).toEqual([VIEWER])
  })

  it('may name subjects and objects as the command line does', async () => {
    expect(
      await tuplesIn('project:web#viewer@user:Ann Lee\nproject:web#viewer@group:ops\nproject:web#admin@service:build'),
    ).toEqual([
      { subject: 'user:Ann Lee', relation: 'viewer', resource: 'project:web' },
      { subject: 'group:ops#member', relation: 'viewer', resource: 'project:web' },
      { subject: 'serviceaccount:build', relation: 'admin', resource: 'project:web' },
    ])
  })

  it.each([
    ['', []],
    ['\n# nothing\n', []],
  ])('that says nothing has no rows: %j', async (text, rows) => {
    expect(await readTuples(text)).toEqual({ rows, faults: [] })
  })
})

const line = (tuple: object): string => JSON.stringify({ ...VIEWER, ...tuple })

describe('A row that could not be written', () => {
  it.each([
    [line({ relation: 'boss' }), 'relation "boss" names something that the schema does not have'],
    [line({ subject: 'ann' }), 'subject "ann" is not a reference of the documented form'],
    [line({ subject: `robot:${ANN}` }), `subject "robot:${ANN}" names something that the schema does not have`],
    [line({ subject: 'user:*', relation: 'admin' }), 'subject "user:*" is not allowed in this relation'],
    [line({ resource: 'project:*' }), 'resource "project:*" is not a reference of the documented form'],
    [
      line({ relation: 'domain', subject: `domain:${OPS}` }),
      'relation "domain" is a parent edge, which only the service writes',
    ],
    [
      line({ caveat_context: { caveat_name: 'moonlight' } }),
      'caveat "moonlight" names something that the schema does not have',
    ],
    [line({ caveat_context: [] }), 'has a caveat_context that is no object'],
    [line({ caveat_context: { caveat_name: 3 } }), 'has a caveat_name that is no text'],
    [line({ until: 'friday' }), 'has until, which no tuple has'],
    ['{"subject":"user:x","resource":"project:y"}', 'lacks relation'],
    ['- 3', 'is no object with subject, relation and resource'],
    [
      `project:${WEB}#viewer@user:${ANN}[within_hours:{"now":1}]`,
      'gives its caveat now; the values come from the server',
    ],
    [`project:${WEB}#viewer@user:${ANN}[expiration:2027-01-01T00:00:00Z]`, 'expires, and tuples of this server do not'],
    [`project:${WEB}#viewer@user:${ANN}[within`, 'is no relationship such as project:ID#viewer@user:ID'],
    ['hello', 'is neither JSON lines, nor a YAML list, nor a relationship such as project:ID#viewer@user:ID'],
    ['- a: [', 'Flow sequence in block collection must be sufficiently indented and end with a ]'],
  ])('is a fault with its line: %s', async (text, message) => {
    expect(await faultsIn(text)).toEqual([`1 ${message}`])
  })

  it('stands with the others, in the order of lines, and a tuple twice is one of them', async () => {
    const text = [line({}), '{', line({ relation: 'boss' }), line({})].join('\n')
    expect(await faultsIn(text)).toEqual([
      '2 is not JSON',
      '3 relation "boss" names something that the schema does not have',
      '4 is the tuple of line 1 again',
    ])
  })

  it('is one whose YAML aliases grow without bound', async () => {
    const bomb = [
      '- &a [x,x,x,x,x,x,x,x,x]',
      ...['b', 'c', 'd', 'e'].map((to, at) => `- &${to} [${Array(9).fill(`*${'abcd'[at]}`).join(',')}]`),
    ]
    expect((await readTuples(bomb.join('\n'))).rows).toEqual([])
  })
})

describe('What is written', () => {
  it.each(TUPLE_FORMS)('is read again as it was: %s', async (form) => {
    const write = await writerOf(form)
    const fields = { ...DEPLOYERS, caveat_context: { caveat_name: 'within_hours', now: null }, relation: 'viewer' }
    const text = write([VIEWER, DEPLOYERS]) + write([]) + write([MAINTAINER, fields])
    expect(await tuplesIn(text)).toEqual([VIEWER, DEPLOYERS, MAINTAINER, fields])
  })

  it("has the schema's names as relationships, and the fields of a caveat with null", async () => {
    const fields = { ...MAINTAINER, caveat_context: { caveat_name: 'within_hours', now: true } }
    const write = await writerOf('relationships')
    expect(write([fields])).toBe(`resource:${WEB}#maintainer_role@serviceaccount:${ANN}[within_hours:{"now":null}]\n`)
  })
})
