import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CALM, capacityFleet, FULL } from '../../../../golden/capacity-fleet.ts'
import { ID } from '../../../../golden/fleet.ts'
import type { CliOptions } from '../../../../support/cli/cli-run.ts'
import { refused, type StubAnswer, type StubRoutes } from '../../../../support/cli/stub-server.ts'
import { useStubbedCli } from '../../../../support/cli/stubbed-cli.ts'
import { waitingClock } from '../../../../support/fleet/rotating-fleet.ts'

const SAMPLE = `GET /v1/domains/${ID.domain}/capacity`
const LAB = `GET /v1/domains/${ID.lab}/capacity`
const TARGETS = `PUT /v1/domains/${ID.domain}/capacity/targets`

const routes = (more: StubRoutes = {}): StubRoutes => ({ ...capacityFleet().routes, [LAB]: { body: CALM }, ...more })

const unsampled = (retryAfter: string): StubAnswer => {
  const answer = refused(503, 'capacity_not_sampled', 'No sample yet.')
  return { ...answer, headers: { ...answer.headers, 'retry-after': retryAfter } }
}
const denied = refused(403, 'permission_denied', 'You lack a relation that this needs.')
const away = refused(503, 'datastore_unavailable', 'The datastore is not available.')

/** Interrupts after so many pauses. */
function interruptedAfter(pauses: number): CliOptions {
  const interrupt = new AbortController()
  const clock = waitingClock()
  let slept = 0
  return {
    ...clock,
    interrupted: interrupt.signal,
    async sleep(ms) {
      slept += 1
      if (slept >= pauses) interrupt.abort()
      await clock.sleep?.(ms)
    },
  }
}

describe('ctl capacity show', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
  const show = (line = '', more: StubRoutes = {}, options: CliOptions = {}) =>
    cli.run(`capacity show ${line}`, routes(more), options)

  it('exits 10 where something is over its threshold, and 0 otherwise', async () => {
    expect((await show('default')).exitCode).toBe(10)
    expect((await show('lab')).exitCode).toBe(0)
    expect((await show('lab default')).exitCode).toBe(10)
  })

  it('asks about the Domain of the context where none is named', async () => {
    const { stdout } = await show('-o json', {}, { env: { CTL_DOMAIN: 'lab' } })
    expect(JSON.parse(stdout)).toEqual(CALM)
  })

  it('answers the shape of the API: one Domain as it is, several as a list', async () => {
    expect(JSON.parse((await show('default -o json')).stdout)).toEqual(FULL)
    expect(JSON.parse((await show('default lab -o json')).stdout)).toEqual([FULL, CALM])
    expect(JSON.parse((await show('-o json')).stdout)).toEqual([FULL, CALM])
    expect(
      (await show('-o jsonl')).stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([FULL, CALM])
  })

  it('leaves out Domains that may not be read where none is named, and reports them where they are', async () => {
    const all = await show('-o json', { [LAB]: denied })
    expect([JSON.parse(all.stdout), all.stderr.includes('lab')]).toEqual([[FULL], false])
    const named = await show('default lab -o jsonl', { [LAB]: denied, [SAMPLE]: { body: CALM } })
    expect([named.exitCode, named.stdout.trimEnd().split('\n').length]).toEqual([5, 1])
    expect(named.stderr).toContain('lab')
  })

  it('is denied where no Domain may be read', async () => {
    const { exitCode, stdout } = await show('', { [LAB]: denied, [SAMPLE]: denied })
    expect([exitCode, stdout]).toEqual([5, ''])
  })

  it('asks about 40 Domains, and no more than eight at a time', async () => {
    const ids = Array.from({ length: 40 }, (_, at) => `019c1a10-0000-7000-8000-0000000d1${String(at).padStart(3, '0')}`)
    const domains = ids.map((id, at) => ({ id, slug: `d${at}` }))
    const samples = ids.map((id) => [`GET /v1/domains/${id}/capacity`, { body: { ...CALM, domain_id: id } }] as const)
    const { stdout } = await show("--jq 'length'", {
      'GET /v1/domains': { body: { items: domains, next_cursor: null } },
      ...Object.fromEntries(samples),
    })
    expect(stdout).toBe('40\n')
  })

  it('waits for the first sample, says why, and gives up with 8 where that takes too long', async () => {
    const waited = await show('lab', { [LAB]: [unsampled('0'), { body: CALM }] })
    expect([waited.exitCode, waited.stderr]).toEqual([0, 'Domain lab has no sample yet; asking again in 1 s.\n'])
    const startedMs = performance.now()
    const given = await show('lab --timeout 5s', { [LAB]: unsampled('15') })
    expect(performance.now() - startedMs).toBeLessThan(4_000)
    expect([given.exitCode, given.stderr.split('\n').slice(0, 2)]).toEqual([
      8,
      ['error: capacity show: No sample yet.', 'Try again in 15 s.'],
    ])
  })

  it('reads names from stdin', async () => {
    const { stdout } = await show('- -o jsonl', {}, { stdin: 'lab\ndefault\n' })
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([CALM, FULL])
  })

  it('sorts and chooses columns as other tables do', async () => {
    const { stdout } = await show('default --sort -ratio --columns dimension --no-headers')
    expect(stdout.split('\n').slice(0, 2)).toEqual(['observability_ingest', 'nodes'])
    expect((await show('default --columns nothing')).exitCode).toBe(2)
  })

  it('prints the calls instead with --curl', async () => {
    const { stdout } = await show('default --curl')
    expect(stdout).toContain(`/v1/domains/${ID.domain}/capacity`)
    expect(cli.stub?.seen.map(({ path }) => path)).toEqual(['/v1/domains'])
  })
})

describe('ctl capacity watch', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
  const sampleAt = (second: number): StubAnswer => ({
    body: { ...CALM, sampled_at: `2026-02-01T12:00:${String(second).padStart(2, '0')}.000Z` },
  })
  const watch = (answers: readonly StubAnswer[], line: string, options: CliOptions) =>
    cli.run(`capacity watch ${line}`, routes({ [LAB]: answers }), options)

  it('writes a line of JSON for each sample and none for looks that show nothing new', async () => {
    const answers = [sampleAt(0), sampleAt(0), sampleAt(15), sampleAt(15)]
    const { exitCode, stdout, stderr } = await watch(answers, 'lab', interruptedAfter(4))
    const times = stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as typeof CALM).sampled_at)
    expect([exitCode, times, stderr]).toEqual([130, ['2026-02-01T12:00:00.000Z', '2026-02-01T12:00:15.000Z'], ''])
  })

  it('redraws in place on a terminal', async () => {
    const answers = [sampleAt(0), sampleAt(15)]
    const { stdout } = await watch(answers, 'lab', { ...interruptedAfter(2), isTty: true })
    expect(stdout.split('\u001b[7A\u001b[0J').map((picture) => picture.split('\n')[0])).toEqual([
      'lab, sampled now',
      'lab, sampled 1s ago',
    ])
  })

  it.each([true, false])('says once that the server is away, and goes on (terminal: %s)', async (isTty) => {
    const answers = [sampleAt(0), away, away, away, away, away, away, away, away, away, away, sampleAt(45)]
    const options = { ...interruptedAfter(4), isTty, env: { CTL_TIMEOUT: '30s' } }
    const { exitCode, stdout, stderr } = await watch(answers, 'lab', options)
    const said = `${stdout}${stderr}`.split(
      'the server could not be asked (The datastore is not available.); trying on',
    )
    expect([exitCode, said.length - 1]).toEqual([130, 1])
  })

  it('fails where the first look does', async () => {
    const { exitCode, stderr } = await watch([unsampled('15')], 'lab --timeout 5s', interruptedAfter(9))
    expect([exitCode, stderr.split('\n')[0]]).toEqual([8, 'error: capacity watch: No sample yet.'])
  })

  it('is no table', async () => {
    const { exitCode, stderr } = await watch([sampleAt(0)], 'lab --columns used', interruptedAfter(1))
    expect([exitCode, stderr.split('\n')[0]]).toEqual([2, 'error: gauges that are watched are no table'])
  })
})

describe('ctl capacity history', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
  const HISTORY = `/v1/domains/${ID.domain}/capacity/history`
  const history = (line: string, options: CliOptions = {}) => cli.run(`capacity history ${line}`, routes(), options)

  it('takes how long ago, or an instant', async () => {
    const since = async (text: string): Promise<string | null | undefined> => {
      await history(`default --dimension nodes --since ${text} -o json`)
      return cli.stub?.seen.find(({ path }) => path === HISTORY)?.query.get('since')
    }
    expect(await since('30d')).toBe('2026-01-02T12:00:00.000Z')
    expect(await since('12h')).toBe('2026-02-01T00:00:00.000Z')
    expect(await since('2026-01-31T08:30:00Z')).toBe('2026-01-31T08:30:00Z')
  })

  it('is about the Domain of the context, else the own one, where none is named', async () => {
    await history('--dimension nodes -o json', { env: { CTL_DOMAIN: 'default' } })
    expect(cli.stub?.seen.map(({ path }) => path)).toContain(HISTORY)
    await history('--dimension nodes -o json')
    expect(cli.stub?.seen.map(({ path }) => path)).toEqual(['/v1/auth/whoami', HISTORY])
  })

  it('writes a picture into a file, and says which one', async () => {
    const path = join(cli.home.home, 'nodes.svg')
    const { exitCode, stdout, stderr } = await history(`default --dimension nodes --svg ${path}`)
    expect([exitCode, stdout, stderr]).toEqual([0, '', `Wrote ${path}.\n`])
    expect(readFileSync(path, 'utf8')).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"[^]*<\/svg>\n$/)
  })

  it('refuses a file that cannot be written, and leaves none where there is nothing to draw', async () => {
    const { exitCode, stderr } = await history('default --dimension nodes --svg /missing/nodes.svg')
    expect([exitCode, stderr]).toEqual([2, 'error: --svg /missing/nodes.svg cannot be written (ENOENT)\n'])
    const path = join(cli.home.home, 'none.svg')
    expect((await history(`default --dimension sse_fanout --svg ${path}`)).exitCode).toBe(10)
    expect(existsSync(path)).toBe(false)
  })

  it('draws with ASCII on a terminal of another locale', async () => {
    const options = { isTty: true, env: { LC_ALL: 'C' } }
    const { stdout } = await history('default --dimension nodes', options)
    expect(stdout).toMatch(/^[\n -~]+$/)
    expect(stdout).toContain('#')
  })
})

describe('ctl capacity targets set', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
  const set = (line: string, more: StubRoutes = {}, options: CliOptions = {}) =>
    cli.run(`capacity targets set ${line}`, routes(more), options)
  const bodies = (): readonly unknown[] =>
    cli.stub?.seen.flatMap(({ method, body }) => (method === 'PUT' ? [body] : [])) ?? []

  it('sends what was named and nothing else', async () => {
    await set('default --nodes 20000 --observability-ingest 8MiB --sse-fanout default --secret-reads 0')
    expect(bodies()).toEqual([{ nodes: 20_000, observability_ingest: 8_388_608, sse_fanout: null, secret_reads: 0 }])
  })

  it('takes a file, which flags override', async () => {
    await set('default -f - --nodes 7', {}, { stdin: 'nodes: 5\nsse_fanout: null\n' })
    expect(bodies()).toEqual([{ nodes: 7, sse_fanout: null }])
  })

  it('sends nothing where there is nothing to change, or something cannot be read', async () => {
    for (const line of ['default', 'default --nodes -1', 'default --nodes many', 'default --nodes 1e3'])
      expect([(await set(line)).exitCode, bodies()]).toEqual([2, []])
  })

  it('says what the targets were before', async () => {
    expect((await set('default --nodes 20000 --sse-fanout 1000')).stderr).toBe(
      'Domain default: nodes 10,000 → 20,000; sse_fanout stays 1,000 events/s, the default\n',
    )
  })

  it('names what is missing where it is denied', async () => {
    const { exitCode, stderr } = await set('lab --nodes 5')
    expect(exitCode).toBe(5)
    expect(stderr).toContain('platform:main')
    expect(stderr).toContain('would need manage')
  })

  it('asks before it changes a protected context, and nobody there is a mistake', async () => {
    const { url } = await cli.serve(routes({ [TARGETS]: capacityFleet().routes[TARGETS] ?? {} }))
    const run = (line: string, options: CliOptions = {}) =>
      cli.home.run(line.split(' '), { env: { CTL_DOMAIN: '' }, ...options })
    expect((await run(`contexts add prod --url ${url} --protected`)).exitCode).toBe(0)
    expect((await run('capacity targets set default --nodes 5')).exitCode).toBe(2)
    expect((await run('capacity targets set default --nodes 5', { isTty: true, answers: ['no'] })).exitCode).toBe(130)
    expect(bodies()).toEqual([])
    expect((await run('capacity targets set default --nodes 5', { isTty: true, answers: ['prod'] })).exitCode).toBe(0)
    expect(bodies()).toEqual([{ nodes: 5 }])
  })
})
