import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { StubRoutes } from '../../support/cli/stub-server.ts'
import { useStubbedCli } from '../../support/cli/stubbed-cli.ts'

const CLOUD = '019c1a10-0000-7000-8000-000000000c01'
const CREDENTIAL = '019c1a10-0000-7000-8000-000000000c02'
const PROJECT = '019c1a10-0000-7000-8000-000000000c03'
const AT = '2026-02-01T11:00:00.000Z'

const credential = {
  id: CREDENTIAL,
  cloud_id: CLOUD,
  display_name: 'production',
  state: 'active',
  expires_at: null,
  secret_version: 1,
  rotated_at: null,
  revoked_by: null,
  revoked_reason: null,
  created_at: AT,
  updated_at: AT,
}
const secret = {
  id: CREDENTIAL,
  project_id: PROJECT,
  name: 'registry',
  latest_version: 2,
  versions: [],
  users: [],
  created_at: AT,
  updated_at: AT,
}

/** Answers with what was sent, so that a test can look at it. */
const sent: unknown[] = []
const keeping =
  (body: unknown, status = 200) =>
  ({ body: given }: { readonly body: unknown }) => {
    sent.push(given)
    return { status, body }
  }

const ROUTES: StubRoutes = {
  'GET /v1/clouds': {
    body: {
      items: [
        { id: CLOUD, slug: 'eu1' },
        { id: PROJECT, slug: 'us1' },
      ],
      next_cursor: null,
    },
  },
  [`GET /v1/clouds/${CLOUD}/credentials`]: { body: { items: [credential], next_cursor: null } },
  [`GET /v1/cloud-credentials/${CREDENTIAL}`]: { body: credential },
  [`POST /v1/clouds/${CLOUD}/credentials`]: keeping(credential, 201),
  [`PATCH /v1/cloud-credentials/${CREDENTIAL}`]: keeping(credential),
  [`POST /v1/cloud-credentials/${CREDENTIAL}/rotate`]: keeping(credential),
  [`PUT /v1/projects/${PROJECT}/secrets/registry`]: keeping(secret),
}

describe('Secrets on the command line', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
  const run = (line: string, stdin?: string) => {
    sent.length = 0
    return cli.run(line, ROUTES, stdin === undefined ? {} : { stdin })
  }

  it('a value is read from a file or from stdin, without the end of its only line', async () => {
    writeFileSync(join(cli.home.home, 'token'), 'hunter2\n')
    for (const [file, stdin] of [['token'], ['-', 'hunter2\n']] as const) {
      const { exitCode, stdout, stderr } = await run(
        `secrets put registry --project ${PROJECT} --value-file ${file}`,
        stdin,
      )
      expect([exitCode, sent]).toEqual([0, [{ value: 'hunter2' }]])
      expect(stderr).toContain('Wrote version 2 of secret registry.')
      expect(stdout + stderr).not.toContain('hunter2')
    }
  })

  it.each(['secrets put registry hunter2', 'secrets put registry --value hunter2'])(
    '%s is refused: arguments are public',
    async (line) => {
      const { exitCode, stderr } = await run(`${line} --project ${PROJECT}`)
      expect([exitCode, sent]).toEqual([2, []])
      expect(stderr).not.toContain('hunter2')
    },
  )

  it('the secret of a credential is an object in JSON or YAML', async () => {
    for (const text of ['{"token":"hunter2"}', 'token: hunter2\n']) {
      const { exitCode } = await run('cloud-credentials create production --cloud eu1 --secret-file -', text)
      expect([exitCode, sent]).toEqual([0, [{ display_name: 'production', secret: { token: 'hunter2' } }]])
    }
  })

  it('a credential is found by its name in the Cloud that is named', async () => {
    expect((await run('cloud-credentials show production --cloud eu1')).exitCode).toBe(0)
    const { exitCode, stderr } = await run('cloud-credentials show production')
    expect([exitCode, stderr]).toEqual([
      2,
      'error: --cloud is missing\nAdd --cloud CLOUD, where the name is looked up, or give the whole id in place of the name\n',
    ])
    expect((await run(`cloud-credentials show ${CREDENTIAL}`)).exitCode).toBe(0)
  })

  it.each([
    ['suspend', 'suspended', 'Suspended credential production: no Project is configured with it'],
    ['resume', 'active', 'Resumed credential production'],
  ])('%s sets the state, and no more', async (verb, state, said) => {
    const { exitCode, stderr } = await run(`cloud-credentials ${verb} production --cloud eu1 --yes`)
    expect([exitCode, sent, stderr]).toEqual([0, [{ state }], expect.stringContaining(said)])
  })
})
