import { describe, expect, it } from 'vitest'
import type { CliOptions, CliResult } from '../../../../support/cli/cli-run.ts'
import { refused } from '../../../../support/cli/stub-server.ts'
import { useStubbedCli } from '../../../../support/cli/stubbed-cli.ts'
import { LENT, LENT_ID as ID, lentCloud as cloud, page } from '../../../../support/fleet/lending-fleet.ts'

const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
const run = (line: string, options?: CliOptions, routes = LENT): Promise<CliResult> => cli.run(line, routes, options)
const sent = (): unknown => cli.stub?.seen.at(-1)?.body

describe('A credential of a Cloud', () => {
  it('is found by its name in the Cloud', async () => {
    const { exitCode, stdout } = await run('cloud-credentials show production --cloud eu1 -o name')
    expect([exitCode, stdout]).toEqual([0, 'production\n'])
  })

  it('is found without the Cloud where there is only one', async () => {
    const one = { ...LENT, 'GET /v1/clouds': page(cloud(ID.eu1, 'eu1')) }
    expect((await run('cloud-credentials show production', {}, one)).exitCode).toBe(0)
  })

  it('needs the Cloud of its name where there are several, and needs none by its id', async () => {
    const { exitCode, stderr } = await run('cloud-credentials show production')
    expect([exitCode, stderr]).toEqual([
      2,
      'error: --cloud is missing\nAdd --cloud CLOUD, where the name is looked up, or give the whole id in place of the name\n',
    ])
    expect((await run(`cloud-credentials show ${ID.production}`)).exitCode).toBe(0)
  })

  it.each([
    [
      'suspend production --cloud eu1 --yes',
      'suspended',
      'Suspended credential production: no Project is configured with it until it is resumed. Its assignments stay.',
    ],
    ['resume production --cloud eu1', 'active', 'Resumed credential production, which is active now.'],
  ])('has a verb for its state: %s', async (line, state, said) => {
    const { exitCode, stderr } = await run(`cloud-credentials ${line}`)
    expect([exitCode, stderr]).toEqual([0, `${said}\n`])
    expect(sent()).toEqual({ state })
  })

  it('is not suspended without a yes', async () => {
    const { exitCode, questions } = await run('cloud-credentials suspend production --cloud eu1', {
      isTty: true,
      answers: [false],
    })
    expect([exitCode, questions.length]).toEqual([130, 1])
    expect(cli.stub?.seen.some(({ method }) => method === 'PATCH')).toBe(false)
  })

  it('gets its secret from stdin, and a duration as its end from now', async () => {
    await run('cloud-credentials create production --cloud eu1 --secret-file - --expires-at 90d', {
      stdin: 'token: abc',
    })
    expect(sent()).toEqual({
      display_name: 'production',
      secret: { token: 'abc' },
      expires_at: '2026-05-02T12:00:00.000Z',
    })
  })
})

describe('A request', () => {
  it('of a Cloud calls it as it was typed, and says who decides', async () => {
    const { stderr } = await run('cloud-assignments request --cloud eu1')
    expect(stderr).toBe(`Requested Cloud eu1. Somebody else decides: ctl approvals approve ${ID.approval}\n`)
  })

  it.each([
    ['--cloud eu1', { cloud_id: ID.eu1 }],
    ['--cloud eu1 --credential production', { cloud_credential_id: ID.production }],
    [`--credential ${ID.production}`, { cloud_credential_id: ID.production }],
  ])('of a credential names one of both: %s', async (flags, body) => {
    expect((await run(`credentials request ${flags}`)).exitCode).toBe(0)
    expect(sent()).toEqual(body)
  })

  it('of a credential needs one of both', async () => {
    const { exitCode, stderr } = await run('credentials request')
    expect([exitCode, stderr]).toEqual([2, 'error: say what to request\nGive --cloud CLOUD, or --credential ID\n'])
  })

  it('of a credential whose Cloud is not lent says what comes first', async () => {
    const path = `POST /v1/projects/${ID.project}/credential-assignments`
    const refusal = refused(422, 'cloud_not_usable_in_project', 'The Project may not use the Cloud.')
    const { exitCode, stderr } = await run('credentials request --cloud eu1', {}, { ...LENT, [path]: refusal })
    expect(exitCode).toBe(9)
    expect(stderr).toContain('Request the Cloud first, and have it approved: ctl cloud-assignments request')
  })
})

describe('A list of what is lent', () => {
  it('calls Clouds by their slugs, and by their ids where they are not seen', async () => {
    const { stdout } = await run('cloud-assignments list --columns cloud,state')
    expect(stdout).toBe(`CLOUD\tSTATE\neu1\trequested\n${ID.domain}\trequested\n`)
  })

  it('calls credentials by their names, and by their ids where they are not seen', async () => {
    expect((await run('credentials list --columns credential')).stdout).toBe('CREDENTIAL\nproduction\n')
    const hidden = {
      ...LENT,
      [`GET /v1/cloud-credentials/${ID.production}`]: refused(404, 'cloud_credential_not_found', 'No.'),
    }
    const { stdout } = await run('credentials list --columns credential', {}, hidden)
    expect(stdout).toBe(`CREDENTIAL\n${ID.production}\n`)
  })

  it('has the shape of the API in other formats, and asks for nothing else', async () => {
    const { stdout } = await run(`credentials list --project ${ID.project} -o json`)
    expect(Object.keys(JSON.parse(stdout).items[0])).not.toContain('credential')
    expect(cli.stub?.seen).toHaveLength(1)
  })
})
