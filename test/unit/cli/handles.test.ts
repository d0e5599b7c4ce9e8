import { describe, expect, it } from 'vitest'
import { pick } from '../../../src/cli/session/pick.ts'
import { refused, type SeenRequest, type StubRoutes } from '../../support/cli/stub-server.ts'
import { useStubbedCli } from '../../support/cli/stubbed-cli.ts'

const DOMAIN = '019c1a10-0000-7000-8000-0000000d0001'
const BUILD = '019c1a10-0000-7000-8000-0000000e0002'
const NODE = '019c1a10-0000-7000-8000-000000110001'
const PROJECT = '019c1a10-0000-7000-8000-0000000a0001'
const SUBJECT = 'https://ci.example#repo:acme'

const page = (items: readonly unknown[]) => ({ body: { items, next_cursor: null } })
const identity = (display_name: string, id = BUILD) => ({
  id,
  kind: 'service-identity',
  display_name,
  external_subject_pseudonym: '0'.repeat(64),
})

/** The lists of a Domain as somebody sees them who is no auditor: rows show no handles. */
const routes = (more: StubRoutes = {}, projectId: string | null = null): StubRoutes => ({
  'GET /v1/auth/whoami': { body: { subject: 'user:x', kind: 'user', domain_id: DOMAIN, credential: {} } },
  'GET /v1/domains': page([{ id: DOMAIN, slug: 'default', display_name: 'Default' }]),
  [`GET /v1/domains/${DOMAIN}/identities`]: ({ query }) => {
    if (query.get('kind') === 'user') return page([])
    const handle = query.get('handle')
    if (handle !== null) return page(handle === SUBJECT ? [identity('Build robot')] : [])
    return page([identity('Build robot')])
  },
  [`GET /v1/domains/${DOMAIN}/projects`]: page([{ id: PROJECT, slug: 'web', display_name: 'Website' }]),
  'GET /v1/nodes': page([{ id: NODE, name: '', kind: '', display_name: 'web-1', display_kind: 'vm' }]),
  [`GET /v1/nodes/${NODE}`]: {
    body: { id: NODE, name: 'web-1', domain_id: DOMAIN, project_id: projectId, labels: { zone: 'a', tier: 'web' } },
  },
  [`PATCH /v1/nodes/${NODE}`]: ({ body }) => ({ body: { id: NODE, display_name: 'web-1', ...(body as object) } }),
  ...more,
})

const granted = ({ body }: SeenRequest) => ({ status: 201, body: { id: BUILD, ...(body as object) } })
const GRANTS = `POST /v1/domains/${DOMAIN}/grants`
const TUPLES = 'POST /v1/authz/relation-tuples'

describe('What a person types', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
  const sent = (): readonly SeenRequest[] => (cli.stub?.seen ?? []).filter(({ method }) => method !== 'GET')

  it('finds a service identity by its subject although no row shows it, and says nothing of it', async () => {
    const { exitCode, stderr } = await cli.run(
      `grants create 'service:${SUBJECT}' operator domain:default`,
      routes({ [GRANTS]: granted }),
    )
    expect([exitCode, sent()[0]?.body]).toEqual([0, { subject: `serviceaccount:${BUILD}`, relation: 'operator' }])
    expect(stderr).not.toContain('display name')
  })

  it('finds it by its display name where only one has that, and says which it took', async () => {
    const { exitCode, stderr } = await cli.run(
      "grants create 'service:Build robot' operator domain:default",
      routes({ [GRANTS]: granted }),
    )
    expect(exitCode).toBe(0)
    expect(stderr).toContain(`"Build robot" is a display name: took service-identity ${BUILD}.\n`)
  })

  it('finds no service identity among users', async () => {
    const { exitCode, stderr } = await cli.run("grants create 'user:Build robot' operator domain:default", routes())
    expect([exitCode, sent()]).toEqual([3, []])
    expect(stderr).toContain('See which there are: ctl identities list --kind user')
    const service = await cli.run('grants create service:nobody operator domain:default', routes())
    expect(service.stderr).toContain('See which there are: ctl service-identities list\n')
  })

  it('takes nothing where a display name and an id fit different objects', () => {
    const rows = [identity('cafe0001'), identity('Other', 'cafe0001-0000-7000-8000-000000000001')]
    expect(() => pick('identities', 'cafe0001', rows)).toThrow(expect.objectContaining({ code: 'ambiguous_reference' }))
  })

  it('takes a slug before the same display name of another', () => {
    const rows = [
      { id: NODE, slug: 'web', display_name: 'Old' },
      { id: BUILD, slug: 'old', display_name: 'web' },
    ]
    expect(pick('projects', 'web', rows)).toMatchObject({ id: NODE })
    expect(pick('projects', 'web', rows).byDisplayName).toBeUndefined()
  })
})

describe('An identity in its own commands', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
  const shown = (): string | undefined =>
    cli.stub?.seen.map(({ path }) => path).find((path) => /\/identities\/[^/]+$/.test(path))
  const ONE = `/v1/domains/${DOMAIN}/identities/${BUILD}`
  const asAuditor = (subject: string): StubRoutes => ({
    'GET /v1/auth/whoami': { body: { subject, kind: 'service', domain_id: DOMAIN, credential: {} } },
    [`GET /v1/domains/${DOMAIN}/identities`]: ({ query }) => {
      const service = { ...identity('Foo'), handle: 'foo' }
      const user = { ...identity('Foo', NODE), kind: 'user', handle: 'foo' }
      const kind = query.get('kind')
      return page([service, user].filter((one) => kind === null || one.kind === kind))
    },
    [`GET ${ONE}`]: { body: { ...identity('Foo'), domain_id: DOMAIN, created_at: '2026-02-01T00:00:00.000Z' } },
  })

  it.each(['identities show service:foo', 'identities show me', 'service-identities show service:foo'])(
    '%s finds it',
    async (line) => {
      expect((await cli.run(line, routes(asAuditor(`serviceaccount:${BUILD}`)))).exitCode).toBe(0)
      expect(shown()).toBe(ONE)
    },
  )

  it('takes new public keys from a file', async () => {
    const answer = { ...identity('Foo'), domain_id: DOMAIN, created_at: '2026-02-01T00:00:00.000Z' }
    const at = `PATCH /v1/domains/${DOMAIN}/service-identities/${BUILD}`
    const key = { kty: 'OKP', crv: 'Ed25519', x: 'AA' }
    const line = 'service-identities update foo --jwks-file -'
    const all = routes({ ...asAuditor('user:x'), [at]: { body: answer } })
    expect((await cli.run(line, all, { stdin: JSON.stringify(key) })).exitCode).toBe(0)
    expect(cli.stub?.seen.find(({ method }) => method === 'PATCH')?.body).toEqual({ jwks: { keys: [key] } })
  })

  it('is listed with its kind where a user has the same handle', async () => {
    const { exitCode, stderr } = await cli.run('identities show foo', routes(asAuditor('user:x')))
    expect(exitCode).toBe(2)
    expect(stderr).toContain('"foo" fits 2 identities; give one of these names or a whole id')
    expect(stderr).toContain(`${BUILD}  service:foo\n`)
    expect(stderr).toContain(`${NODE}  user:foo\n`)
  })

  it('is not found as what it is not', async () => {
    const { exitCode } = await cli.run('service-identities show me', routes(asAuditor(`user:${NODE}`)))
    expect(exitCode).toBe(3)
  })

  it.each([
    ['service-identities create foo --display-name Foo', 'foo'],
    ['service-identities update foo --display-name Foo', 'foo'],
    ['service-identities disable foo --yes', 'foo'],
  ])('is shown with the handle that was typed: %s', async (line, handle) => {
    const answer = { ...identity('Foo'), domain_id: DOMAIN, created_at: '2026-02-01T00:00:00.000Z' }
    const at = `/v1/domains/${DOMAIN}/service-identities`
    const changes = { [`POST ${at}`]: { status: 201, body: answer }, [`PATCH ${at}/${BUILD}`]: { body: answer } }
    const all = routes({ ...asAuditor('user:x'), ...changes })
    expect((await cli.run(line, all)).stdout).toMatch(new RegExp(`^HANDLE\t${handle}\n`))
    expect(JSON.parse((await cli.run(`${line} -o json`, all)).stdout)).toEqual(answer)
  })

  it.each([
    ['disable foo --yes', 'serviceaccount', true],
    ['delete foo --yes', 'serviceaccount', true],
    ['enable foo', 'serviceaccount', false],
    ['disable foo --yes', 'user', false],
  ])('service-identities %s warns where it is the one that is signed in (%s: %s)', async (words, type, isOwn) => {
    const answer = { ...identity('Foo'), domain_id: DOMAIN, created_at: '2026-02-01T00:00:00.000Z' }
    const at = `/v1/domains/${DOMAIN}/service-identities/${BUILD}`
    const { exitCode, stderr } = await cli.run(
      `service-identities ${words}`,
      routes({
        ...asAuditor(`${type}:${BUILD}`),
        [`PATCH ${at}`]: { body: answer },
        [`DELETE ${at}`]: { status: 204 },
      }),
    )
    expect(exitCode).toBe(0)
    expect(stderr.includes('this is the identity that you are signed in as')).toBe(isOwn)
  })

  it('is taken by its handle before the display name of another, with a note', () => {
    const rows = [
      { ...identity('First'), handle: 'abc' },
      { ...identity('ABC', NODE), handle: 'xyz' },
    ]
    expect(pick('service-identities', 'ABC', rows)).toMatchObject({ id: BUILD, alsoNamed: rows[1] })
    expect(pick('service-identities', 'abc', rows).alsoNamed).toBeUndefined()
  })

  it('says which it took where a display name fits exactly too', async () => {
    const rows = [
      { ...identity('First'), handle: 'abc' },
      { ...identity('ABC', NODE), handle: 'xyz' },
    ]
    const { stderr } = await cli.run(
      'grants create service:ABC viewer',
      routes({
        [`GET /v1/domains/${DOMAIN}/identities`]: ({ query }) => page(query.get('handle') === null ? rows : []),
        [GRANTS]: granted,
      }),
    )
    expect(stderr).toContain(
      `"ABC" is the display name of xyz (${NODE}) too: took service-identity abc (${BUILD}), since handles come first.\n`,
    )
  })

  it('is looked for in a list that the hint names with what it needs', async () => {
    const executions = { [`GET /v1/nodes/${NODE}/executions`]: page([]) }
    const { exitCode, stderr } = await cli.run('executions show web-1 abcdef', routes(executions))
    expect(exitCode).toBe(3)
    expect(stderr).toContain(`See which there are: ctl executions list ${NODE}\n`)
  })

  it('is said to be missing from the Domain that was searched', async () => {
    const { exitCode, stderr } = await cli.run('grants create service:xyz operator domain:default', routes())
    expect(exitCode).toBe(3)
    expect(stderr).toContain('there is no service-identity "xyz" in domain default, or you may not see it')
  })
})

describe('A role on a node', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
  const sent = (): readonly SeenRequest[] => (cli.stub?.seen ?? []).filter(({ method }) => method !== 'GET')
  const line = `grants create serviceaccount:${BUILD} operator node:web-1`

  it('is a grant of the Domain where the node lies in no Project', async () => {
    expect((await cli.run(line, routes({ [GRANTS]: granted }))).exitCode).toBe(0)
    expect(sent()[0]?.body).toEqual({
      subject: `serviceaccount:${BUILD}`,
      relation: 'operator',
      resource: `node:${NODE}`,
    })
  })

  it('is a tuple of the Project where it lies in one', async () => {
    expect((await cli.run(line, routes({ [TUPLES]: granted }, PROJECT))).exitCode).toBe(0)
    expect(sent()[0]?.query.get('project_id')).toBe(PROJECT)
    expect(sent()[0]?.body).toMatchObject({ relation: 'operator', resource: `node:${NODE}` })
  })

  it('is listed by "tuples list" and "grants list" alike', async () => {
    const list = { 'GET /v1/authz/relation-tuples': page([]), 'GET /v1/projects': page([]) }
    for (const noun of ['tuples', 'grants']) {
      expect((await cli.run(`${noun} list project:web`, routes(list))).exitCode).toBe(0)
      const { query } = cli.stub?.seen.find(({ path }) => path === '/v1/authz/relation-tuples') ?? {}
      expect([query?.get('project_id'), query?.get('resource')]).toEqual([PROJECT, `project:${PROJECT}`])
    }
    expect((await cli.run('tuples list domain:default', routes(list))).exitCode).toBe(2)
  })

  it('is granted twice without a failure, said in one line', async () => {
    const taken = refused(409, 'tuple_already_exists', 'An identical tuple exists already.')
    const { exitCode, stdout, stderr } = await cli.run(line, routes({ [GRANTS]: taken }))
    expect([exitCode, stdout, stderr]).toEqual([0, '', 'Nothing to do: it is granted already.\n'])
  })
})

describe('--if-not-exists', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
  const taken = refused(409, 'slug_conflict', 'The slug is taken.')
  const create = (slug: string, flags = '--if-not-exists') =>
    cli.run(
      `projects create ${slug} --display-name X ${flags} -o json`,
      routes({
        [`POST /v1/domains/${DOMAIN}/projects`]: taken,
        [`GET /v1/projects/${PROJECT}`]: { body: { id: PROJECT, slug: 'web' } },
      }),
    )

  it('shows what has the handle and exits 0', async () => {
    const { exitCode, stdout, stderr } = await create('web')
    expect([exitCode, JSON.parse(stdout)]).toEqual([0, { id: PROJECT, slug: 'web' }])
    expect(stderr).toBe(`There is a project web already (${PROJECT}); nothing was changed.\n`)
  })

  it('stays a conflict without the flag, where nothing of that handle may be seen, and for a mere display name', async () => {
    expect((await create('web', '')).exitCode).toBe(6)
    expect((await create('api')).exitCode).toBe(6)
    const decorated = await create('website')
    expect(decorated.exitCode).toBe(6)
    expect(decorated.stderr).not.toContain('display name')
  })
})

describe('ctl nodes', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
  const sent = (): readonly SeenRequest[] => (cli.stub?.seen ?? []).filter(({ method }) => method !== 'GET')

  it.each([
    ['--label tier=edge --remove-label zone', { labels: { tier: 'edge' } }],
    ['--labels a=b', { labels: { a: 'b' } }],
    ['--project web', { project_id: PROJECT }],
    ['--no-project', { project_id: null }],
  ])('update %s sends what is meant', async (flags, body) => {
    expect((await cli.run(`nodes update web-1 ${flags}`, routes())).exitCode).toBe(0)
    expect(sent()[0]?.body).toEqual(body)
  })

  it('update says when there is no such label to remove', async () => {
    const { exitCode, stderr } = await cli.run('nodes update web-1 --remove-label zome', routes())
    expect([exitCode, sent()[0]?.body]).toEqual([0, { labels: { zone: 'a', tier: 'web' } }])
    expect(stderr).toContain('web-1 has no label "zome".\n')
  })

  it('list hints on a terminal which member has the name that is empty in it', async () => {
    const asked = await cli.run('nodes list --jq .items[].name', routes(), { isTty: true })
    expect(asked.stderr).toContain('.name is empty in lists; use .items[].display_name\n')
    const piped = await cli.run('nodes list --jq .items[].name', routes())
    expect(piped.stderr).toBe('')
    const quiet = await cli.run('nodes list -q --jq .items[].name', routes(), { isTty: true })
    expect(quiet.stderr).toBe('')
    const right = await cli.run('nodes list --jq .items[].display_name', routes(), { isTty: true })
    expect(right.stderr).toBe('')
  })
})
