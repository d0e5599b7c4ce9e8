import { describe, expect, it } from 'vitest'
import type { CliOptions, CliResult } from '../../../../support/cli/cli-run.ts'
import { refused } from '../../../../support/cli/stub-server.ts'
import { useStubbedCli } from '../../../../support/cli/stubbed-cli.ts'
import { catalogueFleet, type CatalogueFleet } from '../../../../support/fleet/catalogue-fleet.ts'

const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
const run = (flags: string, fleet: CatalogueFleet, options?: CliOptions): Promise<CliResult> =>
  cli.run(`clouds upgrade --bundle hetzner-base ${flags}`.trim(), fleet.routes, options)

const moved = (fleet: CatalogueFleet): readonly string[] => fleet.patches.map(([slug]) => slug)
const outcomes = ({ stdout }: CliResult): Readonly<Record<string, string>> => {
  const { clouds } = JSON.parse(stdout) as { readonly clouds: readonly { slug: string; outcome: string }[] }
  return Object.fromEntries(clouds.map(({ slug, outcome }) => [slug, outcome]))
}
const person = (...answers: readonly (boolean | undefined)[]): CliOptions => ({ isTty: true, answers })

const REFUSED = refused(403, 'permission_denied', 'The caller lacks the relation.')
const MOVED = refused(409, 'provider_bundle_reference_moved', 'Somebody else changed it.')

describe('The plan of an upgrade', () => {
  it('has the Clouds behind the version, by slug, and changes nothing with --dry-run', async () => {
    const fleet = catalogueFleet()
    const { exitCode, stdout, stderr } = await run('--dry-run --columns slug,from,to', fleet)
    expect(exitCode).toBe(10)
    expect(stdout).toBe('SLUG\tFROM\tTO\neu1\t3\t4\neu2\t2\t4\neu4\t1\t4\n')
    expect(stderr).toBe(
      'Would move 3 Clouds to version 4 of hetzner-base. 1 other at that version or a newer one.\nNothing was changed.\n',
    )
    expect(fleet.patches).toEqual([])
  })

  it('leaves out Clouds that are at the version or beyond it', async () => {
    const { stdout } = await run('--to 2 --dry-run --columns slug,from,to', catalogueFleet())
    expect(stdout).toBe('SLUG\tFROM\tTO\neu4\t1\t2\n')
  })

  it('is empty where no Cloud is behind, exit 0', async () => {
    const { exitCode, stderr } = await run('--to 1 --yes', catalogueFleet())
    expect([exitCode, stderr]).toEqual([0, 'No Cloud of hetzner-base is behind version 1; nothing was changed.\n'])
  })

  it('is made of the Clouds that one sees where the roster is refused, and says so', async () => {
    const { stdout, stderr } = await run(
      '--dry-run --columns slug',
      catalogueFleet((fleet) => void (fleet.bundle('hetzner-base').isForeign = true)),
    )
    expect(stdout).toBe('SLUG\neu1\neu2\neu4\n')
    expect(stderr).toContain(
      'Only Clouds that you may see are looked at: the roster of hetzner-base needs manage on the bundle.\n',
    )
  })

  it.each([
    ['--to 9 --yes', 'bundle hetzner-base has no version 9; its newest is 4'],
    ['--to 0 --yes', '--to must be at least 1'],
    ['--batch 0 --yes', '--batch must be at least 1'],
    ['--pause --yes', '--pause asks between batches, and there is nobody to ask\nLeave --pause out'],
    ['', '"ctl clouds upgrade" asks for confirmation, and there is nobody to ask\nAdd --yes'],
  ])('is refused with "%s"', async (flags, said) => {
    const fleet = catalogueFleet()
    const { exitCode, stderr } = await run(flags, fleet)
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`error: ${said}`)
    expect(fleet.patches).toEqual([])
  })

  it('needs a bundle', async () => {
    const { exitCode, stderr } = await cli.run('clouds upgrade --yes', catalogueFleet().routes)
    expect([exitCode, stderr]).toEqual([
      2,
      'error: --bundle is missing\nAdd --bundle BUNDLE\nSee: ctl clouds upgrade --help\n',
    ])
  })
})

describe('An upgrade', () => {
  it('shows the plan and asks, then moves Cloud after Cloud', async () => {
    const fleet = catalogueFleet()
    const { exitCode, stderr, questions } = await run('', fleet, person(true))
    expect([exitCode, questions]).toEqual([0, ['Move 3 Clouds to version 4 of hetzner-base?']])
    expect(stderr).toContain('SLUG  FROM')
    expect(fleet.patches).toEqual([
      ['eu1', { provider_bundle_version: 4 }],
      ['eu2', { provider_bundle_version: 4 }],
      ['eu4', { provider_bundle_version: 4 }],
    ])
  })

  it('changes nothing without a yes', async () => {
    const fleet = catalogueFleet()
    expect((await run('', fleet, person(false))).exitCode).toBe(130)
    expect(fleet.patches).toEqual([])
  })

  it('says after each batch what moved', async () => {
    const { stderr } = await run('--batch 2 --yes', catalogueFleet())
    expect(stderr).toBe(
      'Batch 1 of 2: eu1 3 -> 4, eu2 2 -> 4.\nBatch 2 of 2: eu4 1 -> 4.\nMoved 3 of 3 Clouds to version 4 of hetzner-base.\n',
    )
  })

  it('has nothing to do when it is run again', async () => {
    const fleet = catalogueFleet()
    await run('--yes', fleet)
    expect((await run('--yes', fleet)).exitCode).toBe(0)
    expect(moved(fleet)).toEqual(['eu1', 'eu2', 'eu4'])
  })
})

describe('An upgrade with pauses', () => {
  it('asks between batches, not after the last one', async () => {
    const fleet = catalogueFleet()
    const { exitCode, questions } = await run('--batch 2 --pause --yes', fleet, person(true))
    expect([exitCode, questions]).toEqual([0, ['Go on with eu4?']])
  })

  it('moves one Cloud at a time where no size is given', async () => {
    const { questions } = await run('--pause', catalogueFleet(), person(true, true, true))
    expect(questions.slice(1)).toEqual(['Go on with eu2?', 'Go on with eu4?'])
  })

  it.each([
    [false, 10],
    [undefined, 130],
  ])('stops after the answer %s, exit %i, and goes on when it is run again', async (answer, code) => {
    const fleet = catalogueFleet()
    const { exitCode, stderr } = await run('--batch 2 --pause --yes', fleet, person(answer))
    expect(exitCode).toBe(code)
    expect(stderr).toContain('Not done: eu4.\nGo on with: ctl clouds upgrade --bundle hetzner-base --to 4\n')
    expect((await run('--to 4 --yes', fleet)).exitCode).toBe(0)
    expect(moved(fleet)).toEqual(['eu1', 'eu2', 'eu4'])
  })
})

describe('A Cloud of an upgrade', () => {
  it.each([
    ['another version', (fleet: CatalogueFleet) => void (fleet.cloud('eu1').version = 1)],
    ['another bundle', (fleet: CatalogueFleet) => void (fleet.cloud('eu1').bundle = fleet.bundle('aws-base'))],
    ['no bundle', (fleet: CatalogueFleet) => void (fleet.cloud('eu1').bundle = undefined)],
  ])('that was given %s meanwhile is left alone', async (_, change) => {
    const fleet = catalogueFleet((one) => void (one.cloud('eu1').onRead = () => change(one)))
    const result = await run('--yes -o json', fleet)
    expect(result.exitCode).toBe(10)
    expect(outcomes(result)).toEqual({ eu1: 'moved_meanwhile', eu2: 'promoted', eu4: 'promoted' })
    expect(moved(fleet)).toEqual(['eu2', 'eu4'])
  })

  it('that moves between the read and the change is reported, and the run goes on', async () => {
    const result = await run(
      '--yes -o json',
      catalogueFleet((fleet) => void (fleet.cloud('eu2').refusal = MOVED)),
    )
    expect(result.exitCode).toBe(10)
    expect(outcomes(result)).toEqual({ eu1: 'promoted', eu2: 'moved_meanwhile', eu4: 'promoted' })
    expect(result.stderr).toContain('warning: changed by somebody else meanwhile, and left alone: eu2\n')
  })

  it('that is refused is reported with its code, and the run goes on', async () => {
    const result = await run(
      '--yes -o json',
      catalogueFleet((fleet) => void (fleet.cloud('eu1').refusal = REFUSED)),
    )
    expect(result.exitCode).toBe(10)
    expect(JSON.parse(result.stdout).clouds[0]).toMatchObject({
      slug: 'eu1',
      outcome: 'failed',
      code: 'permission_denied',
    })
    expect(outcomes(result)).toMatchObject({ eu2: 'promoted', eu4: 'promoted' })
  })

  it.each([
    [401, 'unauthenticated', 4],
    [503, 'authz_unavailable', 8],
  ])('that is refused with %i ends the run after the report', async (status, code, exit) => {
    const refusal = refused(status, code, 'Not now.')
    const fleet = catalogueFleet((one) => void (one.cloud('eu2').refusal = refusal))
    const result = await run('--yes -o json', fleet)
    expect(result.exitCode).toBe(exit)
    expect(outcomes(result)).toEqual({ eu1: 'promoted', eu2: 'failed', eu4: 'not_done' })
    expect(moved(fleet)).toEqual(['eu1', 'eu2'])
  })

  it('that gave no answer is not called done or undone', async () => {
    const fleet = catalogueFleet((one) => void (one.cloud('eu2').refusal = { hangUp: true }))
    const result = await run('--yes -o json', fleet)
    expect(result.exitCode).toBe(8)
    expect(outcomes(result)).toEqual({ eu1: 'promoted', eu2: 'unknown', eu4: 'not_done' })
    expect(result.stderr).toContain('warning: no answer came, so check it: ctl clouds show eu2\n')
  })
})

describe('Ctrl-C', () => {
  it('lets the Cloud that is moving finish, and says what was and was not done', async () => {
    const ctrlC = new AbortController()
    const fleet = catalogueFleet()
    const { routes } = fleet
    const path = `PATCH /v1/clouds/${fleet.cloud('eu2').id}`
    const patch = routes[path]
    if (typeof patch !== 'function') throw new Error('the fleet patches no Cloud')
    const interrupting: typeof patch = (request) => {
      ctrlC.abort()
      return patch(request)
    }
    const line = 'clouds upgrade --bundle hetzner-base --yes -o json'
    const result = await cli.run(line, { ...routes, [path]: interrupting }, { interrupted: ctrlC.signal })
    expect(result.exitCode).toBe(130)
    expect(outcomes(result)).toEqual({ eu1: 'promoted', eu2: 'promoted', eu4: 'not_done' })
    expect(result.stderr).toContain('Not done: eu4.\n')
  })
})
