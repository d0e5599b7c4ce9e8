import { describe, expect, it } from 'vitest'
import type { CliOptions, CliResult } from '../../../../support/cli/cli-run.ts'
import { refused } from '../../../../support/cli/stub-server.ts'
import { useStubbedCli } from '../../../../support/cli/stubbed-cli.ts'
import { catalogueFleet, type CatalogueFleet } from '../../../../support/fleet/catalogue-fleet.ts'

const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
const run = (line: string, fleet: CatalogueFleet, options?: CliOptions): Promise<CliResult> =>
  cli.run(line, fleet.routes, options)

const EXTRA = { source: 'oci://registry.example.com/extra', version: 'v9' }

describe('ctl clouds list', () => {
  const table = async (arrange?: (fleet: CatalogueFleet) => void): Promise<CliResult> =>
    run('clouds list --columns slug,mode,bundle,version,status', catalogueFleet(arrange))

  it('shows the mode, the bundle, the pinned version, and how far that is behind', async () => {
    const { stdout, stderr } = await table()
    expect(stderr).toBe('')
    expect(stdout.split('\n')).toEqual([
      'SLUG\tMODE\tBUNDLE\tVERSION\tSTATUS',
      'eu1\tbundle\thetzner-base\t3\t1 behind',
      'eu2\tbundle\thetzner-base\t2\t2 behind',
      'eu3\tbundle\thetzner-base\t4\tup to date',
      'eu4\tbundle\thetzner-base\t1\t3 behind',
      'own1\tinline\t\t\t',
      '',
    ])
  })

  it('says unknown where the caller may not read the bundle', async () => {
    const { stdout } = await table((fleet) => void (fleet.bundle('hetzner-base').isHidden = true))
    expect(stdout).toContain('eu1\tbundle\thetzner-base\t3\tunknown\n')
  })

  it('shows Clouds, with a warning, where bundles cannot be listed', async () => {
    const { routes } = catalogueFleet()
    const limited = { ...routes, 'GET /v1/provider-bundles': refused(403, 'permission_denied', 'Out of scope.') }
    const { stdout, stderr, exitCode } = await cli.run('clouds list --columns slug,status', limited)
    expect([exitCode, stderr]).toEqual([
      0,
      'warning: latest versions are not known, because bundles cannot be listed: Out of scope.\n',
    ])
    expect(stdout).toContain('eu1\tunknown\n')
  })

  it('asks for nothing but Clouds in other formats, and has the shape of the API', async () => {
    const { stdout } = await run('clouds list -o json', catalogueFleet())
    expect(cli.stub?.seen.map(({ path }) => path)).toEqual(['/v1/clouds'])
    expect(Object.keys(JSON.parse(stdout).items[0])).not.toContain('status')
  })

  it('asks for no bundles where no Cloud has one', async () => {
    const { routes } = catalogueFleet()
    await cli.run('clouds list', { ...routes, 'GET /v1/clouds': { body: { items: [], next_cursor: null } } })
    expect(cli.stub?.seen.map(({ path }) => path)).toEqual(['/v1/clouds'])
  })
})

describe('ctl bundles clouds', () => {
  it('says how far each Cloud is behind', async () => {
    const { stdout } = await run('bundles clouds hetzner-base --columns slug,version,status', catalogueFleet())
    expect(stdout.split('\n').slice(1, 3)).toEqual(['eu1\t3\t1 behind', 'eu2\t2\t2 behind'])
  })
})

describe('ctl clouds promote', () => {
  it.each([
    [
      'clouds promote eu1',
      { provider_bundle_version: 4 },
      'Moved Cloud eu1 from version 3 to version 4 of hetzner-base.',
    ],
    [
      'clouds promote eu1 --to 1',
      { provider_bundle_version: 1 },
      'Moved Cloud eu1 from version 3 to version 1 of hetzner-base.',
    ],
  ])('moves the Cloud, and says from where and to where: %s', async (line, body, said) => {
    const fleet = catalogueFleet()
    const { exitCode, stderr } = await run(line, fleet)
    expect([exitCode, stderr]).toEqual([0, `${said}\n`])
    expect(fleet.patches).toEqual([['eu1', body]])
  })

  it.each(['clouds promote eu3', 'clouds promote eu1 --to 3'])('has nothing to do in: %s', async (line) => {
    const fleet = catalogueFleet()
    const { exitCode, stderr, stdout } = await run(`${line} -o json`, fleet)
    expect(exitCode).toBe(0)
    expect(stderr).toMatch(/^Cloud eu\d is at version \d of hetzner-base already; nothing was changed\.\n$/)
    expect(JSON.parse(stdout)).toMatchObject({ provider_bundle_slug: 'hetzner-base' })
    expect(fleet.patches).toEqual([])
  })

  it.each([
    ['own1', 6, 'error: Cloud own1 has packages of its own, and no bundle\n'],
    [
      'eu1 --to 9',
      9,
      'error: clouds promote: The bundle has never published this version.\nSee what is published: ctl bundles versions BUNDLE\n',
    ],
    ['eu9', 3, 'error: there is no cloud "eu9", or you may not see it\nDid you mean eu1?\n'],
    ['', 2, 'error: <cloud> is missing\nSee: ctl clouds promote --help\n'],
  ])('is refused for %s', async (args, code, said) => {
    const { exitCode, stderr } = await run(`clouds promote ${args}`.trim(), catalogueFleet())
    expect(exitCode).toBe(code)
    expect(stderr.startsWith(said)).toBe(true)
  })

  it('needs the version to be named by who may not see the bundle', async () => {
    const hidden = (): CatalogueFleet => catalogueFleet((fleet) => void (fleet.bundle('hetzner-base').isHidden = true))
    const { exitCode, stderr } = await run('clouds promote eu1', hidden())
    expect([exitCode, stderr]).toEqual([
      5,
      'error: the newest version of hetzner-base is not known: you may not see the bundle\n' +
        'Name the version: ctl clouds promote eu1 --to VERSION\n',
    ])
    expect((await run('clouds promote eu1 --to 4', hidden())).exitCode).toBe(0)
  })

  it('that somebody else came before says what to do', async () => {
    const moved = refused(409, 'provider_bundle_reference_moved', 'Somebody else changed it.')
    const fleet = catalogueFleet((one) => void (one.cloud('eu1').refusal = moved))
    const { exitCode, stderr } = await run('clouds promote eu1', fleet)
    expect(exitCode).toBe(6)
    expect(stderr).toContain('See what the Cloud is now, then try again: ctl clouds show CLOUD\n')
  })
})

describe('ctl clouds override', () => {
  it.each([
    [
      'eu1 --package a@1 --package b@2',
      'eu1',
      [
        { source: 'a', version: '1' },
        { source: 'b', version: '2' },
      ],
      'Cloud eu1 overrides 2 packages: a@1, b@2.',
    ],
    [
      'eu2 --package a@1',
      'eu2',
      [{ source: 'a', version: '1' }],
      'Cloud eu2 overrides 1 package: a@1. Overrides that ended: oci://registry.example.com/extra@v9.',
    ],
    [
      'eu2 --package oci://registry.example.com/extra@v10',
      'eu2',
      [{ ...EXTRA, version: 'v10' }],
      'Cloud eu2 overrides 1 package: oci://registry.example.com/extra@v10.',
    ],
    [
      'eu2 --clear',
      'eu2',
      [],
      'Cloud eu2 overrides no package. Overrides that ended: oci://registry.example.com/extra@v9.',
    ],
  ])('replaces all overrides, and says which ended: %s', async (args, slug, overrides, said) => {
    const fleet = catalogueFleet()
    const { exitCode, stderr } = await run(`clouds override ${args}`, fleet)
    expect([exitCode, stderr]).toEqual([0, `${said}\n`])
    expect(fleet.patches).toEqual([[slug, { provider_package_overrides: overrides }]])
  })

  it('has nothing to clear where there is nothing', async () => {
    const fleet = catalogueFleet()
    const { exitCode, stderr } = await run('clouds override eu1 --clear', fleet)
    expect([exitCode, stderr]).toEqual([0, 'Cloud eu1 overrides no package; nothing was changed.\n'])
    expect(fleet.patches).toEqual([])
  })

  it.each([
    ['eu1', 2, 'say what to override'],
    ['eu1 --clear --package a@1', 2, 'give either --package or --clear'],
    ['eu1 --package a', 2, '--package needs SOURCE@VERSION'],
    ['own1 --clear', 6, 'Cloud own1 has packages of its own, and no bundle'],
  ])('is refused for %s', async (args, code, said) => {
    const fleet = catalogueFleet()
    const { exitCode, stderr } = await run(`clouds override ${args}`, fleet)
    expect(exitCode).toBe(code)
    expect(stderr).toContain(`error: ${said}`)
    expect(fleet.patches).toEqual([])
  })
})

describe('ctl clouds inline', () => {
  const OF_BUNDLE = { source: 'oci://registry.example.com/provider-hetzner', version: 'v1.2' }

  it('keeps the packages that the Cloud has, overrides included, and says so', async () => {
    const fleet = catalogueFleet()
    const { stderr } = await run('clouds inline eu2', fleet)
    expect(stderr).toBe(
      'Cloud eu2 left version 2 of hetzner-base and has 2 packages: oci://registry.example.com/extra@v9, ' +
        'oci://registry.example.com/provider-hetzner@v1.2. It kept its packages and API version v1beta1.\n',
    )
    expect(fleet.patches).toEqual([
      ['eu2', { provider_packages: [EXTRA, OF_BUNDLE], provider_config_api_version: 'v1beta1' }],
    ])
  })

  it.each([
    [
      'eu1 --package a@1',
      { provider_packages: [{ source: 'a', version: '1' }], provider_config_api_version: 'v1beta1' },
    ],
    [
      'eu1 --package a@1 --config-api-version v2',
      { provider_packages: [{ source: 'a', version: '1' }], provider_config_api_version: 'v2' },
    ],
    ['own1 --config-api-version v2', { provider_config_api_version: 'v2' }],
  ])('takes what is named: %s', async (args, body) => {
    const fleet = catalogueFleet()
    expect((await run(`clouds inline ${args}`, fleet)).exitCode).toBe(0)
    expect(fleet.patches.map(([, sent]) => sent)).toEqual([body])
  })

  it('has nothing to do for a Cloud with packages of its own', async () => {
    const fleet = catalogueFleet()
    const { exitCode, stderr } = await run('clouds inline own1', fleet)
    expect([exitCode, stderr]).toEqual([0, 'Cloud own1 has packages of its own already; nothing was changed.\n'])
    expect(fleet.patches).toEqual([])
  })
})

describe('ctl bundles create', () => {
  const LINE = 'bundles create new --provider hetzner --package a@1 --config-api-version v1'
  const NEW = '019c1a10-0000-7000-8000-000000b00009'
  const created = {
    id: NEW,
    slug: 'new',
    display_name: 'new',
    provider: 'hetzner',
    provider_packages: [],
    provider_config_api_version: 'v1',
    latest_version: 1,
    created_at: '2026-01-30T12:00:00.000Z',
    updated_at: '2026-01-30T12:00:00.000Z',
  }
  const early = refused(403, 'permission_denied', 'The caller lacks the relation.')
  const routes = (looks: readonly object[]) => ({
    'POST /v1/provider-bundles': { status: 201, body: created },
    [`GET /v1/provider-bundles/${NEW}`]: looks,
  })

  it('returns once its caller may read the bundle', async () => {
    const { exitCode, stderr } = await cli.run(LINE, routes([early, early, { body: created }]))
    expect([exitCode, stderr]).toEqual([0, `Created bundle new (${NEW}), version 1.\n`])
    expect(cli.stub?.seen.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET', 'GET'])
  })

  it('names the bundle after its slug, and sends what was typed', async () => {
    await cli.run(LINE, routes([{ body: created }]))
    expect(cli.stub?.seen[0]?.body).toEqual({
      slug: 'new',
      display_name: 'new',
      provider: 'hetzner',
      provider_config_api_version: 'v1',
      provider_packages: [{ source: 'a', version: '1' }],
    })
  })

  it('warns where the grants take longer than it waits, and is done all the same', async () => {
    const { exitCode, stderr } = await cli.run(LINE, routes([early]))
    expect(exitCode).toBe(0)
    expect(stderr).toContain('warning: you may not read the bundle yet, and lists leave it out')
  })
})
