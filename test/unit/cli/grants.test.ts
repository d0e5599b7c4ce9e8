import { describe, expect, it } from 'vitest'
import type { SeenRequest, StubRoutes } from '../../support/cli/stub-server.ts'
import { useStubbedCli } from '../../support/cli/stubbed-cli.ts'

const OWN = '019c1a10-0000-7000-8000-0000000d0001'
const ACME = '019c1a10-0000-7000-8000-0000000d0002'
const WEB = '019c1a10-0000-7000-8000-0000000a0001'
const ALICE = '019c1a10-0000-7000-8000-0000000e0001'
const ALICE_OF_ACME = '019c1a10-0000-7000-8000-0000000e0002'
const GRANT = '019c1a10-0000-7000-8000-0000000f0001'

const page = (items: readonly unknown[]) => ({ body: { items, next_cursor: null } })
const user = (id: string) => ({ id, kind: 'user', login: 'alice', display_name: 'Alice' })
const grant = (subject: string) => ({
  id: GRANT,
  subject,
  relation: 'operator',
  resource: `domain:${ACME}`,
  created_at: '2026-01-30T12:00:00.000Z',
})

/** Two Domains, each with its own alice. */
const ROUTES: StubRoutes = {
  'GET /v1/auth/whoami': { body: { subject: `user:${ALICE}`, kind: 'user', domain_id: OWN, credential: {} } },
  'GET /v1/domains': page([
    { id: OWN, slug: 'own', display_name: 'Own' },
    { id: ACME, slug: 'acme', display_name: 'Acme' },
  ]),
  [`GET /v1/domains/${OWN}/identities`]: page([user(ALICE)]),
  [`GET /v1/domains/${ACME}/identities`]: page([user(ALICE_OF_ACME)]),
  [`GET /v1/domains/${OWN}/projects`]: page([{ id: WEB, slug: 'web', display_name: 'Web' }]),
  [`GET /v1/domains/${OWN}/grants`]: page([]),
  [`GET /v1/domains/${ACME}/grants`]: page([grant(`user:${ALICE_OF_ACME}`)]),
  [`POST /v1/domains/${OWN}/grants`]: { status: 201, body: grant(`user:${ALICE}`) },
  [`POST /v1/domains/${ACME}/grants`]: { status: 201, body: grant(`user:${ALICE_OF_ACME}`) },
  [`DELETE /v1/domains/${ACME}/grants/${GRANT}`]: { status: 204 },
  'POST /v1/platform/grants': { status: 201, body: { ...grant(`user:${ALICE_OF_ACME}`), resource: 'platform:main' } },
}

describe('ctl grants', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
  const changes = (): readonly SeenRequest[] => (cli.stub?.seen ?? []).filter(({ method }) => method !== 'GET')

  it.each(['grants create user:alice operator --project web', 'grants list --project web'])(
    'refuses --project without an object, which would mean the whole Domain: %s',
    async (line) => {
      const { exitCode, stderr } = await cli.run(line, ROUTES)
      expect([exitCode, cli.stub?.seen]).toEqual([2, []])
      expect(stderr).toContain('error: --project says only where names are looked up\n')
      expect(stderr).toContain(`Write it as: ctl ${line.replace(' --project web', '')} project:web\n`)
    },
  )

  it.each([
    'grants create user:alice operator domain:acme --domain own',
    'grants list domain:acme --domain own',
    'grants delete user:alice operator domain:acme --domain own --yes',
  ])('refuses a --domain that is not the object: %s', async (line) => {
    const { exitCode, stderr } = await cli.run(line, ROUTES)
    expect([exitCode, changes()]).toEqual([2, []])
    expect(stderr).toContain('error: domain:acme is not in the Domain of --domain own\n')
  })

  it('takes a --domain that names the object, and one that says where the subject of a platform role is', async () => {
    expect((await cli.run('grants list domain:acme --domain acme', ROUTES)).exitCode).toBe(0)
    expect((await cli.run('grants create user:alice admin platform --domain acme', ROUTES)).exitCode).toBe(0)
    expect(changes()[0]?.body).toEqual({ subject: `user:${ALICE_OF_ACME}`, relation: 'admin' })
  })

  it('deletes what it created: the subject is looked up in the Domain of the object', async () => {
    expect((await cli.run('grants create user:alice operator domain:acme', ROUTES)).exitCode).toBe(0)
    expect(changes()[0]?.body).toEqual({ subject: `user:${ALICE_OF_ACME}`, relation: 'operator' })
    const { exitCode, stderr } = await cli.run('grants delete user:alice operator domain:acme --yes', ROUTES)
    expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('error')])
    expect(changes().map(({ path }) => path)).toEqual([`/v1/domains/${ACME}/grants/${GRANT}`])
  })

  it('asks with subject, role and object before it deletes', async () => {
    const { questions, exitCode } = await cli.run('grants delete user:alice operator domain:acme', ROUTES, {
      isTty: true,
      answers: [false],
    })
    expect([exitCode, changes()]).toEqual([130, []])
    expect(questions).toEqual([expect.stringMatching(/: user:alice operator domain:acme\?$/)])
  })

  it('names the part that is missing', async () => {
    const { exitCode, stderr } = await cli.run('grants delete user:alice operator', ROUTES)
    expect([exitCode, stderr.split('\n')[0]]).toEqual([2, 'error: <object> is missing'])
  })
})
